/**
 * Transactions of one connection. A transaction begins and commits within one turn of the event loop. A file that is
 * locked by another connection is retried on the event loop: a wait inside SQLite would stop every timer.
 */
import type { StatementSync } from 'node:sqlite'
import { sleep } from '../../../runtime/index.ts'
import type { Runtime } from '../../../runtime/index.ts'
import { EngineError } from '../../../kernel/engine-error.ts'
import type { Connection } from './connection.ts'
import { isBusy } from './sqlite-error.ts'

/** How long a call waits for a busy file before it fails with `store_busy`. */
export const BUSY_LIMIT_MS = 30_000
const BUSY_SLEEP_MIN_MS = 1
const BUSY_SLEEP_MAX_MS = 10

/** A reader works on a snapshot and never waits for a writer; a writer holds the file's only write lock. */
export type TransactionKind = 'read' | 'write'

export class Transactions {
  readonly #runtime: Runtime
  readonly #begin: StatementSync
  readonly #commit: StatementSync
  readonly #rollback: StatementSync

  constructor(runtime: Runtime, connection: Connection, kind: TransactionKind) {
    this.#runtime = runtime
    this.#begin = connection.prepare(kind === 'write' ? 'begin immediate' : 'begin')
    this.#commit = connection.prepare('commit')
    this.#rollback = connection.prepare('rollback')
  }

  /** Runs work in a transaction. The work may run several times, of which only the last takes effect. */
  run<T>(work: () => T, since?: number): Promise<T> {
    return retryWhileBusy(this.#runtime, () => this.#attempt(work), since)
  }

  #attempt<T>(work: () => T): T {
    try {
      this.#begin.run()
      const value = work()
      this.#commit.run()
      return value
    } catch (error) {
      this.#rollBack()
      throw error
    }
  }

  #rollBack(): void {
    try {
      this.#rollback.run()
    } catch {
      // No transaction was begun, or SQLite has rolled back by itself. If a transaction is still open, the next begin
      // fails and the rollback runs again.
    }
  }
}

/** Retries until the file is free: at least once, and at most for `BUSY_LIMIT_MS` since the caller began to wait. */
export async function retryWhileBusy<T>(runtime: Runtime, step: () => T, since = runtime.monotonic()): Promise<T> {
  for (;;) {
    try {
      return step()
    } catch (error) {
      if (!isBusy(error)) throw error
      if (runtime.monotonic() - since >= BUSY_LIMIT_MS) throw new EngineError('store_busy', {}, { cause: error })
    }
    // Jitter keeps two processes that wait for the same file from colliding again and again.
    await sleep(runtime, BUSY_SLEEP_MIN_MS + runtime.random() * (BUSY_SLEEP_MAX_MS - BUSY_SLEEP_MIN_MS))
  }
}
