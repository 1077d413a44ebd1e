/** Removes an execution and everything that belongs to it alone. Its id may stay taken for longer. */
import { payloadKeyOf, resultKey } from '../../model/blob-keys.ts'
import { attemptsIndex } from '../../model/indexes.ts'
import { cancelChildren } from './cancel-children.ts'
import { continueLine } from '../shaping/line.ts'
import { removeJournal } from '../journal/sweep-journal.ts'
import { ATTEMPT_HISTORY_MAX } from '../../limits.ts'
import type { Execution } from '../../model/records.ts'
import type { Tx } from '../../tx.ts'
import type { IndexEntry } from '../../model/order.ts'

/** The shaping key and the next execution of it. */
const LINE_WORK = 2

/**
 * Removes an execution with its attempts, blobs and journal, as far as the operation has room. Returns true once nothing
 * is left, except a small record if its id stays taken. A journal may take several calls; from the first one on, the execution cannot be replayed.
 */
export function removeExecution(tx: Tx, execution: Execution): boolean {
  const journal = execution.journal
  if (journal !== undefined) {
    if (tx.room() === 0) return false
    // Every call puts the execution: it guards the indexes from which records are removed.
    journal.isRemoving = true
    tx.put(execution)
    // A member may be removed with its flow before the due pass has cancelled its children.
    if (journal.childCancels !== undefined) cancelChildren(tx, execution)
    if (execution.journal?.childCancels !== undefined || !removeJournal(tx, execution)) return false
  }
  const attempts = attemptsOf(tx, execution)
  const lineWork = execution.shaping?.holdsBack === true ? LINE_WORK : 0
  if (tx.room() < attempts.length + 2 + lineWork) return false
  removeParts(tx, execution, attempts)
  // An operator may remove what holds back others.
  continueLine(tx, execution)
  if (keepsId(tx, execution)) keepIdOnly(tx, execution)
  else tx.remove('execution', execution.id)
  return true
}

/** Whether the id of an ended execution stays taken after its retention. */
function keepsId(tx: Tx, { state, dedupeMs, removed }: Execution): boolean {
  if (state.phase !== 'ended' || removed !== undefined) return false
  return dedupeMs !== undefined && state.at + dedupeMs > tx.now
}

/**
 * Reduces the record to what a later submit with its id is compared with: its task, its input and how it ended. Its tags
 * stay: a purge with a filter finds it by them.
 */
function keepIdOnly(tx: Tx, execution: Execution): void {
  execution.removed = { at: tx.now, hadResult: execution.result !== undefined }
  execution.payload = undefined
  execution.result = undefined
  execution.failure = undefined
  execution.progress = undefined
  execution.lastLease = undefined
  execution.refusals = undefined
  execution.member = undefined
  execution.journal = undefined
  execution.payloadSlot = undefined
  execution.lastReplay = undefined
  execution.unwinding = undefined
  execution.parent = undefined
  tx.put(execution)
}

/** Removes the attempts and blobs of an execution that is being replaced. Its journal is removed in the background. */
export function removeAllButJournal(tx: Tx, execution: Execution): void {
  removeParts(tx, execution, attemptsOf(tx, execution))
}

function attemptsOf(tx: Tx, execution: Execution): IndexEntry[] {
  return tx.range({ index: attemptsIndex(execution.id), limit: ATTEMPT_HISTORY_MAX + 1 })
}

function removeParts(tx: Tx, execution: Execution, attempts: readonly IndexEntry[]): void {
  for (const entry of attempts) if (tx.has('attempt', entry.id)) tx.remove('attempt', entry.id)
  tx.forget(payloadKeyOf(execution))
  tx.forget(resultKey(execution.id))
}
