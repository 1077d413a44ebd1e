/** Describes one execution. */
import { attemptRecord } from '../../lifecycle/attempts.ts'
import { payloadKeyOf, resultKey } from '../../model/blob-keys.ts'
import { attemptsIndex } from '../../model/indexes.ts'
import { ATTEMPT_HISTORY_MAX } from '../../limits.ts'
import type { Attempt, BlobInfo, Execution, ExecutionId, Instant } from '../../model/records.ts'
import { refused } from '../../results.ts'
import type { Refused } from '../../results.ts'
import { publicState } from '../../model/public-state.ts'
import type { PublicState } from '../../model/public-state.ts'
import type { Tx } from '../../tx.ts'

export interface DescribeInput {
  readonly executionId: ExecutionId
  readonly attempts?: boolean | undefined
  readonly payload?: boolean | undefined
  readonly result?: boolean | undefined
}

export type DescribeResult =
  | {
      readonly kind: 'described'
      readonly execution: Execution
      readonly state: PublicState
      /** Ended attempts, oldest first. */
      readonly attempts: Attempt[]
      readonly payloadBlob: number | undefined
      readonly resultBlob: number | undefined
      readonly at: Instant
    }
  | Refused<'execution_not_found'>

export function describeExecution(tx: Tx, input: DescribeInput): DescribeResult {
  const execution = tx.get('execution', input.executionId)
  if (execution === undefined) return refused('execution_not_found', { executionId: input.executionId })
  return {
    kind: 'described',
    execution,
    state: publicState(execution.state),
    attempts: input.attempts === true ? attemptsOf(tx, execution) : [],
    payloadBlob: input.payload === true ? sendBlob(tx, payloadKeyOf(execution), execution.payload) : undefined,
    resultBlob: input.result === true ? sendBlob(tx, resultKey(execution.id), execution.result) : undefined,
    at: tx.now,
  }
}

function sendBlob(tx: Tx, key: string, info: BlobInfo | undefined): number | undefined {
  return info === undefined ? undefined : tx.send(key, info.size)
}

function attemptsOf(tx: Tx, execution: Execution): Attempt[] {
  const attempts = tx.scan({ index: attemptsIndex(execution.id), limit: ATTEMPT_HISTORY_MAX + 1 }, 'attempt')
  const state = execution.state
  if (state.phase === 'ended' && state.outcome === 'completed') {
    const completed = attemptRecord(execution, { outcome: 'completed', endedAt: state.at, failure: undefined })
    if (completed !== undefined) attempts.push(completed)
  }
  return attempts
}
