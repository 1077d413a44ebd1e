/**
 * The points at which a test makes its worker crash, and the number of runs of each step. A requested crash happens once, at the
 * first matching point.
 */
import type { ExecutionDescription, ExecutionHandle } from '../client/index.ts'

/** Before the work of a step, after the work but before it is recorded, and after it is recorded. */
export type CrashMoment = 'before' | 'during' | 'after'

/**
 * A step, wait, sleep or child by its name, or a wait for children by its name or verb; a repeated name has the suffix `#2` and
 * so on. Only steps have work of their own, so `during` does not apply to the others. `execution` limits the point to one
 * execution.
 */
export type CrashPoint = { readonly execution?: ExecutionHandle | string } & (
  { readonly before: string } | { readonly during: string } | { readonly after: string }
)

interface ArmedCrash {
  readonly moment: CrashMoment
  readonly step: string
  readonly executionId: string | undefined
}

const moments: readonly CrashMoment[] = ['before', 'during', 'after']

export class CrashPoints {
  readonly #armed = new Set<ArmedCrash>()
  /** By execution, then by step. */
  readonly #runs = new Map<string, Map<string, number>>()

  arm(point: CrashPoint, resolve: (execution: ExecutionHandle | string) => string): void {
    const asked: Readonly<Partial<Record<CrashMoment, unknown>>> = point
    const [moment, ...others] = moments.filter((each) => asked[each] !== undefined)
    const step = moment === undefined ? undefined : asked[moment]
    if (moment === undefined || others.length > 0 || typeof step !== 'string') {
      throw new Error("A crash point is one of { before: 'charge' }, { during: 'charge' }, { after: 'charge' }.")
    }
    const { execution } = point
    this.#armed.add({ moment, step, executionId: execution === undefined ? undefined : resolve(execution) })
  }

  /** Returns whether the worker crashes here, and disarms that crash. */
  take(moment: CrashMoment, executionId: string, step: string): boolean {
    for (const crash of this.#armed) {
      if (crash.moment !== moment || crash.step !== step) continue
      if (crash.executionId !== undefined && crash.executionId !== executionId) continue
      this.#armed.delete(crash)
      return true
    }
    return false
  }

  /** Throws if an execution has ended without reaching a requested crash, because the test would prove nothing. */
  throwIfMissed({ id, task, state }: Pick<ExecutionDescription, 'id' | 'task' | 'state'>): void {
    const missed = [...this.#armed].find(({ executionId }) => executionId === undefined || executionId === id)
    if (missed === undefined) return
    const ran = [...(this.#runs.get(id)?.keys() ?? [])].map((step) => `'${step}'`)
    throw new Error(
      `${task} (${id}) is '${state}', but never reached the requested crash ${missed.moment} '${missed.step}'. ` +
        `Steps that ran: ${ran.length === 0 ? 'none' : ran.join(', ')}. To crash in another execution, pass { execution }.`,
    )
  }

  countRun(executionId: string, step: string): void {
    const runs = this.#runs.get(executionId) ?? new Map<string, number>()
    this.#runs.set(executionId, runs)
    runs.set(step, (runs.get(step) ?? 0) + 1)
  }

  runCount(executionId: string, step: string): number {
    return this.#runs.get(executionId)?.get(step) ?? 0
  }
}
