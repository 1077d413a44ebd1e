/**
 * Wake-ups between processes. A process listens for work only once somebody here wants it, and to the growth of an event
 * log only while somebody follows it. What was sent while a connection was being made is lost, so whenever the listening
 * begins, or begins again, everyone is told to look.
 */
import { Cluster } from 'ioredis'
import type { Log, Runtime, Timer } from '../../runtime/index.ts'
import { errorFields } from '../../runtime/index.ts'
import { executionPartition } from '../store.ts'
import type { Partition, Wake } from '../store.ts'
import { unpackWake } from './batch-call.ts'
import type { Client, Connection } from './connection.ts'
import type { Keys } from './keys.ts'

/** A log that nobody follows any more is listened to a little longer: most often somebody follows it again. */
const LINGER_MS = 5_000
/** After a lost connection the subscriptions are sent again; what is said before they stand goes unheard. */
const SETTLING_MS = 100
const RETRY_MS = 500

interface Channel {
  readonly name: string
  readonly partition: Partition
  readonly carries: 'wakes' | 'events'
  /** How many listeners want it. */
  count: number
  state: 'off' | 'subscribing' | 'on'
  timer: Timer | undefined
}

export class WakeChannel {
  readonly #connection: Connection
  readonly #runtime: Runtime
  readonly #log: Log
  readonly #tell: (wake: Wake) => void
  readonly #sender: string
  readonly #channels = new Map<string, Channel>()
  readonly #wakeChannels: readonly Channel[]
  readonly #eventChannels = new Map<Partition, Channel>()
  #subscriber: Client | undefined
  #settling: Timer | undefined
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
    this.#sender = options.sender
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
    channel.timer?.cancel()
    channel.timer = undefined
    this.#turnOn(channel)
    return () => {
      channel.count -= 1
      if (channel.count > 0 || this.#isClosed) return
      channel.timer = this.#runtime.after(LINGER_MS, () => this.#turnOff(channel), { background: true })
    }
  }

  close(): void {
    this.#isClosed = true
    this.#settling?.cancel()
    for (const channel of this.#channels.values()) channel.timer?.cancel()
    if (this.#subscriber !== undefined && this.#subscriber !== this.#connection.client) this.#subscriber.disconnect()
  }

  #add(name: string, partition: Partition, carries: Channel['carries']): Channel {
    const channel: Channel = { name, partition, carries, count: 0, state: 'off', timer: undefined }
    this.#channels.set(name, channel)
    return channel
  }

  #turnOn(channel: Channel): void {
    if (channel.state !== 'off' || this.#isClosed) return
    channel.state = 'subscribing'
    void this.#subscribe(channel)
  }

  async #subscribe(channel: Channel): Promise<void> {
    try {
      this.#subscriber ??= this.#connect()
      await this.#subscriber.ssubscribe(channel.name)
    } catch (error) {
      channel.state = 'off'
      if (this.#isClosed) return
      this.#log.debug(
        { channel: channel.name, ...errorFields(error) },
        'a channel cannot be listened to; it is tried again',
      )
      channel.timer = this.#runtime.after(RETRY_MS, () => this.#turnOn(channel), { background: true })
      return
    }
    channel.state = 'on'
    if (!this.#isClosed) this.#tellToLook(channel)
  }

  #turnOff(channel: Channel): void {
    channel.timer = undefined
    if (channel.count > 0 || channel.state !== 'on' || this.#isClosed) return
    channel.state = 'off'
    this.#subscriber?.sunsubscribe(channel.name).catch((error: unknown) => {
      this.#log.debug({ channel: channel.name, ...errorFields(error) }, 'a channel could not be left')
    })
  }

  /** A connection that listens can do nothing else, so one server needs a second one. A cluster's client has its own. */
  #connect(): Client {
    const { client } = this.#connection
    const subscriber =
      client instanceof Cluster ? client : client.duplicate({ enableOfflineQueue: true, maxRetriesPerRequest: null })
    subscriber.on('smessageBuffer', (channel: Buffer, message: Buffer) => this.#hear(String(channel), message))
    if (subscriber instanceof Cluster) {
      subscriber.on('subscribersReady', () => this.#settle())
    } else {
      subscriber.on('error', (error: unknown) => {
        this.#log.debug(errorFields(error), 'the connection that listens for wake-ups failed; it is made again')
      })
      subscriber.on('ready', () => this.#settle())
    }
    return subscriber
  }

  #hear(name: string, message: Buffer): void {
    const channel = this.#channels.get(name)
    if (channel === undefined || this.#isClosed) return
    const { partition } = channel
    if (channel.carries === 'events') {
      if (String(message) !== this.#sender) this.#tell({ partition, ready: [], hasEvents: true, holdersOf: [] })
      return
    }
    const { sender, wake } = unpackWake(partition, message)
    if (sender !== this.#sender) this.#tell(wake)
  }

  #settle(): void {
    this.#settling?.cancel()
    if (![...this.#channels.values()].some((channel) => channel.state === 'on')) return
    this.#settling = this.#runtime.after(
      SETTLING_MS,
      () => {
        for (const channel of this.#channels.values()) if (channel.state === 'on') this.#tellToLook(channel)
      },
      { background: true },
    )
  }

  #tellToLook({ partition, carries }: Channel): void {
    if (carries === 'events') this.#tell({ partition, ready: [], hasEvents: true, holdersOf: [] })
    else this.#tell({ partition, hasEvents: false })
  }
}
