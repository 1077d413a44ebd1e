/**
 * Tells many waiting callers when their executions and flows end, from one reader per partition however many wait. A reader runs
 * while somebody waits, and a moment longer: most often somebody waits again. Where a wake-up says what has ended, the log is not read for it; what no wake-up has told of is
 * found in the log. Being told is a hint: the caller reads the record to know.
 */
import { isEndEvent } from '../../kernel/index.ts'
import type { ExecutionId, FlowId } from '../../kernel/index.ts'
import type { Runtime, Timer } from '../../runtime/index.ts'
import { EngineError } from '../../kernel/engine-error.ts'
import type { Partition, Store } from '../../stores/store.ts'
import { EventReader } from './event-reader.ts'
import { partitionOf } from '../transport/ids.ts'
import { repeatWhileUnavailable } from '../transport/retry-unavailable.ts'

/**
 * `expected`: a call that should end it is about to be sent from here. `ended`: it has ended. `gap`: events were lost, that
 * of its end may have been among them. A failure: nothing more will be told, and whoever still waits has to give up.
 */
export type EndNews = 'expected' | 'ended' | 'gap' | EngineError

export type EndListener = (news: EndNews) => void

/** How long a reader goes on when nobody waits any more, so that who waits again soon need not begin anew. */
const LINGER_MS = 500
/** Ends that a watch remembers, for those who begin to wait for what they have just submitted. */
const RECENT_COUNT = 1_000

interface Watch {
  readonly waiting: Map<string, Set<EndListener>>
  readonly abort: AbortController
  readonly isReady: Promise<void>
  /** Whether every end from now on is noticed. */
  isFollowing: boolean
  /** What has ended lately, each at its number modulo the length. */
  readonly recent: string[]
  endedCount: number
  /** How many had ended when ends were last lost. */
  lostAt: number
  /** Runs while nobody waits. */
  linger: Timer | undefined
}

/** A point in what a watch has heard. */
export interface EndMoment {
  readonly watch: object
  readonly endedCount: number
}

/** One who waits for an end. */
export interface EndWatch {
  /** Once it resolves, no end can be missed any more. */
  readonly isReady: Promise<void>
  /** Whether it is known not to have ended between the moment that was given and now. */
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

  /** The present moment, if the ends of a partition are being followed. */
  momentIn(partition: Partition): EndMoment | undefined {
    const watch = this.#watches.get(partition)
    return watch?.isFollowing === true ? { watch, endedCount: watch.endedCount } : undefined
  }

  /** Tells those who wait for an execution that its end is on its way. */
  expect(partition: Partition, id: ExecutionId): void {
    const watch = this.#watches.get(partition)
    if (watch !== undefined) tell(watch, id, 'expected')
  }

  /** Registers interest. What did not exist before a moment that is given can only have ended since. */
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
    for (const id of [...watch.waiting.keys()]) tell(watch, id, failure)
  }

  #start(partition: Partition): Watch {
    const abort = new AbortController()
    const readEnd = () => this.#store.readEvents(partition, Number.MAX_SAFE_INTEGER, 1)
    const position = repeatWhileUnavailable(this.#runtime, readEnd).then((page) => page.lastSequence)
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
    const reader: EventReader = new EventReader(
      this.#store,
      this.#runtime,
      partition,
      start,
      undefined,
      ({ growth }) => {
        if (growth === undefined) return true
        for (const id of growth.ended) tellEnded(watch, id)
        return !reader.skip(growth)
      },
    )
    const { signal } = watch.abort
    watch.isFollowing = true
    try {
      for (;;) {
        const page = await reader.next(signal)
        if (page === undefined) return
        const isTrimmed = page.firstSequence > reader.position + 1
        if (isTrimmed) tellGap(watch)
        // The events of a flow bear its id where those of an execution bear the execution's.
        for (const event of page.events) if (isEndEvent(event.type)) tellEnded(watch, event.executionId)
        reader.advance(page)
      }
    } finally {
      reader.close()
    }
  }
}

function tellEnded(watch: Watch, id: string): void {
  watch.recent[watch.endedCount % RECENT_COUNT] = id
  watch.endedCount += 1
  tell(watch, id, 'ended')
}

function tellGap(watch: Watch): void {
  watch.endedCount += 1
  watch.lostAt = watch.endedCount
  for (const id of [...watch.waiting.keys()]) tell(watch, id, 'gap')
}

/** Whether all ends since a moment are remembered, and this is not among them. */
function isUnended(watch: Watch, id: string, since: EndMoment): boolean {
  const { endedCount, recent } = watch
  if (since.watch !== watch || since.endedCount < watch.lostAt) return false
  if (endedCount - since.endedCount > RECENT_COUNT) return false
  for (let number = since.endedCount; number < endedCount; number++) {
    if (recent[number % RECENT_COUNT] === id) return false
  }
  return true
}

function tell(watch: Watch, id: string, news: EndNews): void {
  for (const notify of watch.waiting.get(id) ?? []) notify(news)
}

function asEngineError(error: unknown): EngineError {
  return error instanceof EngineError ? error : new EngineError('store_unavailable', {}, { cause: error })
}
