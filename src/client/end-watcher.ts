/**
 * Tells many waiting callers when their executions end, from one reader per partition however many wait. A reader runs
 * only while somebody waits. Being told is a hint: the caller reads the execution to know.
 */
import type { ExecutionId } from '../kernel/index.ts'
import type { Runtime } from '../runtime/index.ts'
import type { Partition, Store } from '../stores/store.ts'
import { EventReader } from './event-reader.ts'
import { partitionOf } from './ids.ts'

interface Watch {
  readonly waiting: Map<ExecutionId, Set<() => void>>
  readonly abort: AbortController
  readonly isReady: Promise<void>
}

/** How long a reader pauses after the store failed it. */
const RETRY_AFTER_FAILURE_MS = 250

export class EndWatcher {
  readonly #store: Store
  readonly #runtime: Runtime
  readonly #watches = new Map<Partition, Watch>()

  constructor(store: Store, runtime: Runtime) {
    this.#store = store
    this.#runtime = runtime
  }

  /** Registers interest; once `isReady` resolves, no end can be missed any more. */
  watch(id: ExecutionId, notify: () => void): { readonly isReady: Promise<void>; readonly stop: () => void } {
    const partition = partitionOf(id)
    const watch = this.#watches.get(partition) ?? this.#start(partition)
    const waiting = watch.waiting.get(id) ?? new Set()
    waiting.add(notify)
    watch.waiting.set(id, waiting)
    return {
      isReady: watch.isReady,
      stop: () => {
        waiting.delete(notify)
        if (waiting.size === 0 && watch.waiting.get(id) === waiting) watch.waiting.delete(id)
        if (watch.waiting.size === 0) this.#stop(partition, watch)
      },
    }
  }

  close(): void {
    for (const [partition, watch] of this.#watches) {
      this.#stop(partition, watch)
      for (const waiting of watch.waiting.values()) for (const notify of waiting) notify()
    }
  }

  #start(partition: Partition): Watch {
    const abort = new AbortController()
    const position = this.#store.readEvents(partition, Number.MAX_SAFE_INTEGER, 1).then((page) => page.lastSequence)
    const watch: Watch = { waiting: new Map(), abort, isReady: position.then(() => undefined) }
    this.#watches.set(partition, watch)
    // A caller that waits meets the failure itself through `isReady`.
    position.then((start) => this.#follow(partition, watch, start)).catch(() => this.#stop(partition, watch))
    return watch
  }

  #stop(partition: Partition, watch: Watch): void {
    watch.abort.abort()
    if (this.#watches.get(partition) === watch) this.#watches.delete(partition)
  }

  async #follow(partition: Partition, watch: Watch, start: number): Promise<void> {
    const reader = new EventReader(this.#store, this.#runtime, partition, start)
    const { signal } = watch.abort
    try {
      while (!signal.aborted) {
        try {
          const page = await reader.next(signal)
          if (page === undefined) return
          const isTrimmed = page.firstSequence > reader.position + 1
          if (isTrimmed) for (const id of [...watch.waiting.keys()]) tell(watch, id)
          for (const event of page.events) if (event.type === 'execution_ended') tell(watch, event.executionId)
          reader.advance(page)
        } catch {
          await new Promise<void>((resolve) =>
            this.#runtime.after(RETRY_AFTER_FAILURE_MS, resolve, { background: true }),
          )
        }
      }
    } finally {
      reader.close()
    }
  }
}

function tell(watch: Watch, id: ExecutionId): void {
  for (const notify of watch.waiting.get(id) ?? []) notify()
}
