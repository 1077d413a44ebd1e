/**
 * Checks that records and indexes agree, in both directions, and repairs differences: each record has exactly the
 * entries that it derives, each entry is derived by its record. Expected to find nothing.
 */
import { matchesFilter } from '../../rules/tenant-filter.ts'
import { flowOwners, memberOwners } from './reconcile-graph.ts'
import { walkNamed } from './reconcile-named.ts'
import { hasRepairedEnough, positionAfter, repairEntriesOf, walkIndex } from './index-repair.ts'
import type { Check, CheckInput, IndexProblem } from './index-repair.ts'
import type { PartitionFamily } from '../../model/families.ts'
import { namedTypesIn } from '../../model/named-types.ts'
import { idsOf } from '../../model/order.ts'
import {
  CANCEL_BACKLOG_INDEX,
  CREATED_INDEX,
  DUE_INDEX,
  FLOWS_INDEX,
  OPEN_WAITPOINTS_INDEX,
  PURGE_INDEX,
  QUEUES_INDEX,
  SIBLING_CANCELS_INDEX,
  laneIndex,
  readyIndex,
} from '../../model/indexes.ts'
import { fileByNamespace, isMisfiled } from '../../lifecycle/queues.ts'
import { scopeOf, stepIdIn } from '../../rules/journal-ids.ts'
import { journalOwners } from './reconcile-journal.ts'
import { RECONCILE_SCAN_COUNT } from '../../limits.ts'
import { walkOwners } from './owned-indexes.ts'
import type { OwnerCursor, Owners } from './owned-indexes.ts'
import type { Execution, Flow, Queue } from '../../model/records.ts'
import { publicStates } from '../../model/public-state.ts'
import type { Tx } from '../../tx.ts'

/** The owners whose indexes are walked: flows, members, and executions with a journal. */
type OwnerStage = 'member_indexes' | 'edge_indexes' | 'journal_indexes'

/** The progress of a walk over the partition: first all records, then the indexes one by one. */
export interface ReconcileCursor extends OwnerCursor {
  readonly stage: 'records' | 'flows' | 'shared_indexes' | 'queue_indexes' | OwnerStage | 'named_indexes'
  readonly queue?: string | undefined
}

export interface ReconcileInput extends CheckInput {
  /** The family of the partition; `fp` unless given. */
  readonly family?: PartitionFamily | undefined
  readonly cursor?: ReconcileCursor | undefined
}

export interface ReconcileResult {
  readonly kind: 'reconciled'
  readonly examined: number
  readonly repaired: IndexProblem[]
  /** Where to continue; undefined once the whole partition is done. */
  readonly cursor: ReconcileCursor | undefined
}

const SHARED_INDEXES: readonly string[] = [
  CREATED_INDEX,
  DUE_INDEX,
  PURGE_INDEX,
  FLOWS_INDEX,
  SIBLING_CANCELS_INDEX,
  CANCEL_BACKLOG_INDEX,
  OPEN_WAITPOINTS_INDEX,
]

/** Follows the indexes of all queues. */
const FIRST_OWNERS: ReconcileCursor = { stage: 'member_indexes', step: 0 }

export function reconcileIndexes(tx: Tx, input: ReconcileInput): ReconcileResult {
  const cursor = input.cursor ?? firstCursor(input)
  const repaired: IndexProblem[] = []
  const check: Check = { input, repaired }
  switch (cursor.stage) {
    case 'records':
    case 'flows':
      return reconcileRecords(tx, cursor, check)
    case 'shared_indexes': {
      const index = SHARED_INDEXES[cursor.step] ?? CREATED_INDEX
      const { examined, position } = walkIndex(tx, index, cursor.position, check)
      const next: ReconcileCursor =
        cursor.step + 1 < SHARED_INDEXES.length
          ? { stage: 'shared_indexes', step: cursor.step + 1 }
          : { stage: 'queue_indexes', step: 0 }
      const again: ReconcileCursor = { stage: 'shared_indexes', step: cursor.step, position }
      return { kind: 'reconciled', examined, repaired, cursor: position === undefined ? next : again }
    }
    case 'queue_indexes':
      return reconcileQueue(tx, cursor, check)
    case 'member_indexes':
    case 'edge_indexes':
    case 'journal_indexes':
      return reconcileOwners(tx, cursor.stage, cursor, check)
    case 'named_indexes':
      return reconcileNamed(tx, cursor, input, check)
  }
}

/** Executions and flows are only in partitions of their own family. */
function firstCursor({ family = 'fp' }: ReconcileInput): ReconcileCursor {
  return { stage: family === 'fp' ? 'records' : 'named_indexes', step: 0 }
}

/** Named records have no tenant, so an engine for some tenants leaves them to another one. */
function reconcileNamed(tx: Tx, cursor: ReconcileCursor, input: ReconcileInput, check: Check): ReconcileResult {
  const repaired = check.repaired
  if (input.filter !== undefined) return { kind: 'reconciled', examined: 0, repaired, cursor: undefined }
  const walked = walkNamed(tx, input.family ?? 'fp', cursor, check)
  const next: ReconcileCursor | undefined =
    walked.cursor === undefined ? undefined : { stage: 'named_indexes', ...walked.cursor }
  return { kind: 'reconciled', examined: walked.examined, repaired, cursor: next }
}

