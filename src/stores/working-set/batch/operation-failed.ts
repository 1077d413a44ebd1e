/** Operations that are at fault themselves, whatever the store does. */
import type { Instant } from '../../../kernel/index.ts'
import type { Answer, Call } from '../../store.ts'
import { RefusedRecord } from '../commit/backend.ts'
import type { Pass, Passes } from '../load/passes.ts'
import type { WorkingSet } from '../load/working-set.ts'

/** An operation threw, or wrote what cannot be stored. */
export class OperationFailed extends Error {
  override readonly name = 'OperationFailed'

  answerTo({ operation, input }: Call): Answer {
    if (this.cause instanceof RefusedRecord) {
      return { kind: 'fault', reason: this.cause.message, recordId: this.cause.recordId }
    }
    const recordId = 'executionId' in input ? input.executionId : operation
    return { kind: 'fault', reason: `${operation} failed: ${this.message}`, recordId }
  }
}

/** Without all that it reads, an operation may see what cannot be; with all of it, what it throws is its own fault. */
export function runPass(passes: Passes, set: WorkingSet, now: Instant): Pass | undefined {
  try {
    return passes.run(set, now)
  } catch (error) {
    throw new OperationFailed(error instanceof Error ? error.message : String(error), { cause: error })
  }
}
