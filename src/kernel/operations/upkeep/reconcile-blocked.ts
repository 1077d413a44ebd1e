/**
 * Checks that a gate will release every execution that a limit blocks, lane by lane: restores gates that are missing, and opens
 * those that the due pass has missed. A repair means a fault elsewhere, and is reported. A lane that executions have left, because a
 * shaped submit has moved them, loses its queues here: the submit cannot know that it was the last one.
 */
import { neededOf } from '../../lifecycle/limits/claim-admission.ts'
import { releaseBehind } from '../../lifecycle/limits/gates.ts'
import { removeEmptyQueues } from '../../lifecycle/queues.ts'
import { BLOCKED_RECONCILE_COUNT, GATE_RELEASE_MAX, LIMIT_OVERDUE_MS } from '../../limits.ts'
import { QUEUES_INDEX, gateId, laneIndex } from '../../model/indexes.ts'
import type { Position } from '../../model/order.ts'
import type { Execution, LimitRef } from '../../model/records.ts'
import { laneLimitName } from '../../rules/lane-state.ts'
import { matchesFilter } from '../../rules/tenant-filter.ts'
import type { TenantFilter } from '../../rules/tenant-filter.ts'
import type { Tx } from '../../tx.ts'

export interface BlockedCursor {
  readonly lane: string
  readonly position?: Position | undefined
}

export interface ReconcileBlockedInput {
  readonly cursor?: BlockedCursor | undefined
  readonly filter?: TenantFilter | undefined
  /** Executions that failed repeatedly and are skipped for a while. */
  readonly skip?: readonly string[] | undefined
}

export interface BlockedProblem {
  /** `lost_gate`: no gate would have released it. `overdue_gate`: no due pass had opened its gate in time. */
  readonly problem: 'lost_gate' | 'overdue_gate'
  readonly executionId: string
}

export interface ReconcileBlockedResult {
  readonly kind: 'blocked_reconciled'
  readonly examined: number
  readonly repaired: BlockedProblem[]
  /** Where to continue; undefined once every lane is done. */
  readonly cursor: BlockedCursor | undefined
}

/** Sorts after every queue of a lane and before those of the next: the preceding character is the separator. */
const AFTER_LANE = ' '
/** Records that the repair of one execution puts or removes at most. */
const REPAIR_WORK = 2 * GATE_RELEASE_MAX + 2

export function reconcileBlocked(tx: Tx, input: ReconcileBlockedInput): ReconcileBlockedResult {
  const repaired: BlockedProblem[] = []
  const cursor = input.cursor ?? laneAfter(tx, undefined)
  if (cursor === undefined) return { kind: 'blocked_reconciled', examined: 0, repaired, cursor: undefined }
  const range = { index: laneIndex(cursor.lane, 'rate_limited'), from: cursor.position, limit: BLOCKED_RECONCILE_COUNT }
  const entries = tx.range(range)
  let position = cursor.position
  let examined = 0
  for (const { score, id } of entries) {
    if (tx.room() < REPAIR_WORK) break
    const execution = input.skip?.includes(id) === true ? undefined : tx.getMany('execution', [id])[0]
    if (execution !== undefined && matchesFilter(execution, input.filter)) reconcile(tx, execution, repaired)
    position = { score, id }
    examined = examined + 1
  }
  const isLast = examined === entries.length && entries.length < BLOCKED_RECONCILE_COUNT
  if (isLast && examined === 0) removeEmptyQueues(tx, cursor.lane)
  const next = isLast ? laneAfter(tx, cursor.lane) : { lane: cursor.lane, position }
  return { kind: 'blocked_reconciled', examined, repaired, cursor: next }
}

function laneAfter(tx: Tx, lane: string | undefined): BlockedCursor | undefined {
  const from = lane === undefined ? undefined : { score: 0, id: lane + AFTER_LANE }
  const queue = tx.scan({ index: QUEUES_INDEX, from, limit: 1 }, 'queue')[0]
  return queue === undefined ? undefined : { lane: queue.lane }
}

function reconcile(tx: Tx, execution: Execution, repaired: BlockedProblem[]): void {
  const { state, id } = execution
  // The index reconciler finds a wrong entry.
  if (state.phase !== 'blocked' || state.gate === undefined) return
  const gate = tx.get('gate', state.gate)
  if (gate === undefined) {
    const needed = neededBehind(execution, state.gate)
    if (needed === undefined) return tx.fault('an execution is blocked by a limit that it does not need', id)
    const { limit, key } = needed
    // The cause is not known any more. The first execution that the gate releases asks for a permit, and learns the cause.
    const cause = 'concurrency'
    tx.put({ type: 'gate', id: state.gate, limit, key, cause, until: tx.now, permits: 1, createdAt: tx.now })
    repaired.push({ problem: 'lost_gate', executionId: id })
    return
  }
  if (gate.until + LIMIT_OVERDUE_MS > tx.now) return
  releaseBehind(tx, gate, gate.permits)
  repaired.push({ problem: 'overdue_gate', executionId: id })
}

/** Returns what an execution needs of the limit of a gate. */
function neededBehind(execution: Execution, gate: string): LimitRef | undefined {
  const own = execution.limits?.find(({ limit, key }) => gateId(limit, key) === gate)
  const ofLane = laneLimitName(execution.lane, execution.namespace)
  return own ?? (gateId(ofLane, '') === gate ? neededOf(execution, ofLane, '') : undefined)
}
