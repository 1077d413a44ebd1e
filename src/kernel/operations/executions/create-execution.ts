/** Creates an execution. Idempotent per id; `ifExists` decides how a repeated id is handled. */
import { payloadKey } from '../../model/blob-keys.ts'
import { queueOf, registerQueue, removeEmptyQueues } from '../../lifecycle/queues.ts'
import type { Execution, ExecutionId, Instant } from '../../model/records.ts'
import { newJournal } from '../../rules/journal-ids.ts'
import { removeAllButJournal } from '../../lifecycle/endings/remove-execution.ts'
import { refusedFor } from '../../results.ts'
import type { Refused } from '../../results.ts'
import { publicState } from '../../model/public-state.ts'
import type { PublicState } from '../../model/public-state.ts'
import type { Tx } from '../../tx.ts'
import { delayOf, newExecution, storeExecution } from '../../lifecycle/new-execution.ts'
import type { CreateInput } from '../../lifecycle/new-execution.ts'

export type CreateResult =
  | {
      readonly kind: 'created' | 'replaced' | 'joined'
      readonly executionId: ExecutionId
      readonly state: PublicState
      readonly at: Instant
    }
  | Refused<'execution_exists' | 'execution_in_progress' | 'execution_in_flow'>

export function createExecution(tx: Tx, input: CreateInput): CreateResult {
  const existing = tx.get('execution', input.executionId)
  if (existing === undefined) {
    const execution = newExecution(tx, input, 0)
    registerQueue(tx, execution)
    storeExecution(tx, execution, input)
    tx.emit('execution_created', execution, { until: delayOf(execution) })
    return answer('created', execution)
  }
  if (existing.requestId === input.requestId) return answer('created', existing)
  switch (input.ifExists) {
    case 'join':
      // A caller that joined an execution of another task would wait for a result of another type.
      if (existing.task !== input.task) return refusedFor('execution_exists', existing)
      return answer('joined', existing)
    case 'reject':
      return refusedFor('execution_exists', existing)
    case 'replace':
      return replaceExecution(tx, existing, input)
  }
}

/** Replaces an execution that has not started, or an ended one. Any other has had side effects and is refused. */
function replaceExecution(tx: Tx, existing: Execution, input: CreateInput): CreateResult {
  const phase = existing.state.phase
  // A member cannot be replaced without its flow.
  if (existing.member !== undefined) return refusedFor('execution_in_flow', existing)
  const started = phase === 'active' || phase === 'suspended' || (phase !== 'ended' && existing.attempt !== undefined)
  if (started) return refusedFor('execution_in_progress', existing)
  if (phase === 'ended') removeAllButJournal(tx, existing)
  const execution = newExecution(tx, input, existing.epoch)
  const journal = existing.journal
  if (journal !== undefined) execution.journal = newJournal(journal.life + 1, journal.firstLife)
  if (phase !== 'ended') {
    execution.createdAt = existing.createdAt
    tx.forget(payloadKey(execution.id))
  }
  registerQueue(tx, execution)
  storeExecution(tx, execution, input)
  if (queueOf(existing) !== queueOf(execution)) removeEmptyQueues(tx, existing.lane)
  tx.emit('execution_replaced', execution, { until: delayOf(execution) })
  return answer('replaced', execution)
}

function answer(kind: 'created' | 'replaced' | 'joined', execution: Execution): CreateResult {
  return { kind, executionId: execution.id, state: publicState(execution.state), at: execution.createdAt }
}
