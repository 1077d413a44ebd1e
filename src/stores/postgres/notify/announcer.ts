/**
 * Notifies other processes of this process's commits. Wake-ups are sent outside the transactions, so no commit waits
 * for one: the first at once, later ones coalesced. A wake-up that cannot be sent is lost; other processes then find
 * the work when they poll.
 */
import { endWithin, errorFields } from '../../../runtime/index.ts'
import type { Log, Runtime, Timer } from '../../../runtime/index.ts'
import type { Partition, Wake } from '../../store.ts'
import { changedPayload } from './notify-payload.ts'

/**
 * Interval between notifications. Notifications of all processes are committed one by one, so each delays the others.
 */
const INTERVAL_MS = 20
/** Limit of names of one kind in a wake-up. Above it the wake-up names only the partition. */
const NAMES_MAX = 100
/** How long closing waits for the last notifications. */
const CLOSE_WAIT_MS = 500

export class Announcer {
  readonly #runtime: Runtime
  readonly #log: Log
  readonly #sender: string
  readonly #notify: (payload: string) => Promise<unknown>
  /** Wake-ups to send, coalesced per partition. */
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
    // Partitions that share a transaction are announced one by one and sent together.
    this.#runtime.soon(() => {
      this.#isScheduled = false
      this.#sendWhenDue()
    })
  }

  /** Sends the remaining wake-ups within a short time, and nothing afterwards. */
  async close(): Promise<void> {
    this.#isClosed = true
    this.#timer?.cancel()
    await endWithin(this.#runtime, CLOSE_WAIT_MS, this.#sendRest())
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
      this.#log.debug(errorFields(error), 'could not send a wake-up; other processes find the work when they poll')
    }
  }

  async #sendRest(): Promise<void> {
    await this.#sending
    if (this.#waiting.size > 0) await this.#send()
  }
}

/** Drops `growth`: payloads of NOTIFY are limited to 8 kB, and several writes are coalesced into one. */
function merge(earlier: Wake, later: Wake): Wake {
  const grown = union(earlier.grown ?? [], later.grown ?? [])
  const wake = {
    partition: later.partition,
    ready: union(earlier.ready, later.ready),
    dueAt: earliest(earlier.dueAt, later.dueAt),
    // Unknown growth is that of unknown events.
    hasEvents: earlier.hasEvents || later.hasEvents || grown === undefined,
    holdersOf: union(earlier.holdersOf, later.holdersOf),
  }
  return grown === undefined || grown.length === 0 ? wake : { ...wake, grown }
}

/** Returns undefined, which means all names, if either is undefined or if there are too many names. */
function union<T>(one: readonly T[] | undefined, other: readonly T[] | undefined): readonly T[] | undefined {
  if (one === undefined || other === undefined) return undefined
  const names = new Set([...one, ...other])
  return names.size > NAMES_MAX ? undefined : [...names]
}

function earliest(one: number | undefined, other: number | undefined): number | undefined {
  if (one === undefined || other === undefined) return one ?? other
  return Math.min(one, other)
}
