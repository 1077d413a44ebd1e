/**
 * Notices that another connection has written the file, be it of this process or of another. SQLite keeps a number for
 * every connection that changes with each commit of the others; looking at it costs a few microseconds.
 */
import type { StatementSync } from 'node:sqlite'
import type { Runtime, Timer } from '../../../runtime/index.ts'
import type { Connection } from '../connection/connection.ts'

/** A wake-up from another process takes half of it on average. Looking this often costs one to two percent of a core. */
export const WATCH_INTERVAL_MS = 5

export class FileWatch {
  readonly #runtime: Runtime
  readonly #intervalMs: number
  readonly #dataVersion: StatementSync
  readonly #onChange: () => void
  #timer: Timer | undefined
  #seen: unknown

  constructor(runtime: Runtime, connection: Connection, intervalMs: number, onChange: () => void) {
    this.#runtime = runtime
    this.#intervalMs = intervalMs
    this.#dataVersion = connection.prepare('pragma data_version')
    this.#onChange = onChange
  }

  start(): void {
    if (this.#timer !== undefined) return
    this.#seen = this.#read()
    this.#wait()
  }

  stop(): void {
    this.#timer?.cancel()
    this.#timer = undefined
  }

  #wait(): void {
    this.#timer = this.#runtime.after(this.#intervalMs, () => this.#look(), { background: true })
  }

  #look(): void {
    const version = this.#read()
    const isChanged = version !== this.#seen
    this.#seen = version
    // The next look is arranged first: a listener may stop the watch.
    this.#wait()
    if (isChanged) this.#onChange()
  }

  /** A file that cannot be read just now counts as unchanged; whoever uses it next is told why. */
  #read(): unknown {
    try {
      return this.#dataVersion.get()?.['data_version']
    } catch {
      return this.#seen
    }
  }
}
