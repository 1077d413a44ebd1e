/**
 * Wake-ups between processes. A process subscribes to work once it has a listener, and to the growth of an event log while it
 * has followers. Messages sent without a subscription are lost, so each new subscription wakes all listeners.
 *
 * In a cluster a process subscribes to each channel on the server of its partition. A server without the channel replies with
 * the address of the right one.
 */
import type { Log, Runtime, Timer } from '../../../runtime/index.ts'
import { errorFields } from '../../../runtime/index.ts'
import { backoffMs } from '../../../runtime/backoff.ts'
import type { Partition, Wake } from '../../store.ts'
import type { Connection } from '../connection/connection.ts'
import type { Keys } from '../layout/keys.ts'
import { Subscriber } from './subscriber.ts'
import { OwnMessages, readWakeMessage } from '../wire/wake-message.ts'
import { movedTo } from '../connection/valkey-error.ts'
import type { ServerAddress } from '../options/valkey-location.ts'

/** How long the subscription to a log outlives its last follower: a log is mostly followed again soon. */
const LINGER_MS = 5_000
/** The longest pause between subscription attempts: listeners depend on wake-ups for latency. */
const RETRY_MAX_MS = 500
const LOST = 'The subscriber connection was lost.'

interface Channel {
  readonly name: string
  readonly partition: Partition
  readonly carries: 'wakes' | 'events'
  /** How many listeners need it. */
  count: number
  state: 'off' | 'subscribing' | 'on'
  /** The connection of the current or latest subscription. */
  subscriber: Subscriber | undefined
  /** The server that a MOVED error named. */
  server: ServerAddress | undefined
  failureCount: number
  retry: Timer | undefined
  linger: Timer | undefined
}

export class WakeChannel {
  readonly #connection: Connection
  readonly #runtime: Runtime
  readonly #log: Log
  readonly #notify: (wake: Wake) => void
  /** Recognises messages that this process has published itself. */
  readonly #own: OwnMessages
  readonly #channels = new Map<string, Channel>()
  readonly #wakeChannels: readonly Channel[]
  readonly #eventChannels = new Map<Partition, Channel>()
  readonly #subscribers = new Map<string, Subscriber>()
  #attempt = 0
  #isClosed = false

  constructor(options: {
    readonly connection: Connection
    readonly keys: Keys
    readonly partitions: readonly Partition[]
    readonly runtime: Runtime
    readonly log: Log
    readonly sender: string
    readonly notify: (wake: Wake) => void
  }) {
    const { keys, partitions } = options
    this.#connection = options.connection
    this.#runtime = options.runtime
    this.#log = options.log
    this.#notify = options.notify
    this.#own = new OwnMessages(options.sender)
    this.#wakeChannels = partitions.map((partition) => this.#add(keys.wakeChannel(partition), partition, 'wakes'))
    for (const partition of partitions) {
      this.#eventChannels.set(partition, this.#add(keys.eventsChannel(partition), partition, 'events'))
    }
  }

  /** Subscribes to wake-ups of all partitions, for the life of the store. */
  listenForWork(): void {
    for (const channel of this.#wakeChannels) {
      channel.count = 1
      this.#turnOn(channel)
    }
  }

