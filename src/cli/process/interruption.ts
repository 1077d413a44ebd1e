/**
 * Handles SIGINT and SIGTERM for commands that wait. The first signal asks the command to end, the second to end without
 * waiting. Then the handlers are removed, so that a third signal kills the process.
 */
import { exitCodes } from './exit-codes.ts'
import type { ExitCode } from './exit-codes.ts'

const SIGNALS = ['SIGINT', 'SIGTERM'] as const
type EndSignal = (typeof SIGNALS)[number]

export class Interruption {
  readonly #end = new AbortController()
  readonly #hurry = new AbortController()
  readonly #listeners: readonly { readonly signal: EndSignal; readonly listener: () => void }[]
  #by: EndSignal | undefined

  constructor() {
    this.#listeners = SIGNALS.map((signal) => ({ signal, listener: () => this.#interrupt(signal) }))
    for (const { signal, listener } of this.#listeners) process.on(signal, listener)
  }

  /** Aborts on the first signal: the command should end. */
  get signal(): AbortSignal {
    return this.#end.signal
  }

  /** Aborts on the second signal: the command should end without waiting. */
  get hurry(): AbortSignal {
    return this.#hurry.signal
  }

  /** The last signal; undefined if there was none. */
  get by(): EndSignal | undefined {
    return this.#by
  }

  /** The exit code of the last signal; undefined if there was none. */
  get exitCode(): ExitCode | undefined {
    if (this.#by === undefined) return undefined
    return this.#by === 'SIGINT' ? exitCodes.interrupted : exitCodes.terminated
  }

  [Symbol.dispose](): void {
    this.#stopListening()
  }

  #interrupt(signal: EndSignal): void {
    this.#by = signal
    if (this.#end.signal.aborted) {
      this.#stopListening()
      this.#hurry.abort()
    }
    this.#end.abort()
  }

  #stopListening(): void {
    for (const { signal, listener } of this.#listeners) process.off(signal, listener)
  }
}
