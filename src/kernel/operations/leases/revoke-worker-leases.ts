/**
 * Revokes the leases of one worker in a partition, so that other workers claim its executions at once. Walks the active executions
 * of each lane, a page at a time. Idempotent: a revoked execution is not active any more.
 */
import { requeueLostLease } from '../../lifecycle/endings/lost-lease.ts'
import { FLOW_ITEM_WORK, REVOKE_PAGE_COUNT } from '../../limits.ts'
import { QUEUES_INDEX, laneIndex } from '../../model/indexes.ts'
import { joinName } from '../../model/names.ts'
import type { Position } from '../../model/order.ts'
import type { Execution, ExecutionId } from '../../model/records.ts'
import type { Tx } from '../../tx.ts'

/** Behind the queues of every class of a lane. */
const LAST_CLASS = '\u{10ffff}'

/** A lane, and where in its active executions to continue. */
export interface RevokeCursor {
  readonly lane: string
  readonly position?: Position | undefined
}

export interface RevokeWorkerLeasesInput {
  readonly workerInstanceId: string
  /**
   * The time since the last heartbeat of the worker. Leases that were renewed since then are kept: the worker is alive, and
   * only its heartbeats fail. Left out: all its leases are revoked.
   */
  readonly silentMs?: number | undefined
  readonly leaseTtlMs: number
  readonly reason: string
  readonly by?: string | undefined
  readonly cursor?: RevokeCursor | undefined
}

export interface RevokeWorkerLeasesResult {
  readonly kind: 'leases_revoked'
  readonly executionIds: ExecutionId[]
  /** Where to continue; undefined once the partition is done. */
  readonly cursor: RevokeCursor | undefined
}

export function revokeWorkerLeases(tx: Tx, input: RevokeWorkerLeasesInput): RevokeWorkerLeasesResult {
  const executionIds: ExecutionId[] = []
  const cursor = input.cursor ?? laneAfter(tx, undefined)
  if (cursor === undefined) return { kind: 'leases_revoked', executionIds, cursor }
  const page = tx.scan(
    { index: laneIndex(cursor.lane, 'active'), from: cursor.position, limit: REVOKE_PAGE_COUNT },
    'execution',
  )
  let before = cursor.position
  for (const execution of page) {
    if (isHeldBy(tx, execution, input)) {
      if (tx.room() < FLOW_ITEM_WORK) {
        return { kind: 'leases_revoked', executionIds, cursor: { lane: cursor.lane, position: before } }
      }
      revoke(tx, execution.id, input, executionIds)
    }
    before = { score: execution.createdAt, id: execution.id }
  }
  const isLastPage = page.length < REVOKE_PAGE_COUNT
  const next = isLastPage ? laneAfter(tx, cursor.lane) : { lane: cursor.lane, position: before }
  return { kind: 'leases_revoked', executionIds, cursor: next }
}

/** Reads the execution again: the end of another one may have changed it. */
function revoke(tx: Tx, id: ExecutionId, input: RevokeWorkerLeasesInput, revoked: ExecutionId[]): void {
  const execution = tx.get('execution', id)
  if (execution === undefined || !isHeldBy(tx, execution, input)) return
  requeueLostLease(tx, execution, { how: 'lease_revoked', reason: input.reason, by: input.by })
  revoked.push(id)
}

function isHeldBy(tx: Tx, { state }: Execution, input: RevokeWorkerLeasesInput): boolean {
  if (state.phase !== 'active' || state.lease.workerInstanceId !== input.workerInstanceId) return false
  return input.silentMs === undefined || state.lease.expiresAt <= tx.now + input.leaseTtlMs - input.silentMs
}

function laneAfter(tx: Tx, lane: string | undefined): RevokeCursor | undefined {
  const from = lane === undefined ? undefined : { score: 0, id: joinName(lane, LAST_CLASS) }
  const [queue] = tx.scan({ index: QUEUES_INDEX, from, limit: 1 }, 'queue')
  return queue === undefined ? undefined : { lane: queue.lane }
}
