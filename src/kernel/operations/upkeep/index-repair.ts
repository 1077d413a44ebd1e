/** Checks records against their index entries, and index entries against their records. */
import { matchesFilter } from '../../rules/tenant-filter.ts'
import type { TenantFilter } from '../../rules/tenant-filter.ts'
import { OPEN_WAITPOINTS_INDEX } from '../../model/indexes.ts'
import { entriesOf } from '../../rules/index-entries.ts'
import { OPERATION_WORK_LIMIT, RECONCILE_SCAN_COUNT } from '../../limits.ts'
import type { AnyRecord, Execution, Flow } from '../../model/records.ts'
import { isFlowId, nameStart } from '../../model/names.ts'
import type { Tx } from '../../tx.ts'
import type { IndexEntry, Position } from '../../model/order.ts'

export interface IndexProblem {
  readonly problem: 'missing_entry' | 'wrong_score' | 'extra_entry'
  readonly index: string
  readonly id: string
}

/** What a check covers. */
export interface CheckInput {
  readonly filter?: TenantFilter | undefined
  /** Executions and flows whose records cannot be read: they and their entries stay as they are. */
  readonly skip?: readonly string[] | undefined
}

/** The work of one call. */
export interface Check {
  readonly input: CheckInput
  readonly repaired: IndexProblem[]
}

/** One page of a walk. */
export interface WalkedPage {
  readonly examined: number
  /** The entry after which to continue; undefined on the last page. */
  readonly position: Position | undefined
}

/** Corrects entries that no record derives, and adds the missing entries of the records it finds. */
export function walkIndex(tx: Tx, index: string, from: Position | undefined, { input, repaired }: Check): WalkedPage {
  const entries = tx.range({ index, from, limit: RECONCILE_SCAN_COUNT })
  let stoppedAt: string | undefined = undefined
  for (const entry of entries) {
    const isWaitpoint = index === OPEN_WAITPOINTS_INDEX
    const ownerId = isWaitpoint ? nameStart(entry.id) : entry.id
    if (input.skip?.includes(ownerId) === true) continue
    const record = recordOf(tx, ownerId)
    if (record === undefined || matchesFilter(record, input.filter)) {
      checkEntry(tx, entry, record, repaired)
      if (isWaitpoint) completeWaitpoint(tx, entry.id, repaired)
    }
    if (hasRepairedEnough(repaired)) {
      stoppedAt = entry.id
      break
    }
  }
  return { examined: entries.length, position: positionAfter(entries, stoppedAt) }
}

/** An open waitpoint is indexed by its execution, and has a record with entries of its own. */
function completeWaitpoint(tx: Tx, waitpointId: string, repaired: IndexProblem[]): void {
  const waitpoint = tx.get('waitpoint', waitpointId)
  if (waitpoint !== undefined) repairEntriesOf(tx, waitpoint, repaired)
}

function recordOf(tx: Tx, id: string): Execution | Flow | undefined {
  return isFlowId(id) ? tx.get('flow', id) : tx.get('execution', id)
}

/** Corrects an entry by the record that should derive it, and adds the record's missing entries. */
export function checkEntry(tx: Tx, entry: IndexEntry, record: AnyRecord | undefined, repaired: IndexProblem[]): void {
  const derived = record === undefined ? undefined : derivedScore(record, entry)
  if (derived !== entry.score) {
    tx.repair(entry.index, entry.id, derived, entry.score)
    const problem = derived === undefined ? 'extra_entry' : 'wrong_score'
    repaired.push({ problem, index: entry.index, id: entry.id })
  }
  // The walk has found this entry where it belongs, so its score is not read again.
  const known = derived === entry.score ? entry : undefined
  if (record !== undefined) repairEntriesOf(tx, record, repaired, known)
}

function derivedScore(record: AnyRecord, { index, id }: IndexEntry): number | undefined {
  for (const entry of entriesOf(record)) if (entry.index === index && entry.id === id) return entry.score
  return undefined
}

export function repairEntriesOf(tx: Tx, record: AnyRecord, repaired: IndexProblem[], known?: IndexEntry): void {
  for (const entry of entriesOf(record)) {
    if (entry.index === known?.index && entry.id === known.id) continue
    const score = tx.score(entry.index, entry.id, entry.score)
    if (score === entry.score) continue
    tx.repair(entry.index, entry.id, entry.score, score)
    const problem = score === undefined ? 'missing_entry' : 'wrong_score'
    repaired.push({ problem, index: entry.index, id: entry.id })
  }
}

/** Whether one step has reached its limit of repairs. */
export function hasRepairedEnough(repaired: readonly IndexProblem[]): boolean {
  return repaired.length >= OPERATION_WORK_LIMIT
}

/** Returns where the walk over an index continues: after the entry at which it stopped, or after a full page. */
export function positionAfter(entries: readonly IndexEntry[], stoppedAt: string | undefined): Position | undefined {
  if (stoppedAt !== undefined) {
    for (const entry of entries) if (entry.id === stoppedAt) return { score: entry.score, id: entry.id }
  }
  const last = entries[entries.length - 1]
  return entries.length < RECONCILE_SCAN_COUNT || last === undefined ? undefined : { score: last.score, id: last.id }
}
