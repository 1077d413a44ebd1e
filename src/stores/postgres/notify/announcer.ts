/**
 * Tells other processes what this one has changed. Wake-ups go out beside the transactions that they speak of, so that no
 * commit waits for one: the first at once, those that come soon after it together. One that cannot be sent is lost;
 * whoever misses it finds the work when he next looks for himself.
 */
import { errorFields, sleep } from '../../../runtime/index.ts'
import type { Log, Runtime, Timer } from '../../../runtime/index.ts'
import type { Partition, Wake } from '../../store.ts'
import { changedPayload } from './notify-payload.ts'

/** From one notice to the next. Notices of all processes are committed one after the other, so each costs all of them. */
const INTERVAL_MS = 20
/** Names of one kind that are kept of a partition; beyond them it is enough to say where to look. */
const NAMES_MAX = 100
/** How long somebody who closes waits for the last notices to go out. */
const CLOSE_WAIT_MS = 500

export class Announcer {
  readonly #runtime: Runtime
  readonly #log: Log
  readonly #sender: string
  readonly #notify: (payload: string) => Promise<unknown>
  /** What is still to be told, at most one wake-up of each partition. */
  readonly #waiting = new Map<Partition, Wake>()
  #isScheduled = false
  #timer: Timer | undefined
  #sending: Promise<void> | undefined
  #sentAt = -INTERVAL_MS
  #isClosed = false

  constructor(options: {
    readonly runtime: Runtime
    readonly log: Log
    readonly sender: string
    readonly notify: (payload: string) => Promise<unknown>
  }) {
    this.#runtime = options.runtime
    this.#log = options.log
    this.#sender = options.sender
    this.#notify = options.notify
  }

  announce(wake: Wake): void {
    if (this.#isClosed) return
    const earlier = this.#waiting.get(wake.partition)
    this.#waiting.set(wake.partition, merge(earlier ?? wake, wake))
    if (this.#isScheduled) return
    this.#isScheduled = true
    // Partitions that share a transaction are told one by one, and go together.
    this.#runtime.soon(() => {
      this.#isScheduled = false
      this.#sendWhenDue()
    })
  }

  /** Tells what is still to be told, as far as it can be told in a short time, and nothing afterwards. */
  async close(): Promise<void> {
    this.#isClosed = true
    this.#timer?.cancel()
    const sent = new AbortController()
    void this.#sendRest().then(() => sent.abort())
    await sleep(this.#runtime, CLOSE_WAIT_MS, sent.signal)
  }

  #sendWhenDue(): void {
    if (this.#waiting.size === 0 || this.#sending !== undefined || this.#timer !== undefined || this.#isClosed) return
    const waitMs = this.#sentAt + INTERVAL_MS - this.#runtime.monotonic()
    if (waitMs <= 0) {
      void this.#send()
      return
    }
    const onDue = () => {
      this.#timer = undefined
      this.#sendWhenDue()
    }
    this.#timer = this.#runtime.after(waitMs, onDue, { background: true })
  }

  #send(): Promise<void> {
    const payload = changedPayload(this.#sender, [...this.#waiting.values()])
    this.#waiting.clear()
    this.#sentAt = this.#runtime.monotonic()
    this.#sending = this.#try(payload).then(() => {
      this.#sending = undefined
      this.#sendWhenDue()
    })
    return this.#sending
  }

  async #try(payload: string): Promise<void> {
    try {
      await this.#notify(payload)
    } catch (error) {
      this.#log.debug(errorFields(error), 'a wake-up could not be sent')
    }
  }

  async #sendRest(): Promise<void> {
    await this.#sending
    if (this.#waiting.size > 0) await this.#send()
  }
}

/** By what the log grew is left out: a notice has little room, and several writes are told of in one. */
function merge(earlier: Wake, later: Wake): Wake {
  return {
    partition: later.partition,
    ready: union(earlier.ready, later.ready),
    dueAt: earliest(earlier.dueAt, later.dueAt),
    hasEvents: earlier.hasEvents || later.hasEvents,
    holdersOf: union(earlier.holdersOf, later.holdersOf),
  }
}

/** Undefined, which means all of them, if either is or if there are too many to name. */
function union<T>(one: readonly T[] | undefined, other: readonly T[] | undefined): readonly T[] | undefined {
  if (one === undefined || other === undefined) return undefined
  const names = new Set([...one, ...other])
  return names.size > NAMES_MAX ? undefined : [...names]
}

function earliest(one: number | undefined, other: number | undefined): number | undefined {
  if (one === undefined || other === undefined) return one ?? other
  return Math.min(one, other)
}
