/**
 * One connection that listens to a channel. It does not reconnect: the owner has to know that notifications may be
 * lost. It periodically notifies itself through another connection. Only such an echo detects a connection that broke
 * silently, or a pooler that lends the listening connection to other clients.
 */
import { errorFields } from '../../../runtime/index.ts'
import type { Log, Runtime, Timer } from '../../../runtime/index.ts'
import type { Connection } from '../wire/connection.ts'
import { echoPayload } from './notify-payload.ts'

/** How long to wait for an echo. */
export const ECHO_WAIT_MS = 5_000
/** Interval between echoes. */
export const ECHO_EVERY_MS = 30_000

export interface SubscriberOptions {
  readonly channel: string
  readonly runtime: Runtime
  readonly log: Log
  readonly sender: string
  /** Sends a notification over another connection. */
  readonly notify: (payload: string) => Promise<unknown>
  readonly onPayload: (text: string) => void
  /** An echo arrived. */
  readonly onEcho: () => void
  /** An echo did not arrive, and none has before. */
  readonly onEchoMissed: () => void
  /** The connection was lost, or echoes stopped. */
  readonly onLost: (error: Error) => void
}

export class Subscriber {
  readonly #connection: Connection
  readonly #options: SubscriberOptions
  #echoCount = 0
  /** The payload of the pending echo. */
  #echo: string | undefined
  #hadEcho = false
  #timer: Timer | undefined
  #isClosed = false

  constructor(connection: Connection, options: SubscriberOptions) {
    this.#connection = connection
    this.#options = options
  }

  /** Resolves once the channel is subscribed. */
  async listen(): Promise<void> {
    const { channel } = this.#options
    this.#connection.onNotification((notification) => {
      if (notification.channel === channel) this.#receive(notification.payload ?? '')
    })
    await this.#connection.query(`listen "${channel}"`)
    this.#connection.onLost(() => this.#lose(new Error('The listening connection was lost.')))
  }

  /** Starts to send echoes. */
  watch(): void {
    void this.#sendEcho()
  }

  close(): void {
    this.#isClosed = true
    this.#timer?.cancel()
    this.#connection.close()
  }

  #receive(text: string): void {
    if (this.#isClosed) return
    if (text !== this.#echo) {
      this.#options.onPayload(text)
      return
    }
    this.#echo = undefined
    this.#hadEcho = true
    this.#options.onEcho()
  }

  async #sendEcho(): Promise<void> {
    const { sender, notify, log } = this.#options
    this.#echoCount += 1
    this.#echo = echoPayload(sender, this.#echoCount)
    try {
      await notify(this.#echo)
    } catch (error) {
      // An echo that was not sent proves nothing about this connection.
      this.#echo = undefined
      log.debug(errorFields(error), 'could not send an echo; the next one follows')
    }
    this.#later(ECHO_WAIT_MS, () => this.#checkEcho())
  }

  #checkEcho(): void {
    if (this.#echo !== undefined && this.#hadEcho) {
      this.#lose(new Error('The listening connection does not receive notifications any more.'))
      return
    }
    if (this.#echo !== undefined) this.#options.onEchoMissed()
    this.#later(ECHO_EVERY_MS - ECHO_WAIT_MS, () => void this.#sendEcho())
  }

  #later(ms: number, callback: () => void): void {
    if (!this.#isClosed) this.#timer = this.#options.runtime.after(ms, callback, { background: true })
  }

  #lose(error: Error): void {
    if (this.#isClosed) return
    this.close()
    this.#options.onLost(error)
  }
}
