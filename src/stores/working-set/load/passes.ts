/** Running a batch on what is loaded of its partition: once if its plan named everything it reads, else a few times. */
import { Overlay } from '../overlay/overlay.ts'
import type { Answer, Call } from '../../store.ts'
import type { WorkingSet } from './working-set.ts'

/**
 * How often an operation may run until it has found out what it reads: one that walks through a graph takes a pass for each
 * level. Those of one batch find out together.
 */
export const PASS_MAX = 40

/** How often all of a batch may run, whatever its operations wait for: one by one they take as long as they need. */
const BATCH_PASS_MAX = 4 * PASS_MAX

/** More was needed than an operation may take to find out what it reads. */
class TooManyPasses extends Error {
  override readonly name = 'TooManyPasses'

  constructor(operation: string) {
    super(`${operation} needed more than ${PASS_MAX} passes.`)
  }
}

export interface Pass {
  readonly overlay: Overlay
  readonly answers: Answer[]
}

/** The passes of one batch. */
export class Passes {
  readonly #calls: readonly Call[]
  #count = 0
  /** Calls from the first on that have needed nothing more. What they do is certain, whatever becomes of those behind them. */
  #settledCount = 0
  #settledAt = 0

  constructor(calls: readonly Call[]) {
    this.#calls = calls
  }

  get count(): number {
    return this.#count
  }

  /** Undefined if what is loaded turned out not to be enough; then the outcome, or the failure, says nothing. */
  run(set: WorkingSet, now: number): Pass | undefined {
    this.#count += 1
    const overlay = new Overlay(set, now)
    const answers: Answer[] = []
    let settledCount = 0
    for (const call of this.#calls) {
      try {
        answers.push(overlay.run(call))
      } catch (error) {
        // Without all that it reads, an operation may see what cannot be.
        if (!set.isMissingAny) throw error
      }
      if (!set.isMissingAny) settledCount += 1
    }
    if (!set.isMissingAny) return { overlay, answers }
    this.#refuseEndless(settledCount)
    return undefined
  }

  /** One that waits for what those before it do begins to find out when they are settled, and then may take as long. */
  #refuseEndless(settledCount: number): void {
    if (settledCount > this.#settledCount) {
      this.#settledCount = settledCount
      this.#settledAt = this.#count - 1
    }
    if (this.#count - this.#settledAt >= PASS_MAX || this.#count >= BATCH_PASS_MAX) {
      throw new TooManyPasses(this.#calls[this.#settledCount]?.operation ?? 'A batch')
    }
  }
}
