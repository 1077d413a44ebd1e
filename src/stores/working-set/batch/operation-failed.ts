/** Failures of an operation itself, independent of the store. */
import type { Instant } from '../../../kernel/index.ts'
import type { Answer, Call } from '../../store.ts'
import { RefusedRecord } from '../commit/backend.ts'
import type { Pass, Passes } from '../load/passes.ts'
import type { WorkingSet } from '../load/working-set.ts'

/** An operation threw, or wrote a record that cannot be stored. */
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

/** Runs a pass. An error with no data missing is a failure of the operation. */
export function runPass(passes: Passes, set: WorkingSet, now: Instant): Pass | undefined {
  try {
    return passes.run(set, now)
  } catch (error) {
    throw new OperationFailed(error instanceof Error ? error.message : String(error), { cause: error })
  }
}
