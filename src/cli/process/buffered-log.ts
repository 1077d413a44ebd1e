/**
 * A log that says nothing until the store is open. What a store warns of is the business of `dev` and `doctor`, which ask
 * for it; said by every command, it would only stand in the way of the answer.
 */
import type { Log } from '../../runtime/index.ts'

export class OpeningLog implements Log {
  readonly #log: Log
  #isOver = false

  constructor(log: Log) {
    this.#log = log
  }

  /** The store is open. */
  end(): void {
    this.#isOver = true
  }

  debug(...line: Parameters<Log['debug']>): void {
    this.#say('debug', line)
  }

  info(...line: Parameters<Log['info']>): void {
    this.#say('info', line)
  }

  warn(...line: Parameters<Log['warn']>): void {
    this.#say('warn', line)
  }

  error(...line: Parameters<Log['error']>): void {
    this.#say('error', line)
  }

  #say(level: keyof Log, line: Parameters<Log['info']>): void {
    if (this.#isOver) this.#log[level](...line)
  }
}
