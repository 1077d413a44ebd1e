/**
 * Ctrl-c and SIGTERM for commands that wait. The first one asks the command to come to an end, the second to hurry; then
 * the handlers are gone, and a third ends the process at once, as it would any other.
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

  /** Aborts when the command shall end. */
  get signal(): AbortSignal {
    return this.#end.signal
  }

  /** Aborts when it shall end without waiting for anything any more. */
  get hurry(): AbortSignal {
    return this.#hurry.signal
  }

  /** The exit code that tells which signal it was; undefined if there was none. */
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
