/**
 * Wake-ups between processes. A process listens from its first subscriber on. Notifications sent while it did not
 * listen are lost, so every new subscription wakes all listeners for all partitions.
 */
import { errorFields } from '../../../runtime/index.ts'
import type { Log, LogFields, Runtime, Timer } from '../../../runtime/index.ts'
import { backoffMs } from '../../../runtime/backoff.ts'
import type { Partition, Wake } from '../../store.ts'
import { Announcer } from './announcer.ts'
import type { Connection } from '../wire/connection.ts'
import type { Statement } from '../wire/round-trip.ts'
import { parsePayload } from './notify-payload.ts'
import { ECHO_EVERY_MS, ECHO_WAIT_MS, Subscriber } from './subscriber.ts'

/** After trouble with the server, wake-ups may be lost until an echo has shown that they arrive. */
const DOUBT_MS = 2 * (ECHO_EVERY_MS + ECHO_WAIT_MS)

/** Limit of the back-off: callers wait for wake-ups, so a reconnect must not take long. */
const RETRY_MAX_MS = 500

/** Logged and reported when notifications are sent and none arrives. */
export const NOT_RECEIVING =
  'Wake-ups of other processes do not arrive, as behind a pooler that shares connections, so work is found up to a ' +
  'second late: set postgres.listen to a location that leads to the server itself, or to false to do without them.'

/** Logged and reported when the listening connection cannot be opened. */
const NOT_CONNECTED =
  'The connection that listens for wake-ups of other processes cannot be opened, so work is found up to a second late: ' +
  'fix the cause that the error names, or set postgres.listen to false to do without them.'

/** Shows that the server responds. */
const PROBE = { name: 'ff_probe', text: 'select 1' } as const

const NOTIFY = { name: 'ff_notify', text: 'select pg_notify($1, $2)' } as const

export interface WakeChannelOptions {
  readonly openListener: () => Promise<Connection>
  /** Runs a statement on a pooled connection, outside any transaction. */
  readonly send: (statement: Statement) => Promise<unknown>
  readonly channel: string
  readonly partitions: readonly Partition[]
  readonly runtime: Runtime
  readonly log: Log
  /** Identifies this process, which ignores its own notifications. */
  readonly sender: string
  readonly onWake: (wake: Wake) => void
  /** A submit was staged in the partition of this number. */
  readonly onStaged: (number: number) => void
}

export class WakeChannel {
  readonly #options: WakeChannelOptions
  readonly #partitions: readonly Partition[]
  readonly #notify: (payload: string) => Promise<unknown>
  readonly #announcer: Announcer
  #subscriber: Subscriber | undefined
  #retry: Timer | undefined
  #failureCount = 0
  /** When notifications stopped to arrive, as far as known. */
  #silentSince: number | undefined
  /** When calls or the listening connection failed last. */
  #doubtedAt: number | undefined
  /** The server has responded since notifications stopped to arrive, so they do not stop because it is away. */
  #isServerThere = false
  #isReceiving: 'yes' | 'no' | 'not_tried' = 'not_tried'
  #warning: string | undefined
  #isListening = false
  #isClosed = false

  constructor(options: WakeChannelOptions) {
    const { runtime, log, sender, partitions, channel, send } = options
    this.#options = options
    this.#partitions = partitions
    this.#notify = (payload) => send({ ...NOTIFY, values: [channel, payload] })
    this.#announcer = new Announcer({ runtime, log, sender, notify: this.#notify })
  }

  /** Whether notifications arrive, as far as echoes have shown. */
  get isReceiving(): 'yes' | 'no' | 'not_tried' {
    return this.#isReceiving
  }

  /** Whether readers may wait for wake-ups for long: they arrive, and there was no trouble with the server for a while. */
  get isReliable(): boolean {
    return this.#isReceiving === 'yes' && !this.#isInDoubt()
  }

  /** A call has failed: the listening connection may be lost too, and so may notifications of other processes. */
  doubt(): void {
    const wasInDoubt = this.#isInDoubt()
    this.#doubtedAt = this.#options.runtime.monotonic()
    if (!wasInDoubt && !this.#isClosed) this.#wakeAll()
  }

  #isInDoubt(): boolean {
    return this.#doubtedAt !== undefined && this.#options.runtime.monotonic() - this.#doubtedAt < DOUBT_MS
  }