/** All executions with the steps that they wait in, then all flows: missing entries are added. */
function reconcileRecords(tx: Tx, cursor: ReconcileCursor, check: Check): ReconcileResult {
  const repaired = check.repaired
  const isOfFlows = cursor.stage === 'flows'
  const index = isOfFlows ? FLOWS_INDEX : CREATED_INDEX
  const entries = tx.range({ index, from: cursor.position, limit: RECONCILE_SCAN_COUNT })
  const records: (Execution | Flow)[] = isOfFlows
    ? tx.getMany('flow', idsOf(entries))
    : tx.getMany('execution', idsOf(entries))
  let stoppedAt: string | undefined = undefined
  for (const record of records) {
    if (matchesFilter(record, check.input.filter)) {
      repairEntriesOf(tx, record, repaired)
      if (record.type === 'execution') completeStep(tx, record, repaired)
      // Workers of its namespace do not read the queue in which an earlier version has left it.
      if (record.type === 'execution' && isMisfiled(record) && tx.room() > 1) fileByNamespace(tx, record)
    }
    if (hasRepairedEnough(repaired)) {
      stoppedAt = record.id
      break
    }
  }
  const position = positionAfter(entries, stoppedAt)
  const next: ReconcileCursor = isOfFlows ? { stage: 'shared_indexes', step: 0 } : { stage: 'flows', step: 0 }
  const again: ReconcileCursor = { stage: cursor.stage, step: 0, position }
  return {
    kind: 'reconciled',
    examined: entries.length,
    repaired,
    cursor: position === undefined ? next : again,
  }
}

function completeStep(tx: Tx, execution: Execution, repaired: IndexProblem[]): void {
  const state = execution.state
  if (state.phase !== 'suspended') return
  const step = tx.get('step', stepIdIn(scopeOf(execution.id, execution.journal), state.step))
  if (step !== undefined) repairEntriesOf(tx, step, repaired)
}

/** The indexes of a queue: its ready index, and one for each state of its lane. */
function reconcileQueue(tx: Tx, cursor: ReconcileCursor, check: Check): ReconcileResult {
  const repaired = check.repaired
  const queue = currentQueue(tx, cursor)
  if (queue === undefined) return { kind: 'reconciled', examined: 0, repaired, cursor: FIRST_OWNERS }
  const state = publicStates[cursor.step - 1]
  const index = state === undefined ? readyIndex(queue.lane, queue.class) : laneIndex(queue.lane, state)
  const { examined, position } = walkIndex(tx, index, cursor.position, check)
  if (position !== undefined) {
    const again: ReconcileCursor = { stage: 'queue_indexes', step: cursor.step, position, queue: queue.id }
    return { kind: 'reconciled', examined, repaired, cursor: again }
  }
  const next: ReconcileCursor =
    cursor.step >= publicStates.length
      ? nextQueueCursor(tx, queue)
      : { stage: 'queue_indexes', step: cursor.step + 1, queue: queue.id }
  return { kind: 'reconciled', examined, repaired, cursor: next }
}

function currentQueue(tx: Tx, cursor: ReconcileCursor): Queue | undefined {
  if (cursor.queue !== undefined) {
    const known = tx.get('queue', cursor.queue)
    if (known !== undefined) return known
    return tx.scan({ index: QUEUES_INDEX, from: { score: 0, id: cursor.queue }, limit: 1 }, 'queue')[0]
  }
  return tx.scan({ index: QUEUES_INDEX, limit: 1 }, 'queue')[0]
}

function nextQueueCursor(tx: Tx, queue: Queue): ReconcileCursor {
  const next = tx.range({ index: QUEUES_INDEX, from: { score: 0, id: queue.id }, limit: 1 })[0]
  return next === undefined ? FIRST_OWNERS : { stage: 'queue_indexes', step: 0, queue: next.id }
}

function reconcileOwners(tx: Tx, stage: OwnerStage, cursor: ReconcileCursor, check: Check): ReconcileResult {
  const repaired = check.repaired
  const walked = walkOwners(tx, ownersOf(stage), cursor, check)
  const again = walked.cursor
  if (again !== undefined) {
    const { owner, step, position, inside } = again
    const next: ReconcileCursor = { stage, owner, step, position, inside }
    return { kind: 'reconciled', examined: walked.examined, repaired, cursor: next }
  }
  const following = stageAfter(stage)
  const next: ReconcileCursor | undefined = following === undefined ? undefined : { stage: following, step: 0 }
  return { kind: 'reconciled', examined: walked.examined, repaired, cursor: next }
}

function ownersOf(stage: OwnerStage): Owners {
  switch (stage) {
    case 'member_indexes':
      return flowOwners
    case 'edge_indexes':
      return memberOwners
    case 'journal_indexes':
      return journalOwners
  }
}

function stageAfter(stage: OwnerStage): OwnerStage | 'named_indexes' | undefined {
  if (stage === 'member_indexes') return 'edge_indexes'
  if (stage === 'edge_indexes') return 'journal_indexes'
  return namedTypesIn('fp').length > 0 ? 'named_indexes' : undefined
}
