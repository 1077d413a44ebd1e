/** What the routes of budgets take and return. */
import { z } from 'zod'
import { BUDGET_AMOUNT_MAX, BUDGET_PAGE_MAX, KEY_BYTES, NAME_BYTES } from '../../kernel/limits.ts'
import { by, instant, key, pageQuery, reason } from './common.ts'

/** Without a key, the use that has none. */
export const budgetKey = z.string().max(KEY_BYTES)

const onBreach = z.enum(['suspend', 'refuse_new', 'cancel', 'warn'])

const amounts = z
  .record(z.string(), z.int().min(1).max(BUDGET_AMOUNT_MAX))
  .describe("Whole numbers by dimension, such as `{ 'tokens': 5000 }`. Money is in millionths.")

const spending = z.record(z.string(), z.number()).describe('By dimension. Money is in millionths.')

export const budgetBody = z.strictObject({
  parent: z.string().min(1).max(NAME_BYTES).optional().describe('The budget above it, in which everything counts too.'),
  hard: amounts.optional(),
  soft: amounts.optional(),
  onBreach: onBreach.optional().describe('What happens to work that finds no room; `refuse_new` unless given.'),
  every: z
    .union([z.enum(['hour', 'day', 'week', 'month']), z.strictObject({ cron: z.string().max(256) })])
    .optional()
    .describe('When it begins anew. Never unless given.'),
  timeZone: z.string().max(256).optional().describe('Where its hours, days and months begin; UTC unless given.'),
  inherit: z.boolean().optional().describe('Whether children of an execution that spends it spend it too.'),
  per: z.literal('execution').optional().describe('Gives each execution an account of its own.'),
  reason: reason.optional(),
  by,
})

const changeFields = { reason: reason.optional(), by }
const requestFields = {
  key: budgetKey.optional(),
  id: key.optional().describe('Recognises a repetition, as the header `Idempotency-Key` does.'),
  ...changeFields,
}

export const changeBody = z.strictObject(changeFields).optional()
export const resetBody = z.strictObject(requestFields).optional()
export const raiseBody = z.strictObject({
  amounts: amounts.describe('What is added to the hard limits until the budget begins anew. Money is in millionths.'),
  ...requestFields,
})

export const keyPageQuery = z.strictObject({
  cursor: pageQuery.cursor,
  limit: z.int().min(1).max(BUDGET_PAGE_MAX).optional().describe('Items of a page at most; 100 unless given.'),
  key: budgetKey.optional().describe('Only this key. Empty: without a key.'),
})

export const budgetInfo = z
  .object({
    name: z.string(),
    parent: z.string().optional().describe('The budget above it.'),
    root: z.string().describe('The topmost budget of its tree.'),
    hard: spending,
    soft: spending,
    onBreach,
    every: z.string().optional().describe('When it begins anew: a word such as `day`, or a cron expression.'),
    timeZone: z.string().optional(),
    inherit: z.boolean().describe('Whether children of an execution that spends it spend it too.'),
    per: z.literal('execution').optional().describe('Set if each execution has an account of its own.'),
    resetsAt: instant.optional(),
    frozen: z
      .object({ at: instant, by: z.string().optional(), reason: z.string().optional() })
      .optional()
      .describe('Set while nothing is reserved and no new work starts.'),
    version: z.int().describe('Rises with every change.'),
    changedAt: instant,
    changedBy: z.string().optional(),
    reason: z.string().optional(),
  })
  .meta({ id: 'Budget' })

const dimensionUse = z
  .object({
    dimension: z.string(),
    spent: z.number().describe('Spent since it began anew.'),
    reserved: z.number(),
    hard: z.number().optional().describe('The hard limit, with what was raised.'),
    soft: z.number().optional(),
    left: z.number().optional().describe('What may still be reserved.'),
    total: z.number().describe('Spent in all periods.'),
    forecast: z.number().optional().describe('What will be spent when it begins anew, at the present rate.'),
  })
  .meta({ id: 'BudgetDimension' })

const keySpending = z
  .object({
    key: z.string(),
    since: instant.describe('When its present period began.'),
    dimensions: z.array(dimensionUse),
    chargeCount: z.int(),
    reservationCount: z.int(),
    breachCount: z.int().describe('How often work found no room.'),
    breachedAt: instant.optional(),
    tasks: z
      .array(z.object({ namespace: z.string(), task: z.string(), count: z.int(), spent: spending }))
      .describe('What each task has spent. Those beyond the first ones share an entry without a name.'),
  })
  .meta({ id: 'BudgetKey' })

export const budgetDescription = budgetInfo
  .extend({
    keys: z.array(keySpending).describe('The keys that were used, by name.'),
    cursor: z.string().optional().describe('Where the next page of keys starts.'),
    at: instant.describe('The clock of the store when it was read.'),
  })
  .meta({ id: 'BudgetDescription' })

export const ledgerEntry = z
  .object({
    key: z.string().describe('Identifies the report. Another one with the same key counts nothing.'),
    at: instant,
    spent: spending,
    executionId: z.string().optional(),
    task: z.string(),
    namespace: z.string(),
    attempt: z.int(),
    budgets: z.array(z.object({ budget: z.string(), key: z.string() })).describe('Where it counts.'),
  })
  .meta({ id: 'LedgerEntry' })

const sum = { count: z.int().describe('Lines of the ledger.'), spent: spending }

export const budgetCosts = z
  .object({
    total: z.object(sum),
    tasks: z.array(z.object({ namespace: z.string(), task: z.string(), ...sum })),
    days: z.array(z.object({ day: instant.describe('The first instant of a day of UTC.'), ...sum })),
    budgets: z
      .array(z.object({ budget: z.string(), key: z.string(), ...sum }))
      .describe('By every budget in which the lines count, and its key: that of a tenant or of a model, for example.'),
    examined: z.int(),
    completeSince: instant
      .optional()
      .describe('Set if older lines were not examined: all lines since then are counted.'),
    isCut: z.boolean().describe('Whether entries beyond the first 100 of a list, or keys, were left out.'),
  })
  .meta({ id: 'BudgetCosts' })

export const budgetHistory = z
  .object({
    items: z.array(ledgerEntry).describe('The latest first.'),
    cursor: z.string().optional().describe('Where the next page starts.'),
    periods: z
      .array(z.object({ since: instant, until: instant, spent: spending, hard: spending, chargeCount: z.int() }))
      .describe('The latest periods that have ended.'),
  })
  .meta({ id: 'BudgetHistory' })
