/**
 * One life of a client, a worker or an engine: what a process of an operating system would be. The real code runs in it on
 * this runtime; its turns, its timers and its messages wait until the scheduler lets one of them happen. When it is killed,
 * nothing of it ever continues.
 */
import type { Runtime, Timer } from '../../src/runtime/index.ts'
import type { Chance } from './chance.ts'
import { seededUuids } from './chance.ts'
import type { Clockwork } from './clockwork.ts'

/** Virtual clocks begin here, in milliseconds since the epoch. */
export const START_AT = 1_700_000_000_000

export interface Message {
  readonly label: string
  readonly deliver: () => void
}

export class Process implements Runtime {
  readonly name: string
  isAlive = true
  /** Until then nothing of it runs, as if its machine were suspended. */
  pausedUntil = 0
  /** How far its own clock is from the world's. */
  skewMs: number
  readonly turns: (() => void)[] = []
  readonly inbox: Message[] = []
  readonly uuid: () => string
  readonly #clockwork: Clockwork
  readonly #chance: Chance

  constructor(name: string, clockwork: Clockwork, chance: Chance, skewMs: number) {
    this.name = name
    this.skewMs = skewMs
    this.#clockwork = clockwork
    this.#chance = chance
    this.uuid = seededUuids(() => this.now(), chance)
  }

  now(): number {
    return Math.floor(START_AT + this.#clockwork.elapsedMs + this.skewMs)
  }

  monotonic(): number {
    return this.#clockwork.elapsedMs
  }

  after(ms: number, callback: () => void): Timer {
    if (!this.isAlive) return { cancel: () => undefined }
    return this.#clockwork.after(ms, callback, this)
  }

  nextTick(callback: () => void): void {
    process.nextTick(callback)
  }

  soon(callback: () => void): void {
    if (this.isAlive) this.turns.push(callback)
  }

  random(): number {
    return this.#chance.fraction()
  }

  get isRunning(): boolean {
    return this.isAlive && this.pausedUntil <= this.#clockwork.elapsedMs
  }

  /** Queues an event that the scheduler delivers. */
  receive(message: Message): void {
    if (this.isAlive) this.inbox.push(message)
  }

  kill(): void {
    this.isAlive = false
    this.turns.length = 0
    this.inbox.length = 0
    this.#clockwork.forget(this)
  }
}
