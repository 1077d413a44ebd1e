/**
 * Collects executions of a task until a batch is full or its time is over, and calls the handler once for all of them. Each
 * execution has its own lease, attempt and outcome; only the call is shared.
 */
import type { BatchHandling, BatchItem } from '../../client/define/batch.ts'
import type { TaskContext } from '../../client/define/context.ts'
import type { Runtime, Timer } from '../../runtime/index.ts'

interface Collected {
  readonly item: BatchItem<unknown>
  readonly resolve: (value: unknown) => void
  readonly reject: (error: unknown) => void
  /** Stops listening to the signal of the execution. */
  readonly release: () => void
}

export class BatchCollector {
  readonly #handling: BatchHandling
  readonly #runtime: Runtime
  #waiting: Collected[] = []
  #timer: Timer | undefined

  constructor(handling: BatchHandling, runtime: Runtime) {
    this.#handling = handling
    this.#runtime = runtime
  }

  /** Runs one execution as a part of the next batch. */
  run(input: unknown, context: TaskContext): Promise<unknown> {
    const { executionId, key, tags, attempt, signal } = context
    return new Promise((resolve, reject) => {
      if (signal.aborted) {
        reject(signal.reason as Error)
        return
      }
      const item = { input, executionId, key, tags, attempt, signal }
      const leave = () => this.#leave(collected)
      const collected: Collected = { item, resolve, reject, release: () => signal.removeEventListener('abort', leave) }
      signal.addEventListener('abort', leave, { once: true })
      this.#waiting.push(collected)
      if (this.#waiting.length >= this.#handling.max) this.#flush()
      else this.#timer ??= this.#runtime.after(this.#handling.waitMs, () => this.#flush())
    })
  }

  /** An execution that is aborted while it waits is not a part of the batch. */
  #leave(collected: Collected): void {
    this.#waiting = this.#waiting.filter((each) => each !== collected)
    if (this.#waiting.length === 0) this.#stopTimer()
    collected.reject(collected.item.signal.reason)
  }

  #stopTimer(): void {
    this.#timer?.cancel()
    this.#timer = undefined
  }

  #flush(): void {
    this.#stopTimer()
    const batch = this.#waiting
    this.#waiting = []
    for (const { release } of batch) release()
    if (batch.length > 0) void this.#call(batch)
  }

  async #call(batch: readonly Collected[]): Promise<void> {
    const items = batch.map(({ item }) => item)
    const all = new AllAborted(items.map(({ signal }) => signal))
    try {
      const results = await this.#handling.run(items, { signal: all.signal })
      settle(batch, results)
    } catch (error) {
      for (const { reject } of batch) reject(error)
    } finally {
      all.release()
    }
  }
}

function settle(batch: readonly Collected[], results: unknown): void {
  if (!Array.isArray(results) || results.length !== batch.length) {
    const found = Array.isArray(results) ? `a list of ${results.length}` : 'no list'
    throw new TypeError(
      `The handler of a batch of ${batch.length} executions returned ${found}: it must return one result, or an Error, for each.`,
    )
  }
  batch.forEach(({ resolve, reject }, i) => {
    const result: unknown = results[i]
    if (result instanceof Error) reject(result)
    else resolve(result)
  })
}

/** A signal that aborts when all of some signals have. */
class AllAborted {
  readonly #controller = new AbortController()
  readonly #signals: readonly AbortSignal[]
  readonly #check = (): void => {
    if (this.#signals.every(({ aborted }) => aborted)) this.#controller.abort(this.#signals[0]?.reason)
  }

  constructor(signals: readonly AbortSignal[]) {
    this.#signals = signals
    for (const signal of signals) signal.addEventListener('abort', this.#check)
  }

  get signal(): AbortSignal {
    return this.#controller.signal
  }

  release(): void {
    for (const signal of this.#signals) signal.removeEventListener('abort', this.#check)
  }
}
