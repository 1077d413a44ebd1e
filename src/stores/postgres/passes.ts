/** Running a batch on what is loaded of its partition: once if its plan named everything it reads, else a few times. */
import { Overlay } from '../overlay.ts'
import type { Answer, Call } from '../store.ts'
import type { WorkingSet } from './working-set.ts'

/** How often a batch may find that it needs more than was loaded. */
export const PASS_MAX = 6

/** More was needed than a batch may take to find out what it reads. */
export class TooManyPasses extends Error {
  override readonly name = 'TooManyPasses'

  constructor() {
    super(`A batch needed more than ${PASS_MAX} passes.`)
  }
}

export interface Pass {
  readonly overlay: Overlay
  readonly answers: Answer[]
}

/** Undefined if what is loaded turned out not to be enough; then the outcome, or the failure, says nothing. */
export function runPass(set: WorkingSet, calls: readonly Call[], now: number): Pass | undefined {
  const overlay = new Overlay(set, now)
  let answers: Answer[]
  try {
    answers = overlay.runAll(calls)
  } catch (error) {
    if (set.isMissingAny) return undefined
    throw error
  }
  return set.isMissingAny ? undefined : { overlay, answers }
}
