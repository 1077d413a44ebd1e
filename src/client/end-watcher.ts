/**
 * Tells many waiting callers when their executions and flows end, from one reader per partition however many wait. A reader runs
 * only while somebody waits. Being told is a hint: the caller reads the record to know.
 */
import type { EventType, ExecutionId, FlowId } from '../kernel/index.ts'
import type { Runtime } from '../runtime/index.ts'
import { EngineError } from '../stores/engine-error.ts'
import type { Partition, Store } from '../stores/store.ts'
import { EventReader } from './event-reader.ts'
import { partitionOf } from './ids.ts'
import { repeatWhileUnavailable } from './repetition.ts'

/**
 * `ended`: it has ended. `gap`: events were lost, that of its end may have been among them. A failure: nothing more will
 * be told, and whoever still waits has to give up.
 */
export type EndNews = 'ended' | 'gap' | EngineError

export type EndListener = (news: EndNews) => void

/** The events of a flow bear its id where those of an execution bear the execution's. */
const ENDS: readonly EventType[] = ['execution_ended', 'flow_ended', 'flow_cancelled']

interface Watch {
  readonly waiting: Map<string, Set<EndListener>>
  readonly abort: AbortController
  readonly isReady: Promise<void>
}

export class EndWatcher {
  readonly #store: Store
  readonly #runtime: Runtime
  readonly #watches = new Map<Partition, Watch>()

  constructor(store: Store, runtime: Runtime) {
    this.#store = store
    this.#runtime = runtime
  }

  /** Registers interest; once `isReady` resolves, no end can be missed any more. */
  watch(id: ExecutionId | FlowId, notify: EndListener): { readonly isReady: Promise<void>; readonly stop: () => void } {
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
    for (const [partition, watch] of this.#watches) this.#giveUp(partition, watch, new EngineError('fabric_closed'))
  }

  #giveUp(partition: Partition, watch: Watch, failure: EngineError): void {
    this.#stop(partition, watch)
    for (const id of [...watch.waiting.keys()]) tell(watch, id, failure)
  }

  #start(partition: Partition): Watch {
    const abort = new AbortController()
    const readEnd = () => this.#store.readEvents(partition, Number.MAX_SAFE_INTEGER, 1)
    const position = repeatWhileUnavailable(this.#runtime, readEnd).then((page) => page.lastSequence)
    const watch: Watch = { waiting: new Map(), abort, isReady: position.then(() => undefined) }
    this.#watches.set(partition, watch)
    position
      .then((start) => this.#follow(partition, watch, start))
      .catch((error: unknown) => this.#giveUp(partition, watch, asEngineError(error)))
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
      for (;;) {
        const page = await reader.next(signal)
        if (page === undefined) return
        const isTrimmed = page.firstSequence > reader.position + 1
        if (isTrimmed) for (const id of [...watch.waiting.keys()]) tell(watch, id, 'gap')
        for (const event of page.events) if (ENDS.includes(event.type)) tell(watch, event.executionId, 'ended')
        reader.advance(page)
      }
    } finally {
      reader.close()
    }
  }
}

function tell(watch: Watch, id: string, news: EndNews): void {
  for (const notify of watch.waiting.get(id) ?? []) notify(news)
}

function asEngineError(error: unknown): EngineError {
  return error instanceof EngineError ? error : new EngineError('store_unavailable', {}, { cause: error })
}
