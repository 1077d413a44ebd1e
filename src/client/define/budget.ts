/**
 * Defines a budget: how much the executions that use it may spend, in tokens, money or anything else that is counted. A budget may
 * name its parent, so that what counts in one counts in all above it. Its keys are functions of the input, evaluated at the submit.
 */
import { BUDGET_AMOUNT_MAX, BUDGET_DIMENSION_MAX, BUDGET_LEVEL_MAX, BUDGET_TREE_MAX } from '../../kernel/limits.ts'
import type { Amounts, BreachPolicy, Budget } from '../../kernel/model/budget-schema.ts'
import { budgetId, rootInId } from '../../kernel/model/budget-ids.ts'
import type { LimitRef } from '../../kernel/model/records.ts'
import { boolean, oneOf, required, shape } from '../../options/shape.ts'
import {
  checkKey,
  checkList,
  checkObject,
  checkPlainText,
  checkTaskName,
  invalidInput,
  show,
  wrongValue,
} from '../checks/names.ts'
import { compareRefs } from './limit.ts'

/** How much, by dimension: `{ tokens: 1200, cost: usd(0.03) }`. Whole numbers. */
export type Spending = Readonly<Record<string, number>>

/** When a budget begins anew: at the start of each hour, day, week or month, or at the times of a cron expression. */
export type BudgetEvery = 'hour' | 'day' | 'week' | 'month' | { readonly cron: string }

/** The terms of a budget. */
export interface BudgetTerms {
  /** The most that may be reserved and spent. Work that finds no room is refused, waits or is stopped, as `onBreach` says. */
  readonly hard?: Spending
  /** Beyond it, an event `budget_warned` is written. */
  readonly soft?: Spending
  /**
   * What happens to work that finds no room. `refuse_new`, the default: `ctx.reserve` throws a `BudgetExceededError`, and new
   * executions wait until there is room. `suspend`: the execution waits for an approval, which raises the budget. `cancel`: the
   * execution is cancelled. `warn`: nothing but an event.
   */
  readonly onBreach?: BreachPolicy
  readonly every?: BudgetEvery
  /** Where its hours, days and months begin: `Europe/Berlin`. UTC unless given. */
  readonly timeZone?: string
  /** True: the children of an execution that spends it spend it too, with the same key, and so do theirs. */
  readonly inherit?: boolean
  /** `execution`: each execution, and each later run of it, has the whole budget for itself. Such a budget has no keys. */
  readonly per?: 'execution'
}

export interface BudgetOptions<Input = unknown> extends BudgetTerms {
  /** Whose spending is counted, such as a tenant. Each key has the whole budget for itself. */
  readonly key?: BudgetKey<Input>
  /** A budget in which everything counts, too. */
  readonly parent?: AnyBudgetUse
}

export type BudgetKey<Input> = string | ((input: Input) => string)

/** A use of a budget by a task or a submit. */
export interface BudgetUse<Input = never> {
  readonly budget: BudgetFacts
  readonly key: BudgetKey<Input> | undefined
}

/** The uses of a task, whatever its input. */
export type AnyBudgetUse = BudgetUse

/** What is known of a budget in its program. */
export interface BudgetFacts {
  readonly name: string
  /** The name of the topmost budget of its tree. */
  readonly root: string
  readonly parent: AnyBudgetUse | undefined
  readonly terms: ParsedTerms
  /** Stands for a budget that the store has. */
  readonly isReference?: true
}

/** A budget. As a use of itself, it has the key of its definition. */
export interface BudgetDefinition<Input = unknown> extends BudgetUse<Input> {
  readonly name: string
  /** Uses the budget with another key. */
  for<Other = unknown>(options: { readonly key: BudgetKey<Other> }): BudgetUse<Other>
}

/** The checked terms, as they are stored. */
export interface ParsedTerms {
  readonly hard: Amounts
  readonly soft: Amounts
  readonly onBreach: BreachPolicy
  readonly period: { readonly every: string; readonly cron: string; readonly timeZone: string } | undefined
  readonly isInherited: boolean | undefined
  readonly isPerExecution: boolean | undefined
}

