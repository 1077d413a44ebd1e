/**
 * Wake-ups between processes. A process listens once somebody here wants to hear of anything. What was said while nobody
 * could listen is lost, so whenever the listening begins, or begins again, everyone is told to look.
 */
import { errorFields } from '../../../runtime/index.ts'
import type { Log, LogFields, Runtime, Timer } from '../../../runtime/index.ts'
import { backoffMs } from '../../server/backoff.ts'
import { executionPartition } from '../../store.ts'
import type { Partition, Wake } from '../../store.ts'
import { Announcer } from './announcer.ts'
import type { Connection } from '../wire/connection.ts'
import type { Statement } from '../wire/round-trip.ts'
import { parsePayload } from './notify-payload.ts'
import { ECHO_WAIT_MS, Subscriber } from './subscriber.ts'

/** Whoever waits for a wake-up must not wait long for somebody to hear it. */
const RETRY_MAX_MS = 500

/** What an operator is told if the server takes everything and nothing arrives. */
export const NOT_RECEIVING =
  'Wake-ups of other processes do not arrive, as behind a pooler that shares connections, so work is found up to a ' +
  'second late: set postgres.listen to a location that leads to the server itself, or to false to do without them.'

/** The same if there is nobody to listen to. */
const NOT_CONNECTED =
  'The connection that listens for wake-ups of other processes cannot be made, so work is found up to a second late: ' +
  'see to what the error names, or set postgres.listen to false to do without them.'

const NOTIFY = { name: 'ff_notify', text: 'select pg_notify($1, $2)' } as const

export interface WakeChannelOptions {
  /** Opens the connection that listens. */
  readonly openListener: () => Promise<Connection>
  /** Runs a statement on a connection of the process's own, and outside of any transaction. */
  readonly send: (statement: Statement) => Promise<unknown>
  readonly channel: string
  readonly partitionCount: number
  readonly runtime: Runtime
  readonly log: Log
  /** Under this name a process knows what it said itself, which it has been told already. */
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
  /** Since when nothing is known to arrive. */
  #silentSince: number | undefined
  #isReceiving: 'yes' | 'no' | 'not_tried' = 'not_tried'
  #warning: string | undefined
  #isListening = false
  #isClosed = false

  constructor(options: WakeChannelOptions) {
    const { runtime, log, sender, partitionCount, channel, send } = options
    this.#options = options
    this.#partitions = Array.from({ length: partitionCount }, (_, number) => executionPartition(number))
    this.#notify = (payload) => send({ ...NOTIFY, values: [channel, payload] })
    this.#announcer = new Announcer({ runtime, log, sender, notify: this.#notify })
  }

  /** Whether what others say arrives here, as far as this has been tried. */
  get isReceiving(): 'yes' | 'no' | 'not_tried' {
    return this.#isReceiving
  }

  /** What was said of wake-ups that do not arrive, as long as they do not. */
  get warning(): string | undefined {
    return this.#isReceiving === 'no' ? this.#warning : undefined
  }

  /** Listens from now on. */
  listen(): void {
    if (this.#isListening || this.#isClosed) return
    this.#isListening = true
    void this.#subscribe()
  }

  /** Tells other processes what this one has changed. */
  announce(wake: Wake): void {
    this.#announcer.announce(wake)
  }

  /** Hears nothing from now on. Resolves once the last wake-ups have gone out or are given up, which takes a short time. */
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

  /** The connection can be lost in the same turn in which it answered. */
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

  /** Begins again after a while. */
  #fail(error: unknown): void {
    this.#subscriber?.close()
    this.#subscriber = undefined
    if (this.#isClosed) return
    const { runtime, log } = this.#options
    this.#failureCount += 1
    this.#silentSince ??= runtime.monotonic()
    log.debug(errorFields(error), 'wake-ups cannot be listened for; it is tried again')
    if (runtime.monotonic() - this.#silentSince >= ECHO_WAIT_MS) this.#warnOnce(errorFields(error), NOT_CONNECTED)
    const waitMs = backoffMs(runtime, this.#failureCount, RETRY_MAX_MS)
    this.#retry = runtime.after(waitMs, () => void this.#subscribe(), { background: true })
  }

  /** Said once, until something is heard again. */
  #warnOnce(fields: LogFields, warning: string): void {
    if (this.#isReceiving === 'no') return
    this.#isReceiving = 'no'
    this.#warning = warning
    this.#options.log.warn({ channel: this.#options.channel, ...fields }, warning)
  }

  #noteReceiving(): void {
    if (this.#isReceiving === 'no') {
      this.#options.log.info({ channel: this.#options.channel }, 'wake-ups of other processes arrive again')
      this.#wakeAll()
    }
    this.#isReceiving = 'yes'
    this.#failureCount = 0
    this.#silentSince = undefined
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
        // Somebody has changed something, and another version of the program may say it in words of its own.
        this.#wakeAll()
    }
  }

  #wakeAll(): void {
    for (const partition of this.#partitions) this.#options.onWake({ partition, hasEvents: true })
  }
}
