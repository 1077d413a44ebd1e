/**
 * Makes the budgets of a program known to its store when it first uses them, each after the one above it. A definition in a program
 * applies until an operator changes the budget.
 */
import { budgetBoundaries } from '../../calendar/budget-boundaries.ts'
import { BUDGET_PLAN_MAX } from '../../kernel/index.ts'
import type { DefineBudgetInput, Instant } from '../../kernel/index.ts'
import type { Runtime } from '../../runtime/index.ts'
import type { Batcher } from '../../stores/batcher.ts'
import { ADMISSION_LEVEL, levelTooLow } from '../../stores/level/store-level.ts'
import { limitPartition } from '../../stores/partitions.ts'
import { budgetsOf } from '../define/budget.ts'
import type { AnyBudgetUse, BudgetFacts, ParsedTerms } from '../define/budget.ts'
import { invalidInput } from '../checks/names.ts'
import { retryWhileUnavailable } from '../transport/retry-unavailable.ts'
import { unwrap } from '../transport/unwrap.ts'

interface Declared {
  readonly facts: BudgetFacts
  /** Set until the store has it. */
  pending: Promise<void> | undefined
}

export class DeclaredBudgets {
  readonly #batcher: Batcher
  readonly #runtime: Runtime
  readonly #declared = new Map<string, Declared>()

  constructor(batcher: Batcher, runtime: Runtime) {
    this.#batcher = batcher
    this.#runtime = runtime
  }

  /** Makes the budgets of some uses known. Returns a promise only if this process has not used one of them before. */
  declare(uses: readonly AnyBudgetUse[]): Promise<void> | undefined {
    const budgets = budgetsOf(uses).filter(({ isReference }) => isReference !== true)
    for (const facts of budgets) this.#refuseOther(facts)
    const isKnown = budgets.every(({ name }) => {
      const known = this.#declared.get(name)
      return known !== undefined && known.pending === undefined
    })
    return isKnown ? undefined : this.#defineAll(budgets)
  }

  /** Two definitions of one name would take turns in the store, by the order in which they are used. */
  #refuseOther(given: BudgetFacts): void {
    const known = this.#declared.get(given.name)?.facts
    if (known === undefined || known === given || sameText(known) === sameText(given)) return
    throw invalidInput(
      'budgets',
      `The budget '${given.name}' is defined twice in this program, with different options. Define it once, and import it.`,
    )
  }

  async #defineAll(budgets: readonly BudgetFacts[]): Promise<void> {
    for (const facts of budgets) await (this.#declared.get(facts.name)?.pending ?? this.#define(facts))
  }

  #define(facts: BudgetFacts): Promise<void> {
    const { name, root } = facts
    const known = this.#declared.get(name)
    if (known !== undefined) return known.pending ?? Promise.resolve()
    const refusal = levelTooLow(this.#batcher.store, ADMISSION_LEVEL, `Budget '${name}'`)
    if (refusal !== undefined) return Promise.reject(refusal)
    const entry: Declared = { facts, pending: undefined }
    const input = definitionOf(facts, { isDeclared: true, by: 'program' }, this.#runtime.now())
    const call = () => this.#batcher.run(limitPartition(root, this.#batcher.store.settings), 'defineBudget', input)
    entry.pending = retryWhileUnavailable(this.#runtime, call).then(
      ({ result }) => {
        entry.pending = undefined
        unwrap(result)
      },
      (error: unknown) => {
        this.#declared.delete(name)
        throw error
      },
    )
    this.#declared.set(name, entry)
    return entry.pending
  }
}

function sameText({ root, parent, terms }: BudgetFacts): string {
  return JSON.stringify([root, parent?.budget.name, terms])
}

interface Definition {
  readonly name: string
  readonly root: string
  readonly parent?: { readonly budget: { readonly name: string } } | undefined
  readonly terms: ParsedTerms
}

/** Returns the input that defines a budget. Refuses a period that has no boundaries. */
export function definitionOf(
  { name, root, parent, terms }: Definition,
  change: Pick<DefineBudgetInput, 'by' | 'reason' | 'isDeclared'>,
  now: Instant,
): DefineBudgetInput {
  const { period } = terms
  let boundaries: Instant[] = []
  if (period !== undefined) {
    try {
      boundaries = budgetBoundaries(period, now, BUDGET_PLAN_MAX)
    } catch (cause) {
      const reason = cause instanceof Error ? cause.message : String(cause)
      throw invalidInput('every', `The period '${period.every}' of budget '${name}' is not valid: ${reason}.`)
    }
  }
  return { root, name, parent: parent?.budget.name, ...terms, boundaries, ...change }
}