  /** The reason why wake-ups do not arrive; undefined while they do. */
  get warning(): string | undefined {
    return this.#isReceiving === 'no' ? this.#warning : undefined
  }

  /** Starts to listen. Idempotent. */
  listen(): void {
    if (this.#isListening || this.#isClosed) return
    this.#isListening = true
    void this.#subscribe()
  }

  /** Notifies other processes of this process's writes. */
  announce(wake: Wake): void {
    this.#announcer.announce(wake)
  }

  /** Stops listening. Resolves once the last wake-ups were sent or given up, within a short time. */
  async close(): Promise<void> {
    this.#isClosed = true
    this.#retry?.cancel()
    this.#subscriber?.close()
    await this.#announcer.close()
  }

  async #subscribe(): Promise<void> {
    try {
      const subscriber = this.#subscriberOn(await this.#options.openListener())
      if (this.#isClosed) {
        subscriber.close()
        return
      }
      this.#subscriber = subscriber
      await subscriber.listen()
    } catch (error) {
      this.#fail(error)
      return
    }
    this.#begin()
  }

  /** The connection can be lost in the turn in which it answered. */
  #begin(): void {
    if (this.#subscriber === undefined || this.#isClosed) return
    this.#wakeAll()
    this.#subscriber.watch()
  }

  #subscriberOn(connection: Connection): Subscriber {
    const { channel, runtime, log, sender } = this.#options
    return new Subscriber(connection, {
      channel,
      runtime,
      log,
      sender,
      notify: this.#notify,
      onPayload: (text) => this.#receive(text),
      onEcho: () => this.#noteReceiving(),
      onEchoMissed: () => this.#warnOnce({}, NOT_RECEIVING),
      onLost: (error) => this.#fail(error),
    })
  }

  /** Subscribes again after a back-off. */
  #fail(error: unknown): void {
    this.#subscriber?.close()
    this.#subscriber = undefined
    if (this.#isClosed) return
    const { runtime, log } = this.#options
    this.#doubtedAt = runtime.monotonic()
    this.#failureCount += 1
    this.#silentSince ??= runtime.monotonic()
    log.debug(errorFields(error), 'could not listen for wake-ups; trying again')
    if (runtime.monotonic() - this.#silentSince >= ECHO_WAIT_MS) this.#warnUnlessAway(error)
    const waitMs = backoffMs(runtime, this.#failureCount, RETRY_MAX_MS)
    this.#retry = runtime.after(waitMs, () => void this.#subscribe(), { background: true })
  }

  /** An outage of the server is logged by the callers that notice it. This connection fails along with all others. */
  #warnUnlessAway(error: unknown): void {
    if (this.#isReceiving === 'no') return
    if (this.#isServerThere) {
      this.#warnOnce(errorFields(error), NOT_CONNECTED)
      return
    }
    this.#options.send(PROBE).then(
      () => (this.#isServerThere = this.#silentSince !== undefined),
      () => undefined,
    )
  }

  /** Warns once, until notifications arrive again. */
  #warnOnce(fields: LogFields, warning: string): void {
    if (this.#isReceiving === 'no') return
    const wasReceiving = this.#isReceiving === 'yes'
    this.#isReceiving = 'no'
    this.#warning = warning
    this.#options.log.warn({ channel: this.#options.channel, ...fields }, warning)
    if (wasReceiving) this.#wakeAll()
  }

  #noteReceiving(): void {
    if (this.#isReceiving === 'no') {
      this.#options.log.info({ channel: this.#options.channel }, 'wake-ups of other processes arrive again')
      this.#wakeAll()
    }
    this.#isReceiving = 'yes'
    this.#failureCount = 0
    this.#silentSince = undefined
    this.#isServerThere = false
  }

  #receive(text: string): void {
    const payload = parsePayload(text, this.#partitions)
    const { sender, onWake: tell, onStaged } = this.#options
    switch (payload?.kind) {
      case 'changed':
        if (payload.sender === sender) return
        if (payload.wakes === undefined) this.#wakeAll()
        else for (const wake of payload.wakes) tell(wake)
        return
      case 'staged':
        onStaged(payload.number)
        return
      case 'echo':
        return
      case undefined:
        // The payload is malformed or of another version of the program.
        this.#wakeAll()
    }
  }

  #wakeAll(): void {
    for (const partition of this.#partitions) this.#options.onWake({ partition, hasEvents: true })
  }
}
