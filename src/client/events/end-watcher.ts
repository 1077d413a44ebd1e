/**
 * Notifies waiters when executions or flows end. One event reader per partition serves all waiters, and lingers for a moment
 * after the last one. Wake-ups that carry log growth are used instead of reading the log; gaps are filled from the log.
 * Notifications are hints: callers read the record again.
 */
import { eventTypes, isEndEvent } from '../../kernel/index.ts'
import type { ExecutionId, FlowId } from '../../kernel/index.ts'
import type { Runtime, Timer } from '../../runtime/index.ts'
import { EngineError } from '../../kernel/engine-error.ts'
import type { Partition, Store } from '../../stores/store.ts'
import { EventReader } from './event-reader.ts'
import type { WakeFilter } from './event-reader.ts'
import { partitionOf } from '../transport/ids.ts'
import { retryWhileUnavailable } from '../transport/retry-unavailable.ts'

/**
 * `expected`: a call that should end it is about to be sent by this process. `ended`: it has ended. `gap`: events were lost,
 * possibly the one of its end. An error: no further notifications follow, and the wait fails.
 */
export type EndNews = 'expected' | 'ended' | 'gap' | EngineError

export type EndListener = (news: EndNews) => void

/** Only ends are needed. */
const END_HINT = { types: eventTypes.filter(isEndEvent), texts: [] }
/** How long a reader stays open without waiters, so that the next wait finds it running. */
const LINGER_MS = 500
/** Ends that a watch remembers, for callers that wait for what they have just submitted. */
const RECENT_COUNT = 1_000

interface Watch {
  readonly waiting: Map<string, Set<EndListener>>
  readonly abort: AbortController
  readonly isReady: Promise<void>
  /** Whether every later end is observed. */
  isFollowing: boolean
  /** A ring buffer of the ids that ended last. */
  readonly recent: string[]
  endedCount: number
  /** The value of `endedCount` at the last gap. */
  lostAt: number
  /** Runs while there are no waiters. */
  linger: Timer | undefined
}

/** A point in the ends that a watch has observed. */
export interface EndMoment {
  readonly watch: object
  readonly endedCount: number
}

/** A registered waiter. */
export interface EndWatch {
  /** Once it resolves, no end can be missed. */
  readonly isReady: Promise<void>
  /** Whether it is known not to have ended since the given moment. */
  readonly isUnended: boolean
  readonly stop: () => void
}

export class EndWatcher {
  readonly #store: Store
  readonly #runtime: Runtime
  readonly #watches = new Map<Partition, Watch>()

  constructor(store: Store, runtime: Runtime) {
    this.#store = store
    this.#runtime = runtime
  }

  /** Returns the current moment, if the ends of a partition are followed. */
  momentIn(partition: Partition): EndMoment | undefined {
    const watch = this.#watches.get(partition)
    return watch?.isFollowing === true ? { watch, endedCount: watch.endedCount } : undefined
  }

  /** Notifies the waiters of an execution that its end is expected. */
  expect(partition: Partition, id: ExecutionId): void {
    const watch = this.#watches.get(partition)
    if (watch !== undefined) notifyWaiters(watch, id, 'expected')
  }

  /** Registers a waiter. `since` is a moment before the execution or flow existed, so it can only have ended after that. */
  watch(id: ExecutionId | FlowId, notify: EndListener, since?: EndMoment): EndWatch {
    const partition = partitionOf(id)
    const watch = this.#watches.get(partition) ?? this.#start(partition)
    watch.linger?.cancel()
    const waiting = watch.waiting.get(id) ?? new Set()
    waiting.add(notify)
    watch.waiting.set(id, waiting)
    return {
      isReady: watch.isReady,
      isUnended: since !== undefined && isUnended(watch, id, since),
      stop: () => {
        waiting.delete(notify)
        if (waiting.size === 0 && watch.waiting.get(id) === waiting) watch.waiting.delete(id)
        if (watch.waiting.size === 0) this.#linger(partition, watch)
      },
    }
  }

  close(): void {
    for (const [partition, watch] of this.#watches) this.#giveUp(partition, watch, new EngineError('fabric_closed'))
  }

  #giveUp(partition: Partition, watch: Watch, failure: EngineError): void {
    this.#stop(partition, watch)
    for (const id of [...watch.waiting.keys()]) notifyWaiters(watch, id, failure)
  }

  #start(partition: Partition): Watch {
    const abort = new AbortController()
    const readEnd = () => this.#store.readEvents(partition, Number.MAX_SAFE_INTEGER, 1)
    const position = retryWhileUnavailable(this.#runtime, readEnd).then((page) => page.lastSequence)
    const watch: Watch = {
      waiting: new Map(),
      abort,
      isReady: position.then(() => undefined),
      isFollowing: false,
      recent: [],
      endedCount: 0,
      lostAt: 0,
      linger: undefined,
    }
    this.#watches.set(partition, watch)
    position
      .then((start) => this.#follow(partition, watch, start))
      .catch((error: unknown) => this.#giveUp(partition, watch, asEngineError(error)))
    return watch
  }

  #linger(partition: Partition, watch: Watch): void {
    if (watch.abort.signal.aborted) return
    watch.linger = this.#runtime.after(LINGER_MS, () => this.#stop(partition, watch), { background: true })
  }

  #stop(partition: Partition, watch: Watch): void {
    watch.linger?.cancel()
    watch.abort.abort()
    if (this.#watches.get(partition) === watch) this.#watches.delete(partition)
  }

  async #follow(partition: Partition, watch: Watch, start: number): Promise<void> {
    const isToBeRead: WakeFilter = ({ growth }) => {
      if (growth === undefined) return true
      for (const id of growth.ended) notifyEnded(watch, id)
      return !reader.skip(growth)
    }
    const settings = { isToBeRead, hint: END_HINT }
    const reader: EventReader = new EventReader(this.#store, this.#runtime, partition, start, settings)
    const { signal } = watch.abort
    watch.isFollowing = true
    try {
      for (;;) {
        const page = await reader.next(signal)
        if (page === undefined) return
        const isTrimmed = page.firstSequence > reader.position + 1
        if (isTrimmed) notifyGap(watch)
        // An event of a flow has the flow's id as its executionId.
        for (const event of page.events) if (isEndEvent(event.type)) notifyEnded(watch, event.executionId)
        reader.advance(page)
      }
    } finally {
      reader.close()
    }
  }
}

function notifyEnded(watch: Watch, id: string): void {
  watch.recent[watch.endedCount % RECENT_COUNT] = id
  watch.endedCount += 1
  notifyWaiters(watch, id, 'ended')
}

function notifyGap(watch: Watch): void {
  watch.endedCount += 1
  watch.lostAt = watch.endedCount
  for (const id of [...watch.waiting.keys()]) notifyWaiters(watch, id, 'gap')
}

/** Whether all ends since a moment are remembered, and this id is not among them. */
function isUnended(watch: Watch, id: string, since: EndMoment): boolean {
  const { endedCount, recent } = watch
  if (since.watch !== watch || since.endedCount < watch.lostAt) return false
  if (endedCount - since.endedCount > RECENT_COUNT) return false
  for (let number = since.endedCount; number < endedCount; number++) {
    if (recent[number % RECENT_COUNT] === id) return false
  }
  return true
}

function notifyWaiters(watch: Watch, id: string, news: EndNews): void {
  for (const notify of watch.waiting.get(id) ?? []) notify(news)
}

function asEngineError(error: unknown): EngineError {
  return error instanceof EngineError ? error : new EngineError('store_unavailable', {}, { cause: error })
}
