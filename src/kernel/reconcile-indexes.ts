/**
 * Proves that records and indexes agree, in both directions, and repairs what does not: each record stands in exactly
 * the entries that it derives, each entry is derived by its record. Expected to find nothing.
 */
import { matchesFilter } from './filter.ts'
import type { TenantFilter } from './filter.ts'
import { CREATED_INDEX, DUE_INDEX, PURGE_INDEX, QUEUES_INDEX, entriesOf, laneIndex, readyIndex } from './indexes.ts'
import { OPERATION_WORK_LIMIT, RECONCILE_SCAN_COUNT } from './limits.ts'
import type { Execution, Queue } from './records.ts'
import { publicStates } from './state.ts'
import type { IndexEntry, Position, Tx } from './tx.ts'

/** How far a walk over the whole partition has come: first all records, then the indexes one after the other. */
export interface ReconcileCursor {
  readonly stage: 'records' | 'shared_indexes' | 'queue_indexes'
  /** Which of the stage's indexes is walked. */
  readonly step: number
  readonly queue?: string | undefined
  readonly position?: Position | undefined
}

export interface ReconcileInput {
  readonly cursor?: ReconcileCursor | undefined
  readonly filter?: TenantFilter | undefined
  /** Executions whose records cannot be read: they and their entries are left as they are. */
  readonly skip?: readonly string[] | undefined
}

export interface IndexProblem {
  readonly problem: 'missing_entry' | 'wrong_score' | 'extra_entry'
  readonly index: string
  readonly id: string
}

export interface ReconcileResult {
  readonly kind: 'reconciled'
  readonly examined: number
  readonly repaired: IndexProblem[]
  /** Where to go on; undefined once the whole partition has been walked. */
  readonly cursor: ReconcileCursor | undefined
}

const SHARED_INDEXES: readonly string[] = [CREATED_INDEX, DUE_INDEX, PURGE_INDEX]

export function reconcileIndexes(tx: Tx, input: ReconcileInput): ReconcileResult {
  const cursor = input.cursor ?? { stage: 'records', step: 0 }
  const repaired: IndexProblem[] = []
  switch (cursor.stage) {
    case 'records':
      return reconcileRecords(tx, cursor, input, repaired)
    case 'shared_indexes': {
      const walk = walkIndex(tx, SHARED_INDEXES[cursor.step] ?? CREATED_INDEX, cursor, input, repaired)
      const nextStep: ReconcileCursor =
        cursor.step + 1 < SHARED_INDEXES.length
          ? { stage: 'shared_indexes', step: cursor.step + 1 }
          : { stage: 'queue_indexes', step: 0 }
      return { kind: 'reconciled', examined: walk.examined, repaired, cursor: walk.cursor ?? nextStep }
    }
    case 'queue_indexes':
      return reconcileQueue(tx, cursor, input, repaired)
  }
}

function reconcileRecords(
  tx: Tx,
  cursor: ReconcileCursor,
  input: ReconcileInput,
  repaired: IndexProblem[],
): ReconcileResult {
  const range = { index: CREATED_INDEX, from: cursor.position, limit: RECONCILE_SCAN_COUNT }
  const entries = tx.range(range)
  let stoppedAt: string | undefined = undefined
  for (const execution of tx.getMany('execution', idsOf(entries))) {
    if (matchesFilter(execution, input.filter)) repairEntriesOf(tx, execution, repaired)
    if (repaired.length >= OPERATION_WORK_LIMIT) {
      stoppedAt = execution.id
      break
    }
  }
  const position = positionAfter(entries, stoppedAt)
  return {
    kind: 'reconciled',
    examined: entries.length,
    repaired,
    cursor: position === undefined ? { stage: 'shared_indexes', step: 0 } : { stage: 'records', step: 0, position },
  }
}

