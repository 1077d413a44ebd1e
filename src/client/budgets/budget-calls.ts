/** Budgets as operators and programs manage them: defined, described, raised, reset and frozen by name. */
import { BUDGET_PAGE_MAX, budgetId } from '../../kernel/index.ts'
import type { BudgetWake, ExecutionId } from '../../kernel/index.ts'
import { required, shape, unchecked, wholeNumber } from '../../options/shape.ts'
import { deliverWakes, wakeBlocked } from '../../stores/deliver-wakes.ts'
import { limitPartition, partitionsOf } from '../../stores/partitions.ts'
import { checkKey, checkPrincipal, checkReason, checkTaskName, invalidInput } from '../checks/names.ts'
import { budgetTerms, checkSpending } from '../define/budget.ts'
import type { BudgetTerms, BudgetUse, Spending } from '../define/budget.ts'
import type { Session } from '../session.ts'
import { cursorOf, positionCursor } from '../transport/id-cursor.ts'
import { unwrap } from '../transport/unwrap.ts'
import { describeBudget, ledgerEntry, periodSums, readBudgets, readKeyless, summariseBudget } from './budget-listing.ts'
import { findBudget, usesByName } from './budget-names.ts'
import type { NamedBudgetUse } from './budget-names.ts'
import type { BudgetDescription, BudgetInfo, LedgerEntry, PeriodSums } from './budget-listing.ts'
import { COSTS_EXAMINE_DEFAULT, COSTS_EXAMINE_MAX, budgetCosts } from './budget-costs.ts'
import type { Costs, CostsOptions } from './budget-costs.ts'
import { definitionOf } from './declared-budgets.ts'

/** Who changes a budget, and why. */
export interface BudgetChange {
  readonly by?: string
  readonly reason?: string
}

/** The terms of a budget that an operator defines, and the name of the budget above it. */
export interface DefineBudgetOptions extends BudgetTerms {
  readonly parent?: string
}

export interface BudgetKeyOptions {
  /** The key, such as a tenant. Without it, the use without a key. */
  readonly key?: string
}

export interface RaiseBudgetOptions extends BudgetKeyOptions, BudgetChange {
  /** Added to the hard limits until the budget begins anew: `{ cost: usd(5) }`. */
  readonly amounts: Spending
  /** Identifies the raise: another one with the same id adds nothing. */
  readonly id?: string
}

export interface ResetBudgetOptions extends BudgetKeyOptions, BudgetChange {
  /** Identifies the reset: if the latest reset has the same id, nothing is done. */
  readonly id?: string
}

export interface DescribeBudgetOptions extends BudgetKeyOptions {
  /** At most this many keys; 100 unless given. */
  readonly limit?: number
  readonly cursor?: string
}

export interface HistoryOptions extends BudgetKeyOptions {
  readonly limit?: number
  readonly cursor?: string
}

export interface Ledger {
  /** The latest first. */
  readonly items: readonly LedgerEntry[]
  readonly cursor: string | undefined
}

export interface BudgetHistory extends Ledger {
  /** The latest periods that have ended. */
  readonly periods: readonly PeriodSums[]
}

const changeChecks = { by: checkPrincipal, reason: checkReason }
const keyCheck = (value: unknown, field: string) => (value === '' ? '' : checkKey(value, field))
const changeOptions = shape<BudgetChange>()("{ reason: 'a launch' }", changeChecks)
const keyOptions = shape<ResetBudgetOptions>()("{ key: 'acme' }", {
  ...changeChecks,
  key: keyCheck,
  id: checkKey,
})
const raiseOptions = shape<RaiseBudgetOptions>()("{ key: 'acme', amounts: { tokens: 1000 } }", {
  ...changeChecks,
  key: keyCheck,
  amounts: required((value, field) => checkSpending(value, field, 1)),
  id: checkKey,
})
const pageChecks = { key: keyCheck, limit: wholeNumber(1, BUDGET_PAGE_MAX) }
const describeOptions = shape<DescribeBudgetOptions>()("{ key: 'acme' }", {
  ...pageChecks,
  cursor: unchecked<string>(),
})
/** The ledger of a key, in the order of its lines. */
const byTime = positionCursor('b2')

const historyOptions = shape<HistoryOptions>()("{ key: 'acme' }", { ...pageChecks, cursor: byTime.decode })

const instant = wholeNumber(0, Number.MAX_SAFE_INTEGER)
const costsOptions = shape<CostsOptions>()('{ from, examine: 5_000 }', {
  key: keyCheck,
  from: instant,
  to: instant,
  examine: wholeNumber(1, COSTS_EXAMINE_MAX),
})