  /** Subscribes to the growth of one partition's log until the returned function is called. */
  listenForEvents(partition: Partition): () => void {
    const channel = this.#eventChannels.get(partition)
    if (channel === undefined) return () => undefined
    channel.count += 1
    channel.linger?.cancel()
    this.#turnOn(channel)
    return () => {
      channel.count -= 1
      if (channel.count > 0 || this.#isClosed) return
      channel.linger = this.#runtime.after(LINGER_MS, () => this.#turnOff(channel), { background: true })
    }
  }

  /** Whether the growth of a log is announced to this process. If it ceases to be, listeners are woken. */
  receivesEvents(partition: Partition): boolean {
    return this.#eventChannels.get(partition)?.state === 'on'
  }

  close(): void {
    this.#isClosed = true
    for (const { retry, linger } of this.#channels.values()) {
      retry?.cancel()
      linger?.cancel()
    }
    for (const subscriber of this.#subscribers.values()) subscriber.close()
  }

  #add(name: string, partition: Partition, carries: Channel['carries']): Channel {
    const channel: Channel = {
      name,
      partition,
      carries,
      count: 0,
      state: 'off',
      subscriber: undefined,
      server: undefined,
      failureCount: 0,
      retry: undefined,
      linger: undefined,
    }
    this.#channels.set(name, channel)
    return channel
  }

  #turnOn(channel: Channel): void {
    if (channel.state !== 'off' || channel.count === 0 || this.#isClosed) return
    channel.retry?.cancel()
    channel.state = 'subscribing'
    void this.#subscribe(channel)
  }

  async #subscribe(channel: Channel): Promise<void> {
    const subscriber = this.#subscriberFor(channel)
    channel.subscriber = subscriber
    try {
      await subscriber.subscribe(channel.name)
    } catch (error) {
      this.#fail(channel, error)
      return
    }
    if (this.#isClosed) return
    // The connection can be lost in the same turn in which it answered.
    if (subscriber.isLost) {
      this.#fail(channel, new Error(LOST))
      return
    }
    channel.state = 'on'
    channel.failureCount = 0
    this.#wakeAll(channel)
    this.#turnOff(channel)
  }

  /** Unsubscribes if no listener is left. */
  #turnOff(channel: Channel): void {
    if (channel.count > 0 || channel.state !== 'on' || this.#isClosed) return
    channel.state = 'off'
    channel.subscriber?.unsubscribe(channel.name).catch((error: unknown) => {
      this.#log.debug({ channel: channel.name, ...errorFields(error) }, 'could not unsubscribe from a channel')
    })
  }

  /** Retries at once if the error names another server, else after a pause. */
  #fail(channel: Channel, error: unknown): void {
    channel.state = 'off'
    channel.server = movedTo(error)
    channel.failureCount += 1
    if (this.#isClosed) return
    this.#log.debug({ channel: channel.name, ...errorFields(error) }, 'could not subscribe to a channel; retrying')
    const isFirstRedirect = channel.server !== undefined && channel.failureCount === 1
    // Readers that relied on the channel look by themselves from now on.
    if (channel.carries === 'events' && !isFirstRedirect && channel.failureCount <= 2) this.#wakeAll(channel)
    const waitMs = isFirstRedirect ? 0 : Math.min(RETRY_MAX_MS, backoffMs(this.#runtime, channel.failureCount))
    channel.retry = this.#runtime.after(waitMs, () => this.#turnOn(channel), { background: true })
  }

  /** Channels of one server share a connection. If the server is unknown, each try goes to another one. */
  #subscriberFor(channel: Channel): Subscriber {
    const server = channel.server ?? this.#connection.primary(this.#attempt++)
    const name = `${server.host} ${server.port}`
    const existing = this.#subscribers.get(name)
    if (existing !== undefined) return existing
    const subscriber: Subscriber = new Subscriber(this.#connection.openSubscription(server), this.#runtime, {
      onMessage: (from, message) => this.#receive(from, message),
      onMoved: () => this.#resubscribe(subscriber),
      onLost: () => {
        this.#subscribers.delete(name)
        this.#failAll(subscriber)
      },
    })
    this.#subscribers.set(name, subscriber)
    return subscriber
  }

  #failAll(subscriber: Subscriber): void {
    for (const channel of this.#channelsOf(subscriber)) this.#fail(channel, new Error(LOST))
  }

  /** A repeated subscribe is harmless. For a channel that has moved, the reply names its server. */
  #resubscribe(subscriber: Subscriber): void {
    for (const channel of this.#channelsOf(subscriber)) {
      channel.state = 'off'
      this.#turnOn(channel)
    }
  }

  #channelsOf(subscriber: Subscriber): Channel[] {
    const channels = [...this.#channels.values()]
    return channels.filter((channel) => channel.state === 'on' && channel.subscriber === subscriber)
  }

  #receive(name: string, message: Buffer): void {
    const channel = this.#channels.get(name)
    if (channel === undefined || this.#isClosed || this.#own.has(message)) return
    const wake = readWakeMessage(channel.partition, message)
    // A message of another version still shows that something changed.
    if (wake === undefined) this.#wakeAll(channel)
    else this.#notify(wake)
  }

  #wakeAll({ partition, carries }: Channel): void {
    if (carries === 'events') this.#notify({ partition, ready: [], hasEvents: true, holdersOf: [] })
    else this.#notify({ partition, hasEvents: false })
  }
}
