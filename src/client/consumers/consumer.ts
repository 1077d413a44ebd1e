/**
 * One process of a durable consumer. It renews its membership, reads the partitions that it gets, and stores how far it has come.
 * At most one live member reads a partition: before a membership lapses, its member stops its handlers.
 */
import { STORE_PARTITION, logPartitions } from '../../stores/partitions.ts'
import { errorFields, sleep } from '../../runtime/index.ts'
import type { Log, Timer } from '../../runtime/index.ts'
import { EngineError } from '../../kernel/engine-error.ts'
import { CONSUMER_ERROR_LENGTH, consumerId } from '../../kernel/index.ts'
import type {
  ConsumerPosition,
  EventFilter,
  NewConsumer,
  RenewConsumerInput,
  RenewConsumerResult,
} from '../../kernel/index.ts'
import type { StoredEvent } from '../../stores/store.ts'
import { scopedFilter } from '../events/event-filter.ts'
import { logStarts } from '../events/log-start.ts'
import type { LogStart, StartOptions } from '../events/log-start.ts'
import type { Session } from '../session.ts'
import {
  CONSUMER_TTL_DEFAULT_MS,
  RETRY_MAX_DEFAULT_MS,
  checkConsumerName,
  consumeOptions,
  consumerFilter,
} from './consumer-options.ts'
import type { ConsumeOptions, ConsumerFilter, ConsumerGap, EventHandler } from './consumer-options.ts'
import { PartitionConsumer } from './partition-consumer.ts'
import type { PartitionListener, PartitionSettings } from './partition-consumer.ts'

/** Progress is stored this often at most: so many events may be handled twice after a crash. */
const STORE_EVERY_MS = 200
const RENEWALS_PER_TTL = 3
/** How long `close` waits for handlers, and then for their progress to be stored. */
const DRAIN_DEFAULT_MS = 30_000
const LEAVE_LIMIT_MS = 5_000

type Renewed = Extract<RenewConsumerResult, { readonly kind: 'consumer_renewed' }>

/** Which events a consumer gets, and where its position is stored. */
export interface ConsumerSource {
  readonly id: string
  readonly name: string
  readonly filter: EventFilter
  readonly exceptTask?: string
  /** The filter is that of this revision: with another one, the consumer ends. Absent: it is created if it does not exist. */
  readonly revision?: number
}

/** Returns the source of a consumer that is a function. */
export function sourceOf(session: Session, name: string, filter: ConsumerFilter): ConsumerSource {
  return {
    id: consumerId(session.namespace, checkConsumerName(name)),
    name,
    filter: scopedFilter(session, consumerFilter(filter)),
  }
}

/** What happened since the last renewal. */
interface Tally {
  handledCount: number
  skippedCount: number
  missedCount: number
}

export class Consumer implements AsyncDisposable {
  readonly name: string
  /** Resolves once it has stopped: after `close`, or because it was deleted. */
  readonly closed: Promise<void>
  readonly #end: () => void
  readonly #session: Session
  readonly #log: Log
  readonly #id: string
  readonly #mayCreate: boolean
  readonly #memberId: string
  readonly #filter: EventFilter
  readonly #settings: PartitionSettings
  readonly #ttlMs: number
  readonly #start: StartOptions
  readonly #onGap: ConsumeOptions['onGap']
  readonly #readers = new Map<number, PartitionConsumer>()
  /** Partitions whose readers stop because they are surrendered. */
  readonly #surrendered = new Set<number>()
  readonly #stored = new Map<number, number>()
  readonly #closing = new AbortController()
  #wake: () => void = () => undefined
  #isWoken = false
  #callNumber = 0
  #revision: number | undefined
  #tally: Tally = newTally()
  #failure: RenewConsumerInput['failure']
  #added: RenewConsumerInput['added']
  #expiry: Timer | undefined
  #drainMs = DRAIN_DEFAULT_MS
  #isCrashed = false