const UNNAMED = 'client'
/** Periods that have ended, which a history shows. */
const PERIOD_COUNT = 12

export class BudgetCalls {
  readonly #session: () => Session

  /** `session` throws once the client is closed. */
  constructor(session: () => Session) {
    this.#session = session
  }

  /**
   * Defines a budget, or changes it live: the next execution that starts and the next reservation obey the change, and work that
   * has room now is woken. Definitions in programs do not apply any more.
   *
   * @example
   * await fabric.budgets.define('tenants', { parent: 'company', hard: { cost: usd(20) }, every: 'day' }, { by: 'ada' })
   */
  async define(
    name: string,
    options: DefineBudgetOptions,
    change: BudgetChange = {},
  ): Promise<'defined' | 'changed' | 'unchanged'> {
    const session = this.#session()
    const { by = UNNAMED, reason } = changeOptions(change, 'change')
    const { parent, ...given } = options
    const terms = budgetTerms(given)
    checkTaskName(name, 'budget name')
    const above = parent === undefined ? undefined : await this.#find(parent)
    const root = above?.root ?? name
    await this.#refuseOtherTree(name, root)
    const facts = { name, root, terms, parent: above === undefined ? undefined : { budget: above } }
    const input = definitionOf(facts, { by, reason }, session.runtime.now())
    const { kind } = unwrap((await session.runIn(limitPartition(root, session.settings), 'defineBudget', input)).result)
    if (kind === 'already_satisfied') return 'unchanged'
    if (kind === 'budget_defined') return 'defined'
    await wakeBlocked(session.batcher, budgetId(root, name))
    return 'changed'
  }

