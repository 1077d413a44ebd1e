/** Waits for ready work in some queues: by wake-ups of the store and hints of this process, and by a sweep that needs neither. */
import { readyIndex } from '../../kernel/index.ts'
import type { QueueName } from '../../kernel/index.ts'
import type { Runtime } from '../../runtime/index.ts'
import type { Batcher } from '../../stores/batcher.ts'
import { executionPartition } from '../../stores/store.ts'
import type { Partition } from '../../stores/store.ts'

/** How often all partitions are looked at without a wake-up. */
const SWEEP_MS = 5_000

export class ReadyWatch {
  readonly #runtime: Runtime
  readonly #all: readonly Partition[]
  readonly #hinted = new Set<Partition>()
  readonly #stops: readonly (() => void)[]
  #wake: (() => void) | undefined

  constructor(batcher: Batcher, runtime: Runtime, queues: readonly QueueName[]) {
    this.#runtime = runtime
    const { executionPartitions } = batcher.store.settings
    this.#all = Array.from({ length: executionPartitions }, (_, number) => executionPartition(number))
    const indexes = new Set(queues.map(({ lane, class: className }) => readyIndex(lane, className)))
    this.#stops = [
      batcher.store.onWake(({ partition, ready }) => {
        if (ready === undefined || ready.some((index) => indexes.has(index))) this.#note(partition)
      }),
      batcher.hints.onReady((partition, index) => {
        if (indexes.has(index)) this.#note(partition)
      }),
    ]
  }

  /** All partitions, from one at random, so that waiting workers do not all drain the same one. */
  get partitions(): readonly Partition[] {
    const start = Math.floor(this.#runtime.random() * this.#all.length)
    return [...this.#all.slice(start), ...this.#all.slice(0, start)]
  }

  /** Returns the partitions to look at next; undefined once the time is over or the signal aborts. */
  async next(ms: number, signal: AbortSignal | undefined): Promise<readonly Partition[] | undefined> {
    if (ms <= 0 || isAborted(signal)) return undefined
    const isLast = ms <= SWEEP_MS
    if (this.#hinted.size === 0) await this.#sleep(Math.min(ms, SWEEP_MS), signal)
    if (isAborted(signal)) return undefined
    const hinted = [...this.#hinted].filter((partition) => this.#all.includes(partition))
    this.#hinted.clear()
    if (hinted.length > 0) return hinted
    return isLast ? undefined : this.partitions
  }

  close(): void {
    for (const stop of this.#stops) stop()
  }

  #note(partition: Partition): void {
    this.#hinted.add(partition)
    this.#wake?.()
  }

  async #sleep(ms: number, signal: AbortSignal | undefined): Promise<void> {
    await new Promise<void>((resolve) => {
      const timer = this.#runtime.after(ms, () => this.#wake?.())
      this.#wake = () => {
        this.#wake = undefined
        timer.cancel()
        signal?.removeEventListener('abort', onAbort)
        resolve()
      }
      const onAbort = () => this.#wake?.()
      signal?.addEventListener('abort', onAbort, { once: true })
    })
  }
}

function isAborted(signal: AbortSignal | undefined): boolean {
  return signal?.aborted === true
}
