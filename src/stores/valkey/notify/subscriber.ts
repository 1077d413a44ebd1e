/**
 * One connection that listens to channels of one server. It never comes back by itself: whoever listens has to know that
 * something may have been missed. A server that says nothing any more is noticed by asking it now and then.
 */
import type { Redis } from 'ioredis'
import type { Runtime, Timer } from '../../../runtime/index.ts'
import { refusalWord } from '../connection/valkey-error.ts'

/** How often the server is asked whether it is still there: a connection that broke without a word stays open for long. */
const PING_MS = 15_000

export interface SubscriberListener {
  readonly onMessage: (channel: string, message: Buffer) => void
  /** The server gave up channels that another one has now, and does not say which. */
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
  /** How often the server said that a channel is elsewhere, and how often that was the answer to a question. */
  #movedCount = 0
  #answeredCount = 0

  constructor(client: Redis, runtime: Runtime, listener: SubscriberListener) {
    this.#client = client
    this.#runtime = runtime
    this.#listener = listener
    client.on('smessageBuffer', (channel: Buffer, message: Buffer) => listener.onMessage(String(channel), message))
    client.on('moved', () => this.#noteMove())
    client.on('end', () => this.#lose())
    // What went wrong is told to those whose subscriptions fail; an error without a listener would be printed.
    client.on('error', () => undefined)
    this.#pingLater()
  }

  get isLost(): boolean {
    return this.#isLost
  }

  /** Resolves once everything that is said on the channel is heard. */
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

  /** The client tells of a refusal before the caller hears of it, so both are compared when the turn is over. */
  #noteMove(): void {
    this.#movedCount += 1
    this.#runtime.soon(() => {
      if (this.#movedCount <= this.#answeredCount || this.#isLost) return
      this.#movedCount = this.#answeredCount
      this.#listener.onMoved()
    })
  }

  #pingLater(): void {
    this.#ping = this.#runtime.after(PING_MS, () => void this.#askWhetherItIsThere(), { background: true })
  }

  async #askWhetherItIsThere(): Promise<void> {
    try {
      await this.#client.ping()
    } catch (error) {
      // A refusal is an answer as well.
      if (refusalWord(error) === undefined) this.#lose()
    }
    if (!this.#isLost) this.#pingLater()
  }
}