/** A queue's indexes: the ready one, and one for each state of its lane. */
function reconcileQueue(
  tx: Tx,
  cursor: ReconcileCursor,
  input: ReconcileInput,
  repaired: IndexProblem[],
): ReconcileResult {
  const queue = currentQueue(tx, cursor)
  if (queue === undefined) return { kind: 'reconciled', examined: 0, repaired, cursor: undefined }
  const state = publicStates[cursor.step - 1]
  const index = state === undefined ? readyIndex(queue.lane, queue.class) : laneIndex(queue.lane, state)
  const walk = walkIndex(tx, index, cursor, input, repaired)
  if (walk.cursor !== undefined) {
    const again = walk.cursor
    return {
      kind: 'reconciled',
      examined: walk.examined,
      repaired,
      cursor: { stage: again.stage, step: again.step, position: again.position, queue: queue.id },
    }
  }
  const done = cursor.step >= publicStates.length
  const next: ReconcileCursor | undefined = done
    ? nextQueueCursor(tx, queue)
    : { stage: 'queue_indexes', step: cursor.step + 1, queue: queue.id }
  return { kind: 'reconciled', examined: walk.examined, repaired, cursor: next }
}

function currentQueue(tx: Tx, cursor: ReconcileCursor): Queue | undefined {
  if (cursor.queue !== undefined) {
    const known = tx.get('queue', cursor.queue)
    if (known !== undefined) return known
    return tx.scan({ index: QUEUES_INDEX, from: { score: 0, id: cursor.queue }, limit: 1 }, 'queue')[0]
  }
  return tx.scan({ index: QUEUES_INDEX, limit: 1 }, 'queue')[0]
}

function nextQueueCursor(tx: Tx, queue: Queue): ReconcileCursor | undefined {
  const next = tx.range({ index: QUEUES_INDEX, from: { score: 0, id: queue.id }, limit: 1 })[0]
  return next === undefined ? undefined : { stage: 'queue_indexes', step: 0, queue: next.id }
}

/** Corrects entries that no record derives and completes the entries of records that were found this way. */
function walkIndex(
  tx: Tx,
  index: string,
  cursor: ReconcileCursor,
  input: ReconcileInput,
  repaired: IndexProblem[],
): { readonly examined: number; readonly cursor: ReconcileCursor | undefined } {
  const entries = tx.range({ index, from: cursor.position, limit: RECONCILE_SCAN_COUNT })
  let stoppedAt: string | undefined = undefined
  for (const entry of entries) {
    if (input.skip?.includes(entry.id) === true) continue
    const execution = tx.get('execution', entry.id)
    if (execution === undefined || matchesFilter(execution, input.filter)) {
      const derived = execution === undefined ? undefined : derivedScore(execution, index)
      if (derived !== entry.score) {
        tx.repair(index, entry.id, derived, entry.score)
        repaired.push({ problem: derived === undefined ? 'extra_entry' : 'wrong_score', index, id: entry.id })
      }
      if (execution !== undefined) repairEntriesOf(tx, execution, repaired)
    }
    if (repaired.length >= OPERATION_WORK_LIMIT) {
      stoppedAt = entry.id
      break
    }
  }
  const position = positionAfter(entries, stoppedAt)
  return {
    examined: entries.length,
    cursor: position === undefined ? undefined : { stage: cursor.stage, step: cursor.step, position },
  }
}

function derivedScore(execution: Execution, index: string): number | undefined {
  for (const entry of entriesOf(execution)) if (entry.index === index) return entry.score
  return undefined
}

function repairEntriesOf(tx: Tx, execution: Execution, repaired: IndexProblem[]): void {
  for (const entry of entriesOf(execution)) {
    const score = tx.score(entry.index, entry.id, entry.score)
    if (score === entry.score) continue
    tx.repair(entry.index, entry.id, entry.score, score)
    const problem = score === undefined ? 'missing_entry' : 'wrong_score'
    repaired.push({ problem, index: entry.index, id: entry.id })
  }
}

function idsOf(entries: readonly IndexEntry[]): string[] {
  const ids: string[] = []
  for (const entry of entries) ids.push(entry.id)
  return ids
}

/** Where the walk over an index goes on: behind the entry at which it stopped, else behind a full page. */
function positionAfter(entries: readonly IndexEntry[], stoppedAt: string | undefined): Position | undefined {
  if (stoppedAt !== undefined) {
    for (const entry of entries) if (entry.id === stoppedAt) return { score: entry.score, id: entry.id }
  }
  const last = entries[entries.length - 1]
  return entries.length < RECONCILE_SCAN_COUNT || last === undefined ? undefined : { score: last.score, id: last.id }
}
