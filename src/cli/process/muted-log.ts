/**
 * A log that drops its lines until the store is open. `dev` and `doctor` read the warnings of a store from its report; in
 * other commands they would only hide the answer.
 */
import type { Log } from '../../runtime/index.ts'

export class MutedLog implements Log {
  readonly #log: Log
  #isMuted = true
  #isQuiet = false

  constructor(log: Log) {
    this.#log = log
  }

  /** Passes on all lines from now on, or warnings and errors alone. */
  unmute({ isQuiet = false } = {}): void {
    this.#isMuted = false
    this.#isQuiet = isQuiet
  }

  debug(...line: Parameters<Log['debug']>): void {
    this.#write('debug', line)
  }

  info(...line: Parameters<Log['info']>): void {
    this.#write('info', line)
  }

  warn(...line: Parameters<Log['warn']>): void {
    this.#write('warn', line)
  }

  error(...line: Parameters<Log['error']>): void {
    this.#write('error', line)
  }

  #write(level: keyof Log, line: Parameters<Log['info']>): void {
    if (this.#isMuted || (this.#isQuiet && (level === 'debug' || level === 'info'))) return
    this.#log[level](...line)
  }
}