  /** Lists the budgets of the store, tree by tree. */
  async list(): Promise<BudgetInfo[]> {
    return (await readBudgets(this.#session())).map(({ budget, at }) => summariseBudget(budget, at))
  }

  /** Describes a budget: what its keys have spent and reserved, what is left, and when it begins anew. */
  async describe(name: string, options: DescribeBudgetOptions = {}): Promise<BudgetDescription> {
    const parsed = describeOptions(options)
    return await describeBudget(this.#session(), await this.#find(name), parsed)
  }

  /** Returns the ledger of one key, the latest line first, and the sums of its past periods. */
  async history(name: string, options: HistoryOptions = {}): Promise<BudgetHistory> {
    const { key = '', limit = BUDGET_PAGE_MAX, cursor } = historyOptions(options)
    const session = this.#session()
    const { root, name: own } = await this.#find(name)
    const partition = limitPartition(root, session.settings)
    const account = { root, name: own, key }
    const [ledger, past] = await Promise.all([
      session.runIn(partition, 'readCharges', { account, limit, cursor }),
      session.runIn(partition, 'readPeriods', { ...account, limit: PERIOD_COUNT }),
    ])
    const { charges, cursor: next } = ledger.result
    return {
      items: charges.map(ledgerEntry),
      cursor: cursorOf(byTime, next),
      periods: past.result.periods.map(periodSums),
    }
  }

  /**
   * Sums the ledger of a budget by task, by day, and by the other budgets in which its lines count, such as one with a key for each
   * tenant or model. It examines the latest lines, so that its work is bounded.
   *
   * @example
   * const { tasks, budgets } = await fabric.budgets.costs('company', { from: Date.UTC(2026, 10, 1) })
   */
  async costs(name: string, options: CostsOptions = {}): Promise<Costs> {
    const { examine = COSTS_EXAMINE_DEFAULT, ...range } = costsOptions(options)
    return await budgetCosts(this.#session(), await this.#find(name), { ...range, examine })
  }

  /** Returns what one execution has spent, the latest line first: at most 100 lines of each tree. */
  async spentBy(id: string): Promise<LedgerEntry[]> {
    const session = this.#session()
    const spentBy: ExecutionId = session.resolve(id)
    const pages = partitionsOf(session.settings, ['q']).map((partition) =>
      session.runIn(partition, 'readCharges', { spentBy, limit: BUDGET_PAGE_MAX }),
    )
    const found = (await Promise.all(pages)).flatMap(({ result }) => result.charges)
    const seen =
      session.within === undefined ? found : found.filter(({ spender }) => spender.namespace === session.within)
    return seen.map(ledgerEntry).sort((a, b) => b.at - a.at)
  }

  /**
   * Adds to the hard limits of one key until it begins anew, and wakes the work that waits for it.
   *
   * @example
   * await fabric.budgets.raise('tenants', { key: 'acme', amounts: { cost: usd(5) }, by: 'ada', reason: 'a launch' })
   */
  async raise(name: string, options: RaiseBudgetOptions): Promise<'raised' | 'already_raised'> {
    const session = this.#session()
    const { key = '', amounts, id = session.runtime.uuid(), by = UNNAMED, reason } = raiseOptions(options)
    const place = await this.#find(name)
    const input = { ...place, key, amounts, requestId: id, by, reason }
    const { result } = await session.runIn(limitPartition(place.root, session.settings), 'raiseBudget', input)
    const { kind, wakes } = unwrap(result)
    await openBudgets(session, place.root, wakes)
    return kind === 'budget_raised' ? 'raised' : 'already_raised'
  }

  /** Begins one key anew before its time, and wakes the work that waits for it. What it has reserved stays reserved. */
  async reset(name: string, options: ResetBudgetOptions = {}): Promise<void> {
    const session = this.#session()
    const { key = '', id = session.runtime.uuid(), by = UNNAMED, reason } = keyOptions(options)
    const place = await this.#find(name)
    const input = { ...place, key, requestId: id, by, reason }
    const { result } = await session.runIn(limitPartition(place.root, session.settings), 'resetBudget', input)
    await openBudgets(session, place.root, unwrap(result).wakes)
  }

  /** Freezes a budget: nothing is reserved and no new work starts until it is opened. What runs may still report. */
  async freeze(name: string, change: BudgetChange = {}): Promise<'frozen' | 'already_frozen'> {
    const kind = await this.#freeze(name, true, change)
    return kind === 'budget_frozen' ? 'frozen' : 'already_frozen'
  }

  /** Opens a frozen budget, and wakes the work that waits for it. */
  async open(name: string, change: BudgetChange = {}): Promise<'opened' | 'already_open'> {
    const kind = await this.#freeze(name, false, change)
    return kind === 'budget_opened' ? 'opened' : 'already_open'
  }

  /**
   * Deletes a budget that has none below it: it bounds and counts nothing from now on, and work that waits for it is woken. Executions
   * that name it spend the others that they name. Definitions in programs do not apply any more; `define` begins it anew.
   */
  async delete(name: string, change: BudgetChange = {}): Promise<void> {
    const session = this.#session()
    const { by = UNNAMED, reason } = changeOptions(change, 'change')
    const place = await this.#find(name)
    const input = { ...place, by, reason }
    unwrap((await session.runIn(limitPartition(place.root, session.settings), 'deleteBudget', input)).result)
    await wakeBlocked(session.batcher, budgetId(place.root, place.name))
  }

  async #freeze(name: string, isFrozen: boolean, change: BudgetChange) {
    const session = this.#session()
    const { by = UNNAMED, reason } = changeOptions(change, 'change')
    const place = await this.#find(name)
    const input = { ...place, isFrozen, by, reason }
    const { result } = await session.runIn(limitPartition(place.root, session.settings), 'freezeBudget', input)
    const { kind } = unwrap(result)
    // Also if it was opened before: that call may not have woken everything.
    if (!isFrozen) await wakeBlocked(session.batcher, budgetId(place.root, place.name))
    return kind
  }

  /** A name in two trees would be ambiguous for good, because no budget is ever removed. */
  async #refuseOtherTree(name: string, root: string): Promise<void> {
    const known = await readBudgets(this.#session())
    const other = known.find(({ budget }) => budget.name === name && budget.root !== root)?.budget
    if (other === undefined) return
    const place = other.parent === undefined ? 'is the root of a tree' : `has the parent '${other.parent}'`
    throw invalidInput(
      'parent',
      `The budget '${name}' ${place}, and stays in its tree: name the same parent, or define a budget of another name.`,
    )
  }

  /** Returns the tree of a budget. Names are looked up, because the partition is that of the root. */
  async #find(given: string): Promise<{ readonly root: string; readonly name: string }> {
    const name = checkTaskName(given, 'budget name')
    const budgets = (await readBudgets(this.#session())).map(({ budget }) => budget)
    return { root: findBudget(budgets, name).root, name }
  }

  /**
   * Returns what the first 100 budgets have spent without a key.
   * @internal
   */
  async keyless(): ReturnType<typeof readKeyless> {
    return await readKeyless(this.#session())
  }

  /**
   * Returns uses of budgets by their names, for callers that do not know the definitions. The budgets above them belong to them.
   * @internal
   */
  async usesByName(given: readonly NamedBudgetUse[]): Promise<BudgetUse<unknown>[]> {
    return await usesByName(this.#session(), given)
  }
}

/** Opens the gates of keys of budgets that have room again. */
async function openBudgets(session: Session, root: string, wakes: readonly BudgetWake[]): Promise<void> {
  for (const [name, own] of Map.groupBy(wakes, (wake) => wake.name))
    await deliverWakes(session.batcher, budgetId(root, name), own)
}
