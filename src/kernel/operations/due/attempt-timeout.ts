import { cancelIfRequested } from '../../lifecycle/endings/pending-cancel.ts'
import { scheduleRetry } from '../../lifecycle/schedule-retry.ts'
import { endExecution, unwindCompensated } from '../../lifecycle/endings/end-execution.ts'
import type { Failure } from '../../model/records.ts'
import type { DueCase } from './due-case.ts'

/** Fails an attempt that exceeded its timeout. Without a retry the execution expires, after its compensations have run. */
export const attemptTimeout: DueCase = {
  name: 'attempt_timeout',
  isDue: (execution, now) => {
    const state = execution.state
    return state.phase === 'active' && state.timeoutAt !== undefined && state.timeoutAt <= now
  },
  run: (tx, execution, seed) => {
    if (cancelIfRequested(tx, execution) !== undefined) return
    const failure: Failure = {
      category: 'timeout',
      message: 'the attempt ran longer than its timeout',
      stack: undefined,
      at: tx.now,
    }
    if (scheduleRetry(tx, execution, { failure, how: 'timed_out', seed }) !== undefined) return
    execution.failureCount = execution.failureCount + 1
    const stop = { outcome: 'expired', reason: 'attempt_timeout', by: undefined, failure } as const
    if (unwindCompensated(tx, execution, stop, 'timed_out')) return
    endExecution(tx, execution, { ...stop, how: 'timed_out', attemptOutcome: 'timed_out' })
  },
}
