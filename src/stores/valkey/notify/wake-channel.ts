/**
 * Wake-ups between processes. A process listens for work only once somebody here wants it, and to the growth of an event
 * log only while somebody follows it. What was sent while nobody could listen is lost, so whenever the listening begins,
 * or begins again, everyone is told to look.
 *
 * In a cluster each channel is heard from the server that has its partition. Which one that is, the servers say: one that
 * is asked for a channel it does not have names the one that has it.
 */
import type { Log, Runtime, Timer } from '../../../runtime/index.ts'
import { errorFields } from '../../../runtime/index.ts'
import { backoffMs } from '../../server/backoff.ts'
import { executionPartition } from '../../store.ts'
import type { Partition, Wake } from '../../store.ts'
import type { Connection } from '../connection/connection.ts'
import type { Keys } from '../layout/keys.ts'
import { Subscriber } from './subscriber.ts'
import { OwnMessages, readWakeMessage } from '../wire/wake-message.ts'
import { movedTo } from '../connection/valkey-error.ts'
import type { ServerAddress } from '../options/valkey-location.ts'

/** A log that nobody follows any more is listened to a little longer: most often somebody follows it again. */
const LINGER_MS = 5_000
/** Whoever waits for a wake-up must not wait long for somebody to hear it. */
const RETRY_MAX_MS = 500
const LOST = 'The connection that listens was lost.'

interface Channel {
  readonly name: string
  readonly partition: Partition
  readonly carries: 'wakes' | 'events'
  /** How many listeners want it. */
  count: number
  state: 'off' | 'subscribing' | 'on'
  /** Where it is heard, or was asked for last. */
  subscriber: Subscriber | undefined
  /** The server that has it, by the word of another. */
  server: ServerAddress | undefined
  failureCount: number
  retry: Timer | undefined
  linger: Timer | undefined
}

export class WakeChannel {
  readonly #connection: Connection
  readonly #runtime: Runtime
  readonly #log: Log
  readonly #tell: (wake: Wake) => void
  /** What this process says to the others begins with this, and comes back to it as well. */
  readonly #own: OwnMessages
  readonly #channels = new Map<string, Channel>()
  readonly #wakeChannels: readonly Channel[]
  readonly #eventChannels = new Map<Partition, Channel>()
  readonly #subscribers = new Map<string, Subscriber>()
  #turn = 0
  #isClosed = false

  constructor(options: {
    readonly connection: Connection
    readonly keys: Keys
    readonly partitionCount: number
    readonly runtime: Runtime
    readonly log: Log
    readonly sender: string
    readonly tell: (wake: Wake) => void
  }) {
    const { keys, partitionCount } = options
    this.#connection = options.connection
    this.#runtime = options.runtime
    this.#log = options.log
    this.#tell = options.tell
    this.#own = new OwnMessages(options.sender)
    const partitions = Array.from({ length: partitionCount }, (_, number) => executionPartition(number))
    this.#wakeChannels = partitions.map((partition) => this.#add(keys.wakeChannel(partition), partition, 'wakes'))
    for (const partition of partitions) {
      this.#eventChannels.set(partition, this.#add(keys.eventsChannel(partition), partition, 'events'))
    }
  }

  /** Listens for work anywhere, from now on. */
  listenForWork(): void {
    for (const channel of this.#wakeChannels) {
      channel.count = 1
      this.#turnOn(channel)
    }
  }

  /** Listens to the growth of one partition's log until the answer is called. */
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
    this.#tellToLook(channel)
    this.#turnOff(channel)
  }

  /** One that nobody wants any more is left, once it is on. */
  #turnOff(channel: Channel): void {
    if (channel.count > 0 || channel.state !== 'on' || this.#isClosed) return
    channel.state = 'off'
    channel.subscriber?.unsubscribe(channel.name).catch((error: unknown) => {
      this.#log.debug({ channel: channel.name, ...errorFields(error) }, 'a channel could not be left')
    })
  }

  /** Another server is asked at once if one was named, or else after a while. */
  #fail(channel: Channel, error: unknown): void {
    channel.state = 'off'
    channel.server = movedTo(error)
    channel.failureCount += 1
    if (this.#isClosed) return
    this.#log.debug(
      { channel: channel.name, ...errorFields(error) },
      'a channel cannot be listened to; it is tried again',
    )
    const isFirstWord = channel.server !== undefined && channel.failureCount === 1
    const waitMs = isFirstWord ? 0 : Math.min(RETRY_MAX_MS, backoffMs(this.#runtime, channel.failureCount))
    channel.retry = this.#runtime.after(waitMs, () => this.#turnOn(channel), { background: true })
  }

  /** Those of one server share a connection. Where nobody knows the right server, each try goes to another one. */
  #subscriberFor(channel: Channel): Subscriber {
    const server = channel.server ?? this.#connection.primary(this.#turn++)
    const name = `${server.host} ${server.port}`
    const existing = this.#subscribers.get(name)
    if (existing !== undefined) return existing
    const subscriber: Subscriber = new Subscriber(this.#connection.openSubscription(server), this.#runtime, {
      onMessage: (from, message) => this.#hear(from, message),
      onMoved: () => this.#askAgain(subscriber),
      onLost: () => {
        this.#subscribers.delete(name)
        this.#beginAgain(subscriber)
      },
    })
    this.#subscribers.set(name, subscriber)
    return subscriber
  }

  #beginAgain(subscriber: Subscriber): void {
    for (const channel of this.#heardBy(subscriber)) this.#fail(channel, new Error(LOST))
  }

  /** Asking twice for a channel does no harm; for one that has moved, the answer says where. */
  #askAgain(subscriber: Subscriber): void {
    for (const channel of this.#heardBy(subscriber)) {
      channel.state = 'off'
      this.#turnOn(channel)
    }
  }

  #heardBy(subscriber: Subscriber): Channel[] {
    const channels = [...this.#channels.values()]
    return channels.filter((channel) => channel.state === 'on' && channel.subscriber === subscriber)
  }

  #hear(name: string, message: Buffer): void {
    const channel = this.#channels.get(name)
    if (channel === undefined || this.#isClosed || this.#own.has(message)) return
    const heard = readWakeMessage(channel.partition, message)
    // Somebody has changed something, and another version of the program may say it in words of its own.
    if (heard === undefined) this.#tellToLook(channel)
    else this.#tell(heard)
  }

  #tellToLook({ partition, carries }: Channel): void {
    if (carries === 'events') this.#tell({ partition, ready: [], hasEvents: true, holdersOf: [] })
    else this.#tell({ partition, hasEvents: false })
  }
}
