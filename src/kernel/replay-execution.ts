/** Makes an ended execution runnable again. History, numbering and epoch go on; the counters of the run start over. */
import { recordAttempt } from './attempts.ts'
import { resultKey } from './blobs.ts'
import { REPLAY_CAP } from './limits.ts'
import { makeEligible } from './phases.ts'
import type { ExecutionId } from './records.ts'
import { refused, refusedFor } from './results.ts'
import type { Refused } from './results.ts'
import type { Tx } from './tx.ts'

export interface ReplayInput {
  readonly executionId: ExecutionId
  /** Minted by the caller, the same for every repetition of one replay. */
  readonly requestId: string
  readonly reason?: string | undefined
  readonly by?: string | undefined
}

export type ReplayResult =
  | { readonly kind: 'replayed' | 'already_replayed'; readonly replayCount: number }
  | Refused<'execution_not_found' | 'execution_not_ended' | 'replays_exhausted'>

export function replayExecution(tx: Tx, input: ReplayInput): ReplayResult {
  const execution = tx.get('execution', input.executionId)
  if (execution === undefined) return refused('execution_not_found', { executionId: input.executionId })
  if (execution.lastReplay?.requestId === input.requestId) {
    return { kind: 'already_replayed', replayCount: execution.replayCount }
  }
  const state = execution.state
  if (state.phase !== 'ended') return refusedFor('execution_not_ended', execution)
  if (execution.replayCount >= REPLAY_CAP)
    return refused('replays_exhausted', { executionId: execution.id, limit: REPLAY_CAP })

  // A completed attempt lives in the execution's record only; the next attempt takes its place there.
  if (state.outcome === 'completed') {
    recordAttempt(tx, execution, 'completed', state.at, undefined)
  }
  execution.failureCount = 0
  execution.reclaimCount = 0
  execution.failure = undefined
  execution.progress = undefined
  execution.result = undefined
  execution.lastLease = undefined
  execution.deadlineAt = execution.totalTimeoutMs === undefined ? undefined : tx.now + execution.totalTimeoutMs
  execution.replayCount = execution.replayCount + 1
  execution.lastReplay = { requestId: input.requestId, reason: input.reason, by: input.by, at: tx.now }
  tx.forget(resultKey(execution.id))
  makeEligible(tx, execution, {
    next: execution.attempt === undefined ? 'initial' : 'replay',
    event: 'execution_replayed',
    reason: input.reason,
    by: input.by,
  })
  return { kind: 'replayed', replayCount: execution.replayCount }
}
