/**
 * One connection that subscribes to channels of one server. It never reconnects by itself: its owner must know that messages
 * may have been lost. Pings detect a half-open connection.
 */
import type { Redis } from 'ioredis'
import type { Runtime, Timer } from '../../../runtime/index.ts'
import { refusalWord } from '../connection/valkey-error.ts'

/** How often the server is pinged: a half-open connection would last for long. */
const PING_MS = 15_000

export interface SubscriberListener {
  readonly onMessage: (channel: string, message: Buffer) => void
  /** The server dropped channels whose slots moved, without naming them. */
  readonly onMoved: () => void
  /** The connection is gone, and with it every subscription. */
  readonly onLost: () => void
}

export class Subscriber {
  readonly #client: Redis
  readonly #runtime: Runtime
  readonly #listener: SubscriberListener
  #ping: Timer | undefined
  #isLost = false
  /** MOVED errors that the client received, and those of them that were replies to a subscribe. */
  #movedCount = 0
  #answeredCount = 0

  constructor(client: Redis, runtime: Runtime, listener: SubscriberListener) {
    this.#client = client
    this.#runtime = runtime
    this.#listener = listener
    client.on('smessageBuffer', (channel: Buffer, message: Buffer) => listener.onMessage(String(channel), message))
    client.on('moved', () => this.#noteMove())
    client.on('end', () => this.#lose())
    // Failed subscriptions carry the error; an error event without a listener would be thrown.
    client.on('error', () => undefined)
    this.#pingLater()
  }

  get isLost(): boolean {
    return this.#isLost
  }

  /** Resolves once the subscription is active. */
  async subscribe(channel: string): Promise<void> {
    try {
      await this.#client.ssubscribe(channel)
    } catch (error) {
      if (refusalWord(error) === 'MOVED') this.#answeredCount += 1
      throw error
    }
  }

  async unsubscribe(channel: string): Promise<void> {
    await this.#client.sunsubscribe(channel)
  }

  close(): void {
    this.#isLost = true
    this.#ping?.cancel()
    this.#client.disconnect()
  }

  #lose(): void {
    if (this.#isLost) return
    this.close()
    this.#listener.onLost()
  }

  /** The client emits `moved` before the subscribe rejects, so both counts are compared after the turn. */
  #noteMove(): void {
    this.#movedCount += 1
    this.#runtime.soon(() => {
      if (this.#movedCount <= this.#answeredCount || this.#isLost) return
      this.#movedCount = this.#answeredCount
      this.#listener.onMoved()
    })
  }

  #pingLater(): void {
    this.#ping = this.#runtime.after(PING_MS, () => void this.#sendPing(), { background: true })
  }

  async #sendPing(): Promise<void> {
    try {
      await this.#client.ping()
    } catch (error) {
      // An error reply shows that the server is alive.
      if (refusalWord(error) === undefined) this.#lose()
    }
    if (!this.#isLost) this.#pingLater()
  }
}
