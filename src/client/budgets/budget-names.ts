/** Finds budgets by their names, for callers that do not know their definitions: operators, and submits over HTTP. */
import { EngineError } from '../../kernel/engine-error.ts'
import { BUDGET_LEVEL_MAX } from '../../kernel/limits.ts'
import type { Budget } from '../../kernel/index.ts'
import type { Batcher } from '../../stores/batcher.ts'
import { invalidInput } from '../checks/names.ts'
import { budgetReference } from '../define/budget.ts'
import type { BudgetUse } from '../define/budget.ts'
import type { Session } from '../session.ts'
import { readBudgets } from './budget-listing.ts'

/** A use whose key was evaluated before. */
export interface NamedBudgetUse {
  readonly budget: string
  /** Absent for the use without a key. */
  readonly key?: string
}

/** For how long a reading of the budgets answers further submits. */
const FRESH_MS = 1_000

/** The budgets of a store, as submits of this process have read them. */
class BudgetNames {
  #reading: Promise<readonly Budget[]> | undefined
  #readAt = -Infinity

  /** Returns the budgets of a recent reading. Reads again if one of the names is missing: it may have been defined since. */
  async find(session: Session, names: readonly string[]): Promise<readonly Budget[]> {
    const askedAt = session.runtime.monotonic()
    const recent = await this.#readAfter(session, askedAt - FRESH_MS)
    if (names.every((name) => recent.some((one) => one.name === name))) return recent
    return await this.#readAfter(session, askedAt)
  }

  /** Calls at the same time share a reading. */
  #readAfter(session: Session, after: number): Promise<readonly Budget[]> {
    if (this.#reading !== undefined && this.#readAt > after) return this.#reading
    this.#readAt = session.runtime.monotonic()
    const reading = readBudgets(session).then((found) => found.map(({ budget }) => budget))
    this.#reading = reading
    reading.catch(() => {
      if (this.#reading === reading) this.#reading = undefined
    })
    return reading
  }
}

const namesOf = new WeakMap<Batcher, BudgetNames>()

/**
 * Returns uses of budgets by their names. What counts in one counts in all above it: those have the key that the list gives them, or
 * else none.
 */
export async function usesByName(session: Session, given: readonly NamedBudgetUse[]): Promise<BudgetUse<unknown>[]> {
  if (given.length === 0) return []
  const names = namesOf.get(session.batcher) ?? new BudgetNames()
  namesOf.set(session.batcher, names)
  const budgets = await names.find(
    session,
    given.map(({ budget }) => budget),
  )
  return given.map(({ budget, key }) => referenceTo(findBudget(budgets, budget), key, { budgets, given }))
}

interface Lookup {
  readonly budgets: readonly Budget[]
  readonly given: readonly NamedBudgetUse[]
}

/** Refers to a budget and those above it, of which there are few: pages that were read at different times might form a circle. */
function referenceTo(budget: Budget, key: string | undefined, lookup: Lookup, level = 1): BudgetUse<unknown> {
  const { root, parent } = budget
  if (parent === undefined || level >= BUDGET_LEVEL_MAX) return budgetReference(budget, key, undefined)
  const tree = lookup.budgets.filter((one) => one.root === root)
  const keyAbove = lookup.given.find((use) => use.budget === parent)?.key
  const above = referenceTo(findBudget(tree, parent), keyAbove, lookup, level + 1)
  return budgetReference(budget, key, above)
}

/** Returns the budget of a name. Throws if there is none, or more than one. */
export function findBudget(budgets: readonly Budget[], name: string): Budget {
  const found = budgets.filter((one) => one.name === name)
  const [first, ...others] = found
  if (first === undefined) throw new EngineError('budget_not_found', { name })
  if (others.length === 0) return first
  const roots = found.map(({ root }) => root).join(', ')
  throw invalidInput(
    'name',
    `The name '${name}' is used in several trees: those of ${roots}. Give budgets names of their own.`,
  )
}