const CRONS = { hour: '0 * * * *', day: '0 0 * * *', week: '0 0 * * 1', month: '0 0 1 * *' } as const
const CRON_BYTES = 256
const DIMENSION = /^[a-z][a-z0-9_]{0,63}$/
const MILLIONTHS = 1_000_000

const policies: Readonly<Record<BreachPolicy, true>> = { suspend: true, refuse_new: true, cancel: true, warn: true }

const termChecks = {
  hard: (value: unknown, field: string) => checkSpending(value, field, 1),
  soft: (value: unknown, field: string) => checkSpending(value, field, 1),
  onBreach: oneOf<BreachPolicy>(policies),
  every: checkEvery,
  timeZone: checkTimeZone,
  inherit: boolean,
  per: oneOf<'execution'>({ execution: true }),
}

const termOptions = /* @__PURE__ */ shape<BudgetTerms>()("{ hard: { tokens: 100_000 }, every: 'day' }", termChecks)
const budgetOptions = shape<BudgetOptions<never>>()("{ hard: { tokens: 100_000 }, every: 'day' }", {
  ...termChecks,
  key: checkBudgetKey,
  parent: checkUse,
})
const useOptions = shape<{ readonly key: BudgetKey<never> }>()("{ key: 'acme' }", { key: required(checkBudgetKey) })

/** Marks budgets and their uses. The same symbol in every copy of the library. */
const USE_MARK = Symbol.for('flowfabric.budget')

/**
 * Defines a budget.
 *
 * @example
 * const company = budget('company', { hard: { cost: usd(1_000) }, every: 'month' })
 * const tenants = budget('tenants', { parent: company, key: (input: Job) => input.tenant, hard: { cost: usd(20) }, every: 'day' })
 */
export function budget<Input = unknown>(name: string, options: BudgetOptions<Input>): BudgetDefinition<Input> {
  checkTaskName(name, 'budget name')
  const field = `the options of budget '${name}'`
  const { key, parent, ...given } = budgetOptions(options, field)
  if (levelsOf(parent) >= BUDGET_LEVEL_MAX) {
    throw invalidInput(
      'parent',
      `Budget '${name}' has too many above it: a tree has ${BUDGET_LEVEL_MAX} levels at most.`,
    )
  }
  const facts: BudgetFacts = { name, root: parent?.budget.root ?? name, parent, terms: parsedTerms(given, field) }
  refuseKeyOfOwn(facts, key)
  return mark({
    name,
    budget: facts,
    key: key as BudgetKey<Input> | undefined,
    for: <Other>(use: { readonly key: BudgetKey<Other> }) => {
      useOptions(use, `the use of budget '${name}'`)
      refuseKeyOfOwn(facts, use.key)
      return mark<BudgetUse<Other>>({ budget: facts, key: use.key })
    },
  })
}

function refuseKeyOfOwn({ name, terms }: BudgetFacts, key: unknown): void {
  if (terms.isPerExecution === undefined || key === undefined) return
  throw invalidInput('key', `The key of budget '${name}' is the execution, so it takes no other: leave out key.`)
}

/** Uses a budget that the store has, for callers whose keys were evaluated before. Declares nothing. */
export function budgetReference(
  { root, name, hard, soft, onBreach, isInherited, isPerExecution }: Budget,
  key: string | undefined,
  parent: AnyBudgetUse | undefined,
): BudgetUse<unknown> {
  const terms: ParsedTerms = { hard, soft, onBreach, period: undefined, isInherited, isPerExecution }
  const facts: BudgetFacts = { name, root, parent, terms, isReference: true }
  refuseKeyOfOwn(facts, key)
  return mark({ budget: facts, key })
}

/**
 * Returns an amount of money as it is counted: in millionths.
 *
 * @example
 * await ctx.spend({ cost: usd(0.03) }, { key: 'search' })
 */
