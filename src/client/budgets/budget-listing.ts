/** The budgets of a store as the client returns them: what was spent, what is left, and who has spent it. */
import { BUDGET_PAGE_MAX, nextReset } from '../../kernel/index.ts'
import type {
  Account,
  Amounts,
  BreachPolicy,
  Budget,
  Charge,
  ExecutionId,
  Instant,
  PastPeriod,
} from '../../kernel/index.ts'
import { ADMISSION_LEVEL } from '../../stores/level/store-level.ts'
import { limitPartition, partitionsOf } from '../../stores/partitions.ts'
import { spendingOf } from '../define/budget.ts'
import type { Spending } from '../define/budget.ts'
import type { Session } from '../session.ts'
import { idCursor } from '../transport/id-cursor.ts'
import { unwrap } from '../transport/unwrap.ts'
import { forecastOf } from './budget-forecast.ts'

/** A budget as it is defined now. */
export interface BudgetInfo {
  readonly name: string
  /** The budget above it, and the topmost one of its tree. */
  readonly parent: string | undefined
  readonly root: string
  readonly hard: Spending
  readonly soft: Spending
  readonly onBreach: BreachPolicy
  /** When it begins anew: a word such as `day`, or a cron expression. */
  readonly every: string | undefined
  readonly timeZone: string | undefined
  /** Whether the children of an execution that spends it spend it too. */
  readonly inherit: boolean
  /** Whether each execution has an account of its own; its id is the key. */
  readonly per: 'execution' | undefined
  readonly resetsAt: Instant | undefined
  /** Set while nothing is reserved and no new work starts. */
  readonly frozen:
    { readonly at: Instant; readonly by: string | undefined; readonly reason: string | undefined } | undefined
  /** Rises with every change. */
  readonly version: number
  readonly changedAt: Instant
  readonly changedBy: string | undefined
  readonly reason: string | undefined
}

/** One dimension of a key. */
export interface DimensionUse {
  readonly dimension: string
  /** Spent since it began anew. */
  readonly spent: number
  readonly reserved: number
  /** The hard limit, raises included. Absent without one. */
  readonly hard: number | undefined
  readonly soft: number | undefined
  /** What may still be reserved. */
  readonly left: number | undefined
  /** Spent in all periods. */
  readonly total: number
  /**
   * What will be spent when it begins anew, at the rate since it did last. Absent without a next time, and while too little of the
   * period has passed or too few reports were counted to tell the rate.
   */
  readonly forecast: number | undefined
}

/** What one key of a budget has spent. */
export interface KeySpending {
  readonly key: string
  readonly since: Instant
  readonly dimensions: readonly DimensionUse[]
  readonly chargeCount: number
  readonly reservationCount: number
  /** How often work found no room. */
  readonly breachCount: number
  readonly breachedAt: Instant | undefined
  /** By the tasks that spent it. Those beyond the first ones share an entry without a name. */
  readonly tasks: readonly {
    readonly namespace: string
    readonly task: string
    readonly count: number
    readonly spent: Spending
  }[]
}

export interface BudgetDescription extends BudgetInfo {
  /** By key. */
  readonly keys: readonly KeySpending[]
  /** Where the next page of keys starts; undefined on the last. */
  readonly cursor: string | undefined
  /** The time of the store. */
  readonly at: Instant
}

/** A line of the ledger. */
export interface LedgerEntry {
  /** Identifies the report. Another one with the same key counts nothing. */
  readonly key: string
  readonly at: Instant
  readonly spent: Spending
  readonly executionId: ExecutionId | undefined
  readonly task: string
  readonly namespace: string
  readonly attempt: number
  /** The budgets in which it counts, with their keys. */
  readonly budgets: readonly { readonly budget: string; readonly key: string }[]
}

/** The sums of a period that has ended. */
export interface PeriodSums {
  readonly since: Instant
  readonly until: Instant
  readonly spent: Spending
  readonly hard: Spending
  readonly chargeCount: number
}

/** Pages of budgets that are read in each partition. */
const PAGES_MAX = 50

/** Returns all budgets, tree by tree. */
export async function readBudgets(session: Session): Promise<{ budget: Budget; at: Instant }[]> {
  const pages = partitionsOf(session.settings, ['q']).map(async (partition) => {
    const found: { budget: Budget; at: Instant }[] = []
    let cursor: string | undefined
    for (let page = 0; page < PAGES_MAX; page++) {
      const { result } = await session.runIn(partition, 'listBudgets', { limit: BUDGET_PAGE_MAX, cursor })
      found.push(...result.budgets.map((one) => ({ budget: one, at: result.at })))
      cursor = result.cursor
      if (cursor === undefined) break
    }
    return found
  })
  return (await Promise.all(pages)).flat().sort((a, b) => (a.budget.id < b.budget.id ? -1 : 1))
}

