/**
 * Detects commits of other connections, of this process or others. `pragma data_version` changes with each of them;
 * reading it costs a few microseconds. `FileNews` shows which of them concern listeners.
 */
import type { StatementSync } from 'node:sqlite'
import type { Runtime, Timer } from '../../../runtime/index.ts'
import type { Connection } from '../connection/connection.ts'

/** A wake-up from another process takes half of it on average. Polling costs one to two percent of a core. */
export const WATCH_INTERVAL_MS = 5

export class FileWatch {
  readonly #runtime: Runtime
  readonly #intervalMs: number
  readonly #dataVersion: StatementSync
  readonly #onChange: () => void
  #timer: Timer | undefined
  #version: unknown

  constructor(runtime: Runtime, connection: Connection, intervalMs: number, onChange: () => void) {
    this.#runtime = runtime
    this.#intervalMs = intervalMs
    this.#dataVersion = connection.prepare('pragma data_version')
    this.#onChange = onChange
  }

  start(): void {
    if (this.#timer !== undefined) return
    this.#version = this.#read()
    this.#wait()
  }

  stop(): void {
    this.#timer?.cancel()
    this.#timer = undefined
  }

  #wait(): void {
    this.#timer = this.#runtime.after(this.#intervalMs, () => this.#poll(), { background: true })
  }

  #poll(): void {
    const version = this.#read()
    const isChanged = version !== this.#version
    this.#version = version
    // The next poll is scheduled first: a listener may stop the watch.
    this.#wait()
    if (isChanged) this.#onChange()
  }

  /** A file that cannot be read counts as unchanged; the next call on it throws the reason. */
  #read(): unknown {
    try {
      return this.#dataVersion.get()?.['data_version']
    } catch {
      return this.#version
    }
  }
}
