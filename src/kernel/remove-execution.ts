/** Takes an execution out of the store with everything that belongs to it alone. */
import { payloadKey, resultKey } from './blobs.ts'
import { attemptsIndex } from './indexes.ts'
import { ATTEMPT_HISTORY_MAX } from './limits.ts'
import type { Execution } from './records.ts'
import type { Tx } from './tx.ts'

/** Removes an execution and all its attempts, or nothing at all: false if the operation has no room for it. */
export function removeExecution(tx: Tx, execution: Execution): boolean {
  const attempts = tx.range({ index: attemptsIndex(execution.id), limit: ATTEMPT_HISTORY_MAX + 1 })
  if (tx.room() < attempts.length + 2) return false
  for (const entry of attempts) tx.remove('attempt', entry.id)
  tx.forget(payloadKey(execution.id))
  tx.forget(resultKey(execution.id))
  tx.remove('execution', execution.id)
  return true
}
