/**
 * What an operation is going to read, as far as its input tells. A store whose data lies across a network loads all of it
 * in one go before the operation runs. A plan is a hint: what it leaves out is loaded when the operation asks for it, and
 * what it names in vain costs a little time.
 */
import { attemptId } from './attempts.ts'
import { payloadKey, resultKey } from './blobs.ts'
import type { ClaimInput } from './claim-for-worker.ts'
import { DUE_INDEX, PURGE_INDEX, attemptsIndex, queueId, readyIndex } from './indexes.ts'
import { ATTEMPT_HISTORY_MAX, CLAIM_COUNT_MAX, PURGE_COUNT_MAX } from './limits.ts'
import { listRange } from './list-executions.ts'
import type { OperationInput, OperationName } from './operations.ts'
import type { RecordType } from './records.ts'
import type { Range } from './tx.ts'

/** Takes note of what will be read. */
export interface Plan {
  readonly record: (type: RecordType, id: string) => void
  readonly blob: (key: string) => void
  /** The first entries of an index, with the executions that they name; operations of one batch that name the same one each get theirs. */
  readonly head: (index: string, limit: number) => void
  /** The same together with the executions' payloads. */
  readonly work: (index: string, limit: number) => void
  readonly page: (range: Range) => void
}

type PlanOf<N extends OperationName> = (plan: Plan, input: OperationInput<N>) => void

export const plans: { readonly [N in OperationName]: PlanOf<N> } = {
  createExecution: (plan, input) => {
    plan.record('execution', input.executionId)
    plan.record('queue', queueId(input.lane, input.class))
  },
  claimForWorker: planClaim,
  renewLease: planExecution,
  completeExecution: (plan, input) => {
    plan.record('execution', input.executionId)
    if (input.next !== undefined) planClaim(plan, input.next)
  },
  failExecution: (plan, input) => {
    plan.record('execution', input.executionId)
    plan.record('attempt', attemptId(input.executionId, input.fence.attempt))
  },
  releaseExecution: planExecution,
  delayExecution: planExecution,
  updateProgress: planExecution,
  cancelExecution: planExecution,
  revokeLease: planExecution,
  changePriority: planExecution,
  setTags: planExecution,
  replayExecution: planExecution,
  // Most passes find nothing due: the first entry tells when it will be.
  runDue: (plan) => plan.head(DUE_INDEX, 1),
  purgeExecutions: (plan) => plan.head(PURGE_INDEX, PURGE_COUNT_MAX + 1),
  reconcileIndexes: () => undefined,
  describeExecution: (plan, input) => {
    plan.record('execution', input.executionId)
    if (input.payload === true) plan.blob(payloadKey(input.executionId))
    if (input.result === true) plan.blob(resultKey(input.executionId))
    if (input.attempts === true) plan.head(attemptsIndex(input.executionId), ATTEMPT_HISTORY_MAX + 1)
  },
  listExecutions: (plan, input) => plan.page(listRange(input)),
  countExecutions: () => undefined,
  explainExecution: planExecution,
  inspectPartition: () => undefined,
}

/** Notes what a call of any operation will read. */
export function planCall<N extends OperationName>(plan: Plan, operation: N, input: OperationInput<N>): void {
  const planOf: PlanOf<N> = plans[operation]
  planOf(plan, input)
}

function planExecution(plan: Plan, input: { readonly executionId: string }): void {
  plan.record('execution', input.executionId)
}

function planClaim(plan: Plan, input: ClaimInput): void {
  plan.head(DUE_INDEX, 1)
  const count = Math.min(input.count, CLAIM_COUNT_MAX)
  for (const queue of input.queues) plan.work(readyIndex(queue.lane, queue.class), count + 1)
}