  constructor(session: Session, log: Log, source: ConsumerSource, handle: EventHandler, options: ConsumeOptions) {
    const { fromStart, cursor, concurrency = 1, attempts = Infinity, ...rest } = consumeOptions(options)
    const { retryMax = RETRY_MAX_DEFAULT_MS, ttl = CONSUMER_TTL_DEFAULT_MS, onGap } = rest
    this.name = source.name
    this.#session = session
    this.#log = log
    this.#id = source.id
    this.#mayCreate = source.revision === undefined
    this.#revision = source.revision
    this.#memberId = session.runtime.uuid()
    this.#filter = source.filter
    const wanted = { ...source.filter, exceptTask: source.exceptTask }
    this.#settings = { filter: wanted, handle, concurrency, attempts, retryMaxMs: retryMax }
    this.#ttlMs = ttl
    this.#start = { cursor, fromStart }
    this.#onGap = onGap
    const { promise, resolve } = Promise.withResolvers<undefined>()
    this.closed = promise
    this.#end = () => resolve(undefined)
  }

  /** Creates the consumer if it does not exist, and begins to consume. */
  async start(): Promise<this> {
    try {
      await this.#renew()
    } catch (error) {
      this.#end()
      throw error
    }
    void this.#run()
    return this
  }

  /** Begins no further event, waits for its handlers, stores the progress and leaves the consumer to its other processes. */
  async close({ drainMs = DRAIN_DEFAULT_MS }: { readonly drainMs?: number } = {}): Promise<void> {
    this.#drainMs = drainMs
    this.#closing.abort()
    await this.closed
  }

  /**
   * Ends as a process does that is killed: nothing more is stored, and the membership lapses.
   * @internal
   */
  crash(): void {
    this.#isCrashed = true
    this.#closing.abort()
    void this.#abandonAll()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
  }

