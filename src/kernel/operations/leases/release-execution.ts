/**
 * Releases an execution, as at shutdown: another worker continues the same attempt, which costs no retry. If the holder refuses
 * the input, the release has a growing delay, and the execution fails after a bounded number of refusals.
 */
import { cancelIfRequested } from '../../lifecycle/endings/pending-cancel.ts'
import { leaseEnded, refuseUnlessHeld } from '../../lifecycle/fence.ts'
import type { LeaseRefusal } from '../../lifecycle/fence.ts'
import { endExecution, unwindCompensated } from '../../lifecycle/endings/end-execution.ts'
import { INPUT_REFUSED, delayExecutionUntil, makeEligible } from '../../lifecycle/phases.ts'
import type { Execution, ExecutionId, Failure, Fence } from '../../model/records.ts'
import { addRefusal, refusalDelayMs } from '../../rules/input-refusals.ts'
import { refused } from '../../results.ts'
import type { Refused } from '../../results.ts'
import type { Tx } from '../../tx.ts'

export interface ReleaseInput {
  readonly executionId: ExecutionId
  readonly fence: Fence
  readonly reason: string
  /** The handler has not started, so nothing counts against the attempt's timeout. */
  readonly isUnstarted?: boolean | undefined
  /** The input does not fit the schemas of this worker. The handler has not started. */
  readonly refusal?: InputRefusal | undefined
}

/** A refusal of the input. `reason` of the release describes it. */
export interface InputRefusal {
  /** The build of the worker's program. */
  readonly build: string
  /** How many refusals, and refusals by how many builds, end the execution. */
  readonly countLimit: number
  readonly buildLimit: number
}

export type ReleaseResult =
  | { readonly kind: 'released' | 'already_released' | 'cancelled' | 'already_cancelled' }
  | { readonly kind: 'failed' | 'already_failed' }
  | LeaseRefusal
  | Refused<'execution_not_found'>

export function releaseExecution(tx: Tx, input: ReleaseInput): ReleaseResult {
  const execution = tx.get('execution', input.executionId)
  if (execution === undefined) return refused('execution_not_found', { executionId: input.executionId })
  if (leaseEnded(execution, input.fence, 'released')) return { kind: 'already_released' }
  if (leaseEnded(execution, input.fence, 'cancelled')) return { kind: 'already_cancelled' }
  // Its follow-up may have begun since.
  const hasEnded = execution.state.phase === 'ended' || execution.pastRequests !== undefined
  if (hasEnded && input.refusal !== undefined && leaseEnded(execution, input.fence, 'failed'))
    return { kind: 'already_failed' }
  const refusal = refuseUnlessHeld(tx, execution, input.fence)
  if (refusal !== undefined) return refusal

  if (cancelIfRequested(tx, execution) !== undefined) return { kind: 'cancelled' }
  const state = execution.state
  const isUnstarted = input.isUnstarted === true || input.refusal !== undefined
  if (isUnstarted && state.phase === 'active') state.runningSince = tx.now
  if (input.refusal !== undefined) return refuseInput(tx, execution, input.reason, input.refusal)
  if (!isUnstarted) execution.refusals = undefined
  makeEligible(tx, execution, { next: 'continue', how: 'released', event: 'execution_released', reason: input.reason })
  return { kind: 'released' }
}

/** Offers the execution to another worker after a delay, or ends it if enough workers have refused its input. */
function refuseInput(tx: Tx, execution: Execution, reason: string, refusal: InputRefusal): ReleaseResult {
  const refusals = addRefusal(execution.refusals, refusal.build, reason, tx.now)
  if (refusals.count < refusal.countLimit && refusals.builds.length < refusal.buildLimit) {
    const until = tx.now + refusalDelayMs(refusals.count)
    delayExecutionUntil(tx, execution, {
      until,
      cause: 'worker',
      how: 'released',
      event: 'execution_delayed',
      refusals,
    })
    return { kind: 'released' }
  }
  const failure: Failure = { category: INPUT_REFUSED, message: reason, stack: undefined, at: tx.now }
  execution.refusals = refusals
  execution.failureCount = execution.failureCount + 1
  const stop = { outcome: 'failed', reason, by: undefined, failure } as const
  // A worker that accepts the input may still run its compensations.
  if (unwindCompensated(tx, execution, stop, 'released')) return { kind: 'released' }
  endExecution(tx, execution, { ...stop, how: 'failed', attemptOutcome: 'failed' })
  return { kind: 'failed' }
}
