/**
 * The connections of one process, opened on demand and lent one by one. A connection that failed is closed. An
 * unreachable server is retried with a back-off, and waiting callers are refused after a bounded time.
 */
import { sleep } from '../../../runtime/index.ts'
import type { Runtime } from '../../../runtime/index.ts'
import { backoffMs } from '../../../runtime/backoff.ts'
import { EngineError } from '../../../kernel/engine-error.ts'
import type { Connection } from './connection.ts'

/** How long a caller waits for a connection while the server cannot be reached. */
const WAIT_MAX_MS = 2_000

/** The members of a connection that the pool uses. */
export type Pooled = Pick<Connection, 'isLost' | 'onLost' | 'close' | 'unref' | 'ref'>

interface Waiting<Member> {
  readonly resolve: (connection: Member) => void
  readonly reject: (error: unknown) => void
}

export class Pool<Member extends Pooled = Connection> {
  readonly #runtime: Runtime
  readonly #connect: () => Promise<Member>
  readonly #max: number
  readonly #idle: Member[] = []
  readonly #all = new Set<Member>()
  readonly #waiting: Waiting<Member>[] = []
  #connecting = 0
  #isClosed = false

  constructor(runtime: Runtime, max: number, connect: () => Promise<Member>) {
    this.#runtime = runtime
    this.#max = max
    this.#connect = connect
  }

  /**
   * Lends a connection to one piece of work. If the work throws, the connection is closed, and with it an open
   * transaction.
   */
  async use<T>(work: (connection: Member) => Promise<T>): Promise<T> {
    const connection = await this.#take()
    let value: T
    try {
      value = await work(connection)
    } catch (error) {
      this.#drop(connection)
      throw error
    }
    this.#giveBack(connection)
    return value
  }

  /** Closes all connections and refuses waiting callers. */
  close(): void {
    this.#isClosed = true
    for (const waiting of this.#waiting.splice(0)) waiting.reject(new EngineError('fabric_closed'))
    for (const connection of this.#all) connection.close()
    this.#all.clear()
  }

  #take(): Promise<Member> {
    if (this.#isClosed) return Promise.reject(new EngineError('fabric_closed', { message: 'Its store is closed.' }))
    const idle = this.#idle.pop()
    if (idle !== undefined) {
      idle.ref()
      return Promise.resolve(idle)
    }
    return new Promise((resolve, reject) => {
      this.#waiting.push({ resolve, reject })
      this.#grow()
    })
  }

  #giveBack(connection: Member): void {
    if (connection.isLost || this.#isClosed) {
      this.#drop(connection)
      return
    }
    const waiting = this.#waiting.shift()
    if (waiting !== undefined) {
      waiting.resolve(connection)
      return
    }
    connection.unref()
    this.#idle.push(connection)
  }

  /** Closes a connection, and opens another one if callers wait. */
  #drop(connection: Member): void {
    if (this.#all.delete(connection)) {
      const at = this.#idle.indexOf(connection)
      if (at !== -1) this.#idle.splice(at, 1)
      connection.close()
    }
    this.#grow()
  }

  /** Opens as many connections as callers wait for, within the limit. */
  #grow(): void {
    while (this.#waiting.length > this.#connecting && this.#all.size + this.#connecting < this.#max) void this.#add()
  }

  async #add(): Promise<void> {
    this.#connecting += 1
    try {
      const connection = await this.#connectWithRetry()
      this.#all.add(connection)
      connection.onLost(() => this.#drop(connection))
      this.#connecting -= 1
      this.#giveBack(connection)
    } catch (error) {
      this.#connecting -= 1
      // A server without room for another connection still serves the open ones.
      if (this.#all.size > 0) return
      // Every waiting caller would wait as long again for the same error.
      for (const waiting of this.#waiting.splice(0)) waiting.reject(error)
    }
  }

  async #connectWithRetry(): Promise<Member> {
    const since = this.#runtime.monotonic()
    for (let tries = 1; ; tries++) {
      try {
        return await this.#connect()
      } catch (error) {
        const waitMs = backoffMs(this.#runtime, tries)
        const waitedMs = this.#runtime.monotonic() - since
        if (this.#isClosed || !isTransient(error) || waitedMs + waitMs > WAIT_MAX_MS) throw error
        await sleep(this.#runtime, waitMs)
      }
    }
  }
}

/** Whether a retry may succeed: a wrong password stays wrong. */
function isTransient(error: unknown): boolean {
  return error instanceof EngineError && error.code === 'store_unavailable'
}
