/**
 * The events of one partition that a consumer has begun to handle. Events of one execution are handled one after the other, others
 * concurrently. The position is that of the last event before which all are handled, so that none is lost after a crash.
 */
import type { LogPosition } from '../events/event-cursor.ts'

/** Events between the position and the newest one that is handled. More wait in the log. */
const WINDOW_MAX = 1_000

interface Entry {
  position: LogPosition
  isDone: boolean
}

export class EventWindow {
  readonly #concurrency: number
  readonly #entries: Entry[] = []
  /** The last event of each execution that is being handled. */
  readonly #tails = new Map<string, Promise<void>>()
  #runningCount = 0
  #notify: () => void = () => undefined
  position: LogPosition

  constructor(position: LogPosition, concurrency: number) {
    this.position = position
    this.#concurrency = concurrency
  }

  /** Advances past an event that needs no handling. */
  pass(position: LogPosition): void {
    const last = this.#entries.at(-1)
    if (last === undefined) this.position = position
    // Once the last event is handled, those behind it are passed as well.
    else last.position = position
  }

  /** Resolves once there is room for a further event, or the signal aborts. */
  async hasRoom(signal: AbortSignal): Promise<boolean> {
    await this.#until(() => this.#runningCount < this.#concurrency && this.#entries.length < WINDOW_MAX, signal)
    return !signal.aborted
  }

  /** Handles an event after earlier ones of its key. `handle` resolves with whether the event is done; it never rejects. */
  add(position: LogPosition, key: string, handle: () => Promise<boolean>): void {
    const entry: Entry = { position, isDone: false }
    this.#entries.push(entry)
    this.#runningCount += 1
    const before = this.#tails.get(key)
    const handled = (before ?? Promise.resolve()).then(handle).then((isDone) => {
      entry.isDone = isDone
      this.#runningCount -= 1
      if (this.#tails.get(key) === handled) this.#tails.delete(key)
      this.#settle()
    })
    this.#tails.set(key, handled)
  }

  /** Resolves once no event is being handled. */
  async drained(): Promise<void> {
    await this.#until(() => this.#runningCount === 0)
  }

  #settle(): void {
    for (let first = this.#entries[0]; first?.isDone === true; first = this.#entries[0]) {
      this.position = first.position
      this.#entries.shift()
    }
    this.#notify()
  }

  /** Only one caller waits at a time. */
  async #until(isTrue: () => boolean, signal?: AbortSignal): Promise<void> {
    const onAbort = () => this.#notify()
    signal?.addEventListener('abort', onAbort)
    try {
      while (!isTrue() && signal?.aborted !== true) await new Promise<void>((resolve) => (this.#notify = resolve))
    } finally {
      signal?.removeEventListener('abort', onAbort)
    }
  }
}
