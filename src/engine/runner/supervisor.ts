/** Keeps tasks running. Restarts a task that crashes, with exponential backoff. */
import { endWithin, errorFields, sleep } from '../../runtime/index.ts'
import type { Log, Runtime } from '../../runtime/index.ts'
import type { Metrics } from '../../runtime/metrics.ts'
import { restartsTotal } from './scanner-metrics.ts'

export const FIRST_RESTART_PAUSE_MS = 1_000
export const LONGEST_RESTART_PAUSE_MS = 30_000
/** A task that ran at least this long before it crashed restarts after the first pause. */
export const STEADY_RUN_MS = 60_000

/** Runs until the signal aborts. A rejection counts as a crash. */
export interface Task {
  readonly name: string
  run(signal: AbortSignal): Promise<void>
}

export class Supervisor {
  readonly #runtime: Runtime
  readonly #log: Log
  readonly #metrics: Metrics
  readonly #stop = new AbortController()
  readonly #running = new Map<string, Promise<void>>()
  readonly #restarts = new Map<string, number>()

  constructor(runtime: Runtime, log: Log, metrics: Metrics) {
    this.#runtime = runtime
    this.#log = log
    this.#metrics = metrics
  }

  start(task: Task): void {
    const running = this.#keepRunning(task).finally(() => this.#running.delete(task.name))
    this.#running.set(task.name, running)
  }

  restartCount(name: string): number {
    return this.#restarts.get(name) ?? 0
  }

  /** Aborts every task and waits at most `graceMs`. Returns the number of tasks that are still running. */
  async stop(graceMs: number): Promise<number> {
    this.#stop.abort()
    await endWithin(this.#runtime, graceMs, Promise.all(this.#running.values()))
    return this.#running.size
  }

  async #keepRunning(task: Task): Promise<void> {
    const signal = this.#stop.signal
    let pauseMs = FIRST_RESTART_PAUSE_MS
    while (!signal.aborted) {
      const startedAt = this.#runtime.monotonic()
      try {
        await task.run(signal)
        return
      } catch (error) {
        if (this.#runtime.monotonic() - startedAt >= STEADY_RUN_MS) pauseMs = FIRST_RESTART_PAUSE_MS
        this.#noteCrash(task, error, pauseMs)
        await sleep(this.#runtime, pauseMs, signal)
        pauseMs = Math.min(2 * pauseMs, LONGEST_RESTART_PAUSE_MS)
      }
    }
  }

  #noteCrash(task: Task, error: unknown, pauseMs: number): void {
    const restartCount = this.restartCount(task.name) + 1
    this.#restarts.set(task.name, restartCount)
    this.#log.error(
      { scanner: task.name, restartCount, pauseMs, ...errorFields(error) },
      'scanner crashed; restarting it after a pause',
    )
    this.#metrics.add(restartsTotal, { scanner: task.name })
  }
}
