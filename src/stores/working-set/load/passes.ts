/** Runs a batch over its working set: one pass if the plan named all reads, else one more for each missing load. */
import { Overlay } from '../overlay/overlay.ts'
import type { Answer, Call } from '../../store.ts'
import type { WorkingSet } from './working-set.ts'

/**
 * Passes of an operation at most. One that walks a graph takes a pass for each level; operations of one batch share
 * passes.
 */
export const PASS_MAX = 40

/** Passes of a batch at most. */
const BATCH_PASS_MAX = 4 * PASS_MAX

/** An operation still missed data after `PASS_MAX` passes. */
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
  /** Leading calls that missed nothing. Their outcome is final, whatever later calls do. */
  #settledCount = 0
  #settledAt = 0

  constructor(calls: readonly Call[]) {
    this.#calls = calls
  }

  get count(): number {
    return this.#count
  }

  /** Returns undefined if data was missing: then the outcome, or the error, is void. */
  run(set: WorkingSet, now: number): Pass | undefined {
    this.#count += 1
    const overlay = new Overlay(set, now)
    const answers: Answer[] = []
    let settledCount = 0
    for (const call of this.#calls) {
      try {
        answers.push(overlay.run(call))
      } catch (error) {
        // With missing data, an operation may see an impossible state.
        if (!set.isMissingAny) throw error
      }
      if (!set.isMissingAny) settledCount += 1
    }
    if (!set.isMissingAny) return { overlay, answers }
    this.#refuseEndless(settledCount)
    return undefined
  }

  /** The limit restarts when a leading call is final: later calls may depend on it. */
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
