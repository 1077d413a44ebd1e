/**
 * Makes the limits of a program known to its store when it first uses them. A definition in a program applies until an operator
 * changes or deletes the limit.
 */
import type { Batcher } from '../../stores/batcher.ts'
import { ADMISSION_LEVEL, levelTooLow } from '../../stores/level/store-level.ts'
import { limitPartition } from '../../stores/partitions.ts'
import type { Runtime } from '../../runtime/index.ts'
import { isLimitReference } from '../define/limit.ts'
import { DeclaredBudgets } from '../budgets/declared-budgets.ts'
import type { AnyLimitUse, LimitDefinition } from '../define/limit.ts'
import { invalidInput } from '../checks/names.ts'
import { retryWhileUnavailable } from '../transport/retry-unavailable.ts'

interface Declared {
  readonly definition: LimitDefinition
  /** Set until the store has it. */
  pending: Promise<void> | undefined
}

export class DeclaredLimits {
  /** The budgets of the program. */
  readonly budgets: DeclaredBudgets
  readonly #batcher: Batcher
  readonly #runtime: Runtime
  readonly #declared = new Map<string, Declared>()

  constructor(batcher: Batcher, runtime: Runtime) {
    this.#batcher = batcher
    this.#runtime = runtime
    this.budgets = new DeclaredBudgets(batcher, runtime)
  }

  /** Makes the limits of some uses known. Returns a promise only if this process has not used one of them before. */
  declare(uses: readonly AnyLimitUse[]): Promise<void> | undefined {
    let waits: Promise<void>[] | undefined
    for (const { definition } of uses) {
      if (isLimitReference(definition)) {
        this.#refuseLowLevel(definition.name)
        continue
      }
      const known = this.#declared.get(definition.name)
      if (known !== undefined) refuseOther(known.definition, definition)
      const pending = known === undefined ? this.#define(definition) : known.pending
      if (pending !== undefined) waits = [...(waits ?? []), pending]
    }
    return waits === undefined ? undefined : Promise.all(waits).then(() => undefined)
  }

  /** Defines a limit again that the store does not know any more. No-op for a limit that this program does not define. */
  redeclare(name: string): void {
    const known = this.#declared.get(name)
    if (known === undefined || known.pending !== undefined) return
    // The next execution that needs it repeats a failed attempt.
    void this.#define(known.definition).catch(() => undefined)
  }

  #refuseLowLevel(name: string): void {
    const refusal = levelTooLow(this.#batcher.store, ADMISSION_LEVEL, `Limit '${name}'`)
    if (refusal !== undefined) throw refusal
  }

  #define(definition: LimitDefinition): Promise<void> {
    const { name, terms } = definition
    const refusal = levelTooLow(this.#batcher.store, ADMISSION_LEVEL, `Limit '${name}'`)
    if (refusal !== undefined) return Promise.reject(refusal)
    const entry: Declared = { definition, pending: undefined }
    const call = () =>
      this.#batcher.run(limitPartition(name, this.#batcher.store.settings), 'defineLimit', {
        name,
        ...terms,
        by: 'program',
        isDeclared: true,
      })
    entry.pending = retryWhileUnavailable(this.#runtime, call).then(
      () => void (entry.pending = undefined),
      (error: unknown) => {
        this.#declared.delete(name)
        throw error
      },
    )
    this.#declared.set(name, entry)
    return entry.pending
  }
}

const declaredBy = new WeakMap<Batcher, DeclaredLimits>()

/** Returns the limits that the process has declared in a store. Clients and workers of one batcher share them. */
export function declaredLimitsOf(batcher: Batcher, runtime: Runtime): DeclaredLimits {
  const known = declaredBy.get(batcher)
  if (known !== undefined) return known
  const declared = new DeclaredLimits(batcher, runtime)
  declaredBy.set(batcher, declared)
  return declared
}

/** Two definitions of one name would take turns in the store, by the order in which they are used. */
function refuseOther(known: LimitDefinition, given: LimitDefinition): void {
  if (known === given) return
  const [a, b] = [known.terms, given.terms]
  const isSame =
    a.concurrency === b.concurrency && a.rate?.count === b.rate?.count && a.rate?.windowMs === b.rate?.windowMs
  if (isSame) return
  throw invalidInput(
    'limits',
    `The limit '${given.name}' is defined twice in this program, with different options. Define it once, and import it.`,
  )
}
