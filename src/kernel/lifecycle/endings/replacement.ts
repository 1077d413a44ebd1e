/** Builds what takes the place of an execution under its id. */
import { payloadKeyOf } from '../../model/blob-keys.ts'
import type { Execution } from '../../model/records.ts'
import { nextJournal } from '../../rules/journal-ids.ts'
import type { Tx } from '../../tx.ts'
import { nextRun, withPast } from '../follow-up.ts'
import { newExecution } from '../new-execution.ts'
import type { CreateInput } from '../new-execution.ts'
import { enterQueue, registerQueue } from '../queues.ts'
import { keepTurn } from '../turns.ts'
import { removeAllButJournal } from './remove-execution.ts'

/**
 * Removes what belongs to an execution that has not started, or to an ended one, and returns a new one in its place. The caller
 * stores it with its payload.
 */
export function replacementOf(tx: Tx, existing: Execution, input: CreateInput): Execution {
  const hasEnded = existing.state.phase === 'ended'
  // Only an earlier run can have left attempts.
  if (hasEnded || existing.attempt !== undefined) removeAllButJournal(tx, existing)
  else tx.forget(payloadKeyOf(existing))
  const execution = newExecution(tx, input, existing.epoch)
  const journal = existing.journal
  if (journal !== undefined) execution.journal = nextJournal(journal)
  if (hasEnded) execution.run = nextRun(existing)
  else {
    execution.run = existing.run
    execution.createdAt = existing.createdAt
    execution.followUp = existing.followUp
    execution.payloadSlot = existing.payloadSlot
  }
  execution.pastRequests = withPast(existing, existing.requestId)
  if (!hasEnded && keepTurn(existing, execution)) registerQueue(tx, execution)
  else enterQueue(tx, execution)
  return execution
}
