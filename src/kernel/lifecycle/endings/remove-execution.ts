/** Takes an execution out of the store with everything that belongs to it alone. */
import { payloadKey, resultKey } from '../../model/blob-keys.ts'
import { attemptsIndex } from '../../model/indexes.ts'
import { removeJournal } from '../journal/sweep-journal.ts'
import { ATTEMPT_HISTORY_MAX } from '../../limits.ts'
import type { Execution } from '../../model/records.ts'
import type { Tx } from '../../tx.ts'
import type { IndexEntry } from '../../model/order.ts'

/**
 * Removes an execution and everything that belongs to it, as far as the operation has room: true once nothing is left. What
 * an execution remembers may take several calls; from the first on, it is past every replay.
 */
export function removeExecution(tx: Tx, execution: Execution): boolean {
  const journal = execution.journal
  if (journal !== undefined) {
    if (tx.room() === 0) return false
    // Put by every call, not only by the first: the execution guards the indexes from which records are removed.
    journal.isRemoving = true
    tx.put(execution)
    if (!removeJournal(tx, execution)) return false
  }
  const attempts = attemptsOf(tx, execution)
  if (tx.room() < attempts.length + 2) return false
  removeParts(tx, execution, attempts)
  tx.remove('execution', execution.id)
  return true
}

/** Makes room for an execution that takes the place of this one; what this one remembers is removed in the background. */
export function removeAllButJournal(tx: Tx, execution: Execution): void {
  removeParts(tx, execution, attemptsOf(tx, execution))
}

function attemptsOf(tx: Tx, execution: Execution): IndexEntry[] {
  return tx.range({ index: attemptsIndex(execution.id), limit: ATTEMPT_HISTORY_MAX + 1 })
}

function removeParts(tx: Tx, execution: Execution, attempts: readonly IndexEntry[]): void {
  for (const entry of attempts) if (tx.has('attempt', entry.id)) tx.remove('attempt', entry.id)
  tx.forget(payloadKey(execution.id))
  tx.forget(resultKey(execution.id))
}
