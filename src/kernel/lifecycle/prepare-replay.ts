/** Resets an execution for a replay, before it gets its new state. */
import { recordAttempt } from './attempts.ts'
import { resultKey } from '../model/blob-keys.ts'
import type { Execution } from '../model/records.ts'
import type { Tx } from '../tx.ts'

export interface ReplayRequest {
  readonly requestId: string
  readonly reason: string | undefined
  readonly by: string | undefined
}

/** Resets the counters of the run; history, numbering and epoch continue. The caller sets and puts the state. */
export function prepareReplay(tx: Tx, execution: Execution, request: ReplayRequest): void {
  const state = execution.state
  // A completed attempt is part of the execution's record; the next attempt replaces it there.
  if (state.phase === 'ended' && state.outcome === 'completed') {
    recordAttempt(tx, execution, { outcome: 'completed', endedAt: state.at, failure: undefined })
  }
  execution.failureCount = 0
  execution.reclaimCount = 0
  execution.refusals = undefined
  execution.failure = undefined
  execution.progress = undefined
  execution.result = undefined
  execution.lastLease = undefined
  execution.unwinding = undefined
  execution.deadlineAt = execution.totalTimeoutMs === undefined ? undefined : tx.now + execution.totalTimeoutMs
  execution.replayCount = execution.replayCount + 1
  execution.lastReplay = { requestId: request.requestId, reason: request.reason, by: request.by, at: tx.now }
  const journal = execution.journal
  if (journal !== undefined) {
    journal.round = journal.round + 1
    journal.resumed = undefined
  }
  execution.next = execution.attempt === undefined ? 'initial' : 'replay'
  // Members that have not started may still receive the old result, until the execution completes again.
  if (execution.member === undefined) tx.forget(resultKey(execution.id))
}