const byKey = idCursor('b1')

export async function describeBudget(
  session: Session,
  { root, name }: { readonly root: string; readonly name: string },
  { key, limit = BUDGET_PAGE_MAX, cursor }: { key?: string; limit?: number; cursor?: string },
): Promise<BudgetDescription> {
  const partition = limitPartition(root, session.settings)
  const from = cursor === undefined ? undefined : byKey.decode(cursor)
  const { result } = await session.runIn(partition, 'describeBudget', { root, name, key, limit, cursor: from })
  const { budget, accounts, cursor: next, at } = unwrap(result)
  const keys = accounts.map((account) => keySpending(budget, account, at))
  return { ...summariseBudget(budget, at), keys, cursor: next && byKey.encode(next), at }
}

/** Budgets whose use is read together. */
const SUMMARY_MAX = 100

/**
 * Returns what budgets have spent without a key, for metrics: keys may be many. None on a store of a lower level. A budget that is
 * deleted during the call is left out.
 */
export async function readKeyless(
  session: Session,
): Promise<{ readonly name: string; readonly dimensions: readonly DimensionUse[] }[]> {
  if (session.batcher.store.level < ADMISSION_LEVEL) return []
  const budgets = (await readBudgets(session)).slice(0, SUMMARY_MAX)
  const read = budgets.map(async ({ budget: { root, name } }) => {
    const input = { root, name, key: '', limit: 1 }
    const { result } = await session.runIn(limitPartition(root, session.settings), 'describeBudget', input)
    if (result.kind === 'refused') return []
    const { budget, accounts, at } = result
    return accounts.map((account) => ({ name, dimensions: keySpending(budget, account, at).dimensions }))
  })
  return (await Promise.all(read)).flat()
}

export function summariseBudget(budget: Budget, at: Instant): BudgetInfo {
  const { name, parent, root, onBreach, period, freeze, version, changedAt, changedBy, changeReason } = budget
  return {
    name,
    parent,
    root,
    hard: spendingOf(budget.hard),
    soft: spendingOf(budget.soft),
    onBreach,
    every: period?.every,
    timeZone: period?.timeZone,
    inherit: budget.isInherited === true,
    per: budget.isPerExecution === true ? ('execution' as const) : undefined,
    resetsAt: nextReset(budget, at),
    frozen: freeze,
    version,
    changedAt,
    changedBy,
    reason: changeReason,
  }
}

function keySpending(budget: Budget, account: Account, at: Instant): KeySpending {
  const { key, since, chargeCount, reservationCount, breachCount, breachedAt } = account
  const names = new Set(
    [budget.hard, account.spent, account.reserved, account.total].flat().map((one) => one.dimension),
  )
  const resetsAt = nextReset(budget, at)
  const dimensions = [...names].sort().map((dimension): DimensionUse => {
    const of = (amounts: Amounts) => amounts.find((one) => one.dimension === dimension)?.value
    const [spent, reserved] = [of(account.spent) ?? 0, of(account.reserved) ?? 0]
    const limit = of(budget.hard)
    const hard = limit === undefined ? undefined : limit + (of(account.raised) ?? 0)
    return {
      dimension,
      spent,
      reserved,
      hard,
      soft: of(budget.soft),
      left: hard === undefined ? undefined : Math.max(0, hard - spent - reserved),
      total: of(account.total) ?? 0,
      forecast: resetsAt === undefined ? undefined : forecastOf(spent, chargeCount, { since, at, until: resetsAt }),
    }
  })
  const tasks = account.tasks.map(({ namespace, task, count, spent }) => {
    return { namespace, task, count, spent: spendingOf(spent) }
  })
  return { key, since, dimensions, chargeCount, reservationCount, breachCount, breachedAt, tasks }
}

export function ledgerEntry({ key, at, amounts, spender, accounts }: Charge): LedgerEntry {
  const { executionId, task, namespace, attempt } = spender
  const budgets = accounts.map(({ name, key: own }) => ({ budget: name, key: own }))
  return { key, at, spent: spendingOf(amounts), executionId, task, namespace, attempt, budgets }
}

export function periodSums({ since, until, spent, hard, chargeCount }: PastPeriod): PeriodSums {
  return { since, until, spent: spendingOf(spent), hard: spendingOf(hard), chargeCount }
}