  async #run(): Promise<void> {
    const { signal } = this.#closing
    signal.addEventListener('abort', () => this.#notify(), { once: true })
    try {
      do await this.#rest()
      while (!signal.aborted && (await this.#renew()))
      if (!this.#isCrashed) await this.#leave()
    } catch (error) {
      this.#log.error({ consumer: this.name, ...errorFields(error) }, 'a consumer of events failed and has stopped')
      await this.#abandonAll()
    } finally {
      this.#expiry?.cancel()
      this.#end()
    }
  }

  /** Waits until the membership has to be renewed, or there is progress to store. */
  async #rest(): Promise<void> {
    const { runtime } = this.#session
    await sleep(runtime, STORE_EVERY_MS, this.#closing.signal)
    if (this.#isWoken || this.#closing.signal.aborted) return
    const woken = new AbortController()
    this.#wake = () => woken.abort()
    await sleep(runtime, this.#ttlMs / RENEWALS_PER_TTL - STORE_EVERY_MS, woken.signal)
    this.#wake = () => undefined
  }

  #notify(): void {
    this.#isWoken = true
    this.#wake()
  }

  /** Returns false if the consumer was deleted or has another filter. A failure of the store is retried until it answers. */
  async #renew(): Promise<boolean> {
    this.#isWoken = false
    const tally = this.#tally
    this.#tally = newTally()
    const progress = this.#progress()
    const release = [...this.#surrendered].filter((number) => this.#readers.get(number)?.isStopped === true)
    const answer = await this.#call({ progress, release, isLeaving: false, ...tally })
    if (answer === undefined) return this.#closing.signal.aborted
    if (!this.#mayCreate && answer.revision !== this.#revision) return false
    for (const { partition, position } of progress) this.#stored.set(partition, position)
    for (const number of release) this.#forget(number)
    await this.#follow(answer)
    await this.#completeLogs(answer.logCount)
    return true
  }

  /** The logs of workers, lanes and budgets, for a consumer that was created when they were not read. They begin now. */
  async #completeLogs(logCount: number): Promise<void> {
    const { settings, batcher } = this.#session
    this.#added = undefined
    if (logCount >= logPartitions(settings).length) return
    try {
      const positions = (await logStarts(batcher.store, {})).slice(logCount).map(positionOf)
      this.#added = { from: logCount, positions }
    } catch (error) {
      const note = 'could not read the ends of further logs for a consumer of events; trying again at the next renewal'
      this.#log.warn({ consumer: this.name, ...errorFields(error) }, note)
      return
    }
    this.#notify()
  }

  /** Positions that have changed since they were stored. */
  #progress(): ConsumerPosition[] {
    const changed: ConsumerPosition[] = []
    for (const { number: partition, position } of this.#readers.values()) {
      const { sequence, mark } = position
      if (this.#stored.get(partition) !== sequence) changed.push({ partition, position: sequence, mark })
    }
    return changed
  }

  /** Sends one renewal until it is answered. Returns undefined if the consumer was deleted or is closing without an answer. */
  async #call(
    report: Pick<RenewConsumerInput, 'progress' | 'release' | 'isLeaving'> & Tally,
    signal = this.#closing.signal,
  ): Promise<Renewed | undefined> {
    const { runtime } = this.#session
    this.#callNumber += 1
    const input: RenewConsumerInput = {
      ...report,
      consumerId: this.#id,
      memberId: this.#memberId,
      callNumber: this.#callNumber,
      ttlMs: this.#ttlMs,
      dividedCount: this.#session.settings.executionPartitions,
      filter: this.#filter,
      revision: this.#revision,
      failure: this.#failure,
      added: this.#added,
    }
    let create: NewConsumer | undefined
    for (;;) {
      const sentAt = runtime.monotonic()
      try {
        const { result } = await this.#session.runIn(STORE_PARTITION, 'renewConsumer', { ...input, create })
        if (result.kind === 'consumer_renewed') {
          this.#extend(sentAt + this.#ttlMs - runtime.monotonic())
          return result
        }
        if (this.#revision !== undefined || !this.#mayCreate) {
          const note = 'a consumer of events was deleted; this process stops consuming'
          // A webhook is watched by those who deliver.
          if (this.#mayCreate) this.#log.error({ consumer: this.name }, note)
          else this.#log.info({ consumer: this.name }, note)
          this.#revision = undefined
          return undefined
        }
        create = { namespace: this.#session.namespace, name: this.name, positions: await this.#firstPositions() }
      } catch (error) {
        if (signal.aborted) return undefined
        if (error instanceof EngineError && !error.isRetryable) throw error
        this.#log.warn(
          { consumer: this.name, ...errorFields(error) },
          'could not renew a consumer of events; retrying until the store answers',
        )
        await sleep(runtime, this.#ttlMs / RENEWALS_PER_TTL, signal)
      }
    }
  }

  async #firstPositions(): Promise<NewConsumer['positions']> {
    const starts = await logStarts(this.#session.batcher.store, this.#start)
    return starts.map(positionOf)
  }

  /** The handlers stop before the membership lapses. */
  #extend(ms: number): void {
    this.#expiry?.cancel()
    this.#expiry = this.#session.runtime.after(ms, () => {
      this.#expiry = undefined
      this.#log.warn({ consumer: this.name }, 'a consumer of events could not renew in time; other processes continue')
      void this.#abandonAll()
    })
  }

  async #abandonAll(): Promise<void> {
    const readers = [...this.#readers.values()]
    await Promise.all(
      readers.map(async (reader) => {
        await reader.abandon()
        if (this.#readers.get(reader.number) === reader) this.#forget(reader.number)
      }),
    )
  }

  #forget(number: number): void {
    this.#readers.delete(number)
    this.#surrendered.delete(number)
    this.#stored.delete(number)
  }

  /** Starts and stops readers, so that they are those of the partitions that this process owns. */
  async #follow({ revision, owned, surrender }: Renewed): Promise<void> {
    if (this.#revision !== revision && this.#revision !== undefined) await this.#abandonAll()
    this.#revision = revision
    const mine = new Set(owned.map(({ partition }) => partition))
    for (const reader of [...this.#readers.values()]) {
      if (mine.has(reader.number)) continue
      await reader.abandon()
      this.#forget(reader.number)
    }
    // The membership may have lapsed while handlers stopped: then the partitions may have other owners.
    if (this.#expiry === undefined) return
    for (const number of surrender) this.#surrender(number)
    for (const { partition, position, mark } of owned) {
      if (this.#readers.has(partition) || this.#closing.signal.aborted) continue
      this.#stored.set(partition, position)
      const start = { sequence: position, mark }
      const { batcher, runtime } = this.#session
      const parts = { store: batcher.store, runtime }
      const reader = new PartitionConsumer(parts, partition, start, this.#settings, this.#listenerOf(partition))
      this.#readers.set(partition, reader)
    }
  }

  #surrender(number: number): void {
    const reader = this.#readers.get(number)
    if (reader === undefined || this.#surrendered.has(number)) return
    this.#surrendered.add(number)
    void reader.stop().then(() => this.#notify())
  }

  #listenerOf(partition: number): PartitionListener {
    const fields = (event: StoredEvent, error: unknown) => ({
      consumer: this.name,
      partition,
      sequence: event.sequence,
      type: event.type,
      executionId: event.executionId,
      ...errorFields(error),
    })
    return {
      onHandled: () => {
        this.#tally.handledCount += 1
        if (this.#failure?.partition === partition) this.#failure = undefined
        this.#notify()
      },
      onFailed: (event, tryCount, error) => {
        this.#failure = { partition, sequence: event.sequence, tryCount, error: textOf(error) }
        this.#log.warn({ ...fields(event, error), tryCount }, 'a handler of events failed; retrying the event')
        this.#notify()
      },
      onSkipped: (event, error) => {
        this.#tally.skippedCount += 1
        if (this.#failure?.partition === partition) this.#failure = undefined
        this.#log.error(fields(event, error), 'a handler of events failed too often; the event is skipped')
        this.#notify()
      },
      onGap: (gap) => this.#noteGap(gap),
      onTrouble: (error) => this.#log.debug(errorFields(error), 'could not read the event log; retrying'),
      onEnd: (error) => {
        const note = { consumer: this.name, partition, ...errorFields(error) }
        this.#log.error(note, 'a consumer of events cannot read the log; this process stops consuming')
        this.#closing.abort()
      },
    }
  }

  #noteGap(gap: ConsumerGap): void {
    if (gap.kind === 'trimmed') this.#tally.missedCount += gap.missed
    this.#log.warn({ consumer: this.name, ...gap }, 'a consumer of events has missed some: the log lacks them')
    this.#notify()
    try {
      this.#onGap?.(gap)
    } catch (error) {
      this.#log.error({ consumer: this.name, ...errorFields(error) }, 'the function onGap of a consumer failed')
    }
  }

  /** Waits for the handlers for the drain time, and stays a member meanwhile. */
  async #drain(): Promise<void> {
    const { runtime } = this.#session
    const over = new AbortController()
    const timer = runtime.after(this.#drainMs, () => over.abort())
    void Promise.all([...this.#readers.values()].map((reader) => reader.stop())).then(() => over.abort())
    try {
      while (!over.signal.aborted) {
        await sleep(runtime, this.#ttlMs / RENEWALS_PER_TTL, over.signal)
        await this.#stay(over.signal)
      }
    } finally {
      timer.cancel()
    }
  }

  /** Renews the membership, unless the signal has aborted or the consumer was deleted. */
  async #stay(signal: AbortSignal): Promise<void> {
    if (signal.aborted || this.#revision === undefined) return
    const report = { progress: this.#progress(), release: [], isLeaving: false, ...this.#tally }
    this.#tally = newTally()
    await this.#call(report, signal)
  }

  /** Gives the partitions back, with the progress of handlers that return in time. */
  async #leave(): Promise<void> {
    const { runtime } = this.#session
    await this.#drain()
    const progress = this.#progress()
    void this.#abandonAll()
    // One that was deleted, has not joined or has lapsed is no member.
    if (this.#revision === undefined || this.#expiry === undefined) return
    const left = new AbortController()
    const report = { progress, release: [], isLeaving: true, ...this.#tally }
    void this.#call(report, left.signal)
      .catch((error: unknown) =>
        this.#log.debug(errorFields(error), 'could not leave a consumer; it expires by itself'),
      )
      .finally(() => left.abort())
    await sleep(runtime, LEAVE_LIMIT_MS, left.signal)
    left.abort()
  }
}

function positionOf({ position: { sequence, mark } }: LogStart): NewConsumer['positions'][number] {
  return { position: sequence, mark }
}

function newTally(): Tally {
  return { handledCount: 0, skippedCount: 0, missedCount: 0 }
}

function textOf(error: unknown): string {
  return (error instanceof Error ? `${error.name}: ${error.message}` : String(error)).slice(0, CONSUMER_ERROR_LENGTH)
}
