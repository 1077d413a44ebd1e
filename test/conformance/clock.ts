import type { TestFabric } from './fabric.ts'

/** The clock of the store under test. It stands still until a test moves it. */
export class Clock {
  readonly #fabric: TestFabric

  constructor(fabric: TestFabric) {
    this.#fabric = fabric
  }

  now(): number {
    return this.#fabric.runtime.now()
  }

  advance(ms: number): void {
    this.#fabric.runtime.jump(ms)
  }

  /** Moves on to an instant that lies ahead. */
  advanceTo(instant: number): void {
    if (instant < this.now()) throw new Error('the test turns the clock back')
    this.advance(instant - this.now())
  }
}