export function usd(dollars: number): number {
  const value: unknown = dollars
  if (typeof value === 'number' && value >= 0 && value * MILLIONTHS <= BUDGET_AMOUNT_MAX)
    return Math.round(value * MILLIONTHS)
  throw invalidInput(
    'usd',
    `usd(${show(value)}) must be a number of dollars from 0 to ${BUDGET_AMOUNT_MAX / MILLIONTHS}.`,
  )
}

/** Checks the terms of a budget. Any change of it takes the same ones. */
export function budgetTerms(options: unknown, field = 'options'): ParsedTerms {
  return parsedTerms(termOptions(options, field), field)
}

function parsedTerms(given: ReturnType<typeof termOptions>, field: string): ParsedTerms {
  const { hard = [], soft = [], onBreach = 'refuse_new', every, timeZone, inherit, per } = given
  if (timeZone !== undefined && every === undefined) {
    throw invalidInput(field, `${field} has a timeZone without \`every\`, so nothing begins there.`)
  }
  const period = every === undefined ? undefined : { ...every, timeZone: timeZone ?? 'UTC' }
  const isInherited = inherit === true ? true : undefined
  const isPerExecution = per === undefined ? undefined : true
  return { hard, soft, onBreach, period, isInherited, isPerExecution }
}

/** Checks amounts, and returns them in the order of their dimensions. */
export function checkSpending(value: unknown, field: string, minimum = 0): Amounts {
  checkObject(value, field, '{ tokens: 1200 }')
  const entries = Object.entries(value)
  if (entries.length === 0 || entries.length > BUDGET_DIMENSION_MAX) {
    throw invalidInput(field, `${field} has ${entries.length} dimensions, but must have 1 to ${BUDGET_DIMENSION_MAX}.`)
  }
  return entries
    .map(([dimension, amount]: [string, unknown]) => {
      if (!DIMENSION.test(dimension)) {
        throw invalidInput(
          field,
          `${field} has the dimension ${show(dimension)}, but a name has a-z, 0-9 and '_' and begins with a letter.`,
        )
      }
      const isWhole =
        Number.isInteger(amount) && (amount as number) >= minimum && (amount as number) <= BUDGET_AMOUNT_MAX
      if (isWhole) return { dimension, value: amount as number }
      throw invalidInput(
        `${field}.${dimension}`,
        `${field}.${dimension} is ${show(amount)}, but must be a whole number from ${minimum} to ${BUDGET_AMOUNT_MAX}; money is counted by usd(…).`,
      )
    })
    .sort((a, b) => (a.dimension < b.dimension ? -1 : 1))
}

/** Returns amounts as users write them. */
export function spendingOf(amounts: Amounts): Spending {
  return Object.fromEntries(amounts.map(({ dimension, value }) => [dimension, value]))
}

/** Checks the list of budgets of a task or a submit. */
export function checkBudgetUses(value: unknown, field: string): readonly AnyBudgetUse[] {
  checkList(value, field)
  return value.map((use) => checkUse(use, field))
}

/**
 * Returns the accounts that an execution uses, those above them included, in the form of limits: it starts while each has room.
 * A budget of its own takes the place of the same one that it inherits.
 */
export function budgetRefsOf(
  uses: readonly AnyBudgetUse[],
  input: unknown,
  inherited: readonly LimitRef[] = [],
): readonly LimitRef[] {
  const refs = new Map<string, LimitRef>()
  for (const use of uses) {
    const isInherited = use.budget.terms.isInherited === true
    for (let level: AnyBudgetUse | undefined = use; level !== undefined; level = level.budget.parent) {
      const ref = refOf(level, input, isInherited)
      const id = JSON.stringify([ref.limit, ref.key])
      if (isInherited || !refs.has(id)) refs.set(id, ref)
    }
  }
  const own = new Set([...refs.values()].map(({ limit }) => limit))
  const all = [...refs.values(), ...inherited.filter(({ limit }) => !own.has(limit))]
  const roots = new Set(all.map(({ limit }) => rootInId(limit)))
  if (roots.size > BUDGET_TREE_MAX || all.length > BUDGET_TREE_MAX * BUDGET_LEVEL_MAX) {
    const which = inherited.length === 0 ? 'budgets are' : 'budgets, the inherited ones included, are'
    throw invalidInput('budgets', `${which} of ${roots.size} trees, but an execution uses at most ${BUDGET_TREE_MAX}.`)
  }
  return all.sort(compareRefs)
}

