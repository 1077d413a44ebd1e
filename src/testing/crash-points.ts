/**
 * Where a test wants its worker to crash, and how often the work of each step was begun. A crash that was asked for happens
 * once, at the first place that fits.
 */
import type { ExecutionDescription, ExecutionHandle } from '../client/index.ts'

/** Before the work of a step begins, when it is done and nothing is recorded of it, and once it is recorded. */
export type CrashMoment = 'before' | 'during' | 'after'

/**
 * A step, wait or sleep by its name; one that the handler does again is followed by `#2` and so on. A wait or a sleep has no
 * work, so it has nothing during it. `execution` says whose; anybody's, if it is left out.
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
      throw new Error(
        "A crash is asked for with one of { before: 'charge' }, { during: 'charge' }, { after: 'charge' }.",
      )
    }
    const { execution } = point
    this.#armed.add({ moment, step, executionId: execution === undefined ? undefined : resolve(execution) })
  }

  /** Whether the worker is to crash here. */
  take(moment: CrashMoment, executionId: string, step: string): boolean {
    for (const crash of this.#armed) {
      if (crash.moment !== moment || crash.step !== step) continue
      if (crash.executionId !== undefined && crash.executionId !== executionId) continue
      this.#armed.delete(crash)
      return true
    }
    return false
  }

  /** A crash that never came is a test that has shown nothing: said once an execution has ended. */
  throwIfMissed({ id, task, state }: Pick<ExecutionDescription, 'id' | 'task' | 'state'>): void {
    const missed = [...this.#armed].find(({ executionId }) => executionId === undefined || executionId === id)
    if (missed === undefined) return
    const ran = [...(this.#runs.get(id)?.keys() ?? [])].map((step) => `'${step}'`)
    throw new Error(
      `${task} (${id}) is '${state}', but the worker was to crash ${missed.moment} '${missed.step}', and nothing of that ` +
        `name came. Steps that ran: ${ran.length === 0 ? 'none' : ran.join(', ')}. If another execution is meant, name it ` +
        `with { execution }.`,
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
