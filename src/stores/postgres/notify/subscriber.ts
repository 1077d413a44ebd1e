/**
 * One connection that listens to a channel. It never comes back by itself: whoever listens has to know that something may
 * have been missed. Now and then it says something to itself by way of another connection. That is the only way to notice
 * a connection that broke without a word, and a pooler that lends the connection to others as soon as it listens.
 */
import { errorFields } from '../../../runtime/index.ts'
import type { Log, Runtime, Timer } from '../../../runtime/index.ts'
import type { Connection } from '../wire/connection.ts'
import { echoPayload } from './notify-payload.ts'

/** How soon an echo is heard, if ever. */
export const ECHO_WAIT_MS = 5_000
/** From one echo to the next. */
const ECHO_EVERY_MS = 30_000

export interface SubscriberOptions {
  readonly channel: string
  readonly runtime: Runtime
  readonly log: Log
  readonly sender: string
  /** Says something on the channel, over another connection. */
  readonly notify: (payload: string) => Promise<unknown>
  readonly onPayload: (text: string) => void
  /** What it said to itself was heard. */
  readonly onEcho: () => void
  /** What it said to itself was not heard, nor has it ever been. */
  readonly onEchoMissed: () => void
  /** The connection is of no use any more. */
  readonly onLost: (error: Error) => void
}

export class Subscriber {
  readonly #connection: Connection
  readonly #options: SubscriberOptions
  #echoCount = 0
  /** The echo that is waited for. */
  #echo: string | undefined
  #hadEcho = false
  #timer: Timer | undefined
  #isClosed = false

  constructor(connection: Connection, options: SubscriberOptions) {
    this.#connection = connection
    this.#options = options
  }

  /** Resolves once everything that is said on the channel is heard. */
  async listen(): Promise<void> {
    const { channel } = this.#options
    this.#connection.onNotification((notification) => {
      if (notification.channel === channel) this.#receive(notification.payload ?? '')
    })
    await this.#connection.query(`listen "${channel}"`)
    this.#connection.onLost(() => this.#lose(new Error('The connection that listens was lost.')))
  }

  /** Makes sure, now and from now on, that it hears. */
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
      // What was not sent tells nothing of the connection that listens.
      this.#echo = undefined
      log.debug(errorFields(error), 'an echo could not be sent')
    }
    this.#later(ECHO_WAIT_MS, () => this.#checkEcho())
  }

  #checkEcho(): void {
    if (this.#echo !== undefined && this.#hadEcho) {
      this.#lose(new Error('The connection that listens hears nothing any more.'))
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