function refOf({ budget: { root, name, terms }, key }: AnyBudgetUse, input: unknown, isInherited: boolean): LimitRef {
  const given = key as BudgetKey<unknown> | undefined
  const evaluated = typeof given === 'function' ? given(input) : given
  const text = evaluated === undefined ? '' : checkKey(evaluated, `key of budget '${name}'`)
  const budget = scopeOf(terms.isPerExecution === true, isInherited)
  return { limit: budgetId(root, name), key: text, weight: 1, instead: undefined, budget }
}

function scopeOf(isOwn: boolean, isInherited: boolean): LimitRef['budget'] {
  if (isOwn) return isInherited ? 'own_inherited' : 'own'
  return isInherited ? 'inherited' : undefined
}

/** Returns the budgets that the members of a flow spend, and their children. */
export function flowBudgetRefs(uses: readonly AnyBudgetUse[], input: unknown): readonly LimitRef[] {
  return budgetRefsOf(uses, input).map((ref) => ({
    ...ref,
    budget: ref.budget === 'own' || ref.budget === 'own_inherited' ? 'own_inherited' : 'inherited',
  }))
}

/** Returns the budgets that the children of an execution spend, by those that it spends. */
export function inheritedRefs(
  budgets: readonly { readonly limit: string; readonly key: string; readonly isInherited: boolean }[],
): readonly LimitRef[] {
  return budgets.flatMap(({ limit, key, isInherited }) =>
    isInherited ? [{ limit, key, weight: 1, instead: undefined, budget: 'inherited' }] : [],
  )
}

/** Returns the budgets that uses refer to, each after the one above it. */
export function budgetsOf(uses: readonly AnyBudgetUse[]): BudgetFacts[] {
  const found: BudgetFacts[] = []
  const add = ({ budget: facts }: AnyBudgetUse): void => {
    if (facts.parent !== undefined) add(facts.parent)
    if (!found.includes(facts)) found.push(facts)
  }
  for (const use of uses) add(use)
  return found
}

function levelsOf(use: AnyBudgetUse | undefined): number {
  return use === undefined ? 0 : 1 + levelsOf(use.budget.parent)
}

function mark<U extends object>(use: U): U {
  return Object.defineProperty(use, USE_MARK, { value: true })
}

function checkUse(value: unknown, field: string): AnyBudgetUse {
  if (typeof value === 'object' && value !== null && USE_MARK in value) return value as unknown as AnyBudgetUse
  throw invalidInput(field, `${field} is ${show(value)}, which neither budget(…) nor its for(…) returned.`)
}

function checkBudgetKey(value: unknown, field: string): BudgetKey<never> {
  return typeof value === 'function' ? (value as BudgetKey<never>) : checkKey(value, field)
}

function checkEvery(value: unknown, field: string): { readonly every: string; readonly cron: string } {
  const cron = CRONS[value as keyof typeof CRONS] as string | undefined
  if (cron !== undefined) return { every: value as string, cron }
  if (typeof value === 'object' && value !== null && 'cron' in value) {
    const given = checkPlainText(value.cron, `${field}.cron`, CRON_BYTES)
    return { every: given, cron: given }
  }
  throw invalidInput(
    field,
    `${field} is ${show(value)}, but must be 'hour', 'day', 'week', 'month' or { cron: '0 3 * * *' }.`,
  )
}

function checkTimeZone(value: unknown, field: string): string {
  const zone = checkPlainText(value, field, CRON_BYTES)
  try {
    new Intl.DateTimeFormat('en', { timeZone: zone })
    return zone
  } catch {
    throw wrongValue(field, value, "a time zone such as 'Europe/Berlin'")
  }
}
