/** Removes a finished flow with its members and their edges, as far as the operation has room. */
import { flowInputKey } from '../../model/blob-keys.ts'
import { flowSubject } from '../../model/events.ts'
import { OPEN_EDGES, edgeId, inboundIndex, membersIndex } from '../../model/indexes.ts'
import { RESOLVE_PAGE_COUNT } from '../../limits.ts'
import type { Execution, Flow } from '../../model/records.ts'
import { removeExecution } from './remove-execution.ts'
import type { Tx } from '../../tx.ts'
import { newWalk, noMembers } from '../../rules/flow-state.ts'

/** Records that are put or removed besides edges and members. */
const FLOW_RESERVE = 2

/**
 * Returns true once nothing is left, except a small record if its id stays taken. Removed members are added to
 * `removed`.
 */
export function removeFlow(tx: Tx, flow: Flow, removed: Execution[]): boolean {
  if (!removeMembers(tx, flow, removed) || tx.room() < FLOW_RESERVE) return false
  if (flow.removedAt === undefined) tx.emit('flow_purged', flowSubject(flow), {})
  if (flow.input !== undefined) tx.forget(flowInputKey(flow))
  if (keepsId(tx, flow)) keepIdOnly(tx, flow)
  else tx.remove('flow', flow.id)
  return true
}

/** Removes the members and edges of a finished flow as far as the operation has room. True once it has none. */
export function removeMembers(tx: Tx, flow: Flow, removed: Execution[]): boolean {
  if (tx.room() < FLOW_RESERVE) return false
  if (flow.walk?.purpose !== 'remove') flow.walk = newWalk('remove')
  // Every call puts the flow: it guards the indexes of its members and edges.
  tx.put(flow)
  const page = tx.range({ index: membersIndex(flow.id), limit: RESOLVE_PAGE_COUNT + 1 })
  for (let i = 0; i < page.length; i++) {
    if (i === RESOLVE_PAGE_COUNT) return false
    const execution = tx.get('execution', page[i]?.id ?? '')
    if (execution === undefined) return tx.fault('a flow lists a member that does not exist', flow.id)
    // What is left of it, if its id stays taken, does not tell its flow.
    const subject = { ...execution }
    if (!removeInboundEdges(tx, execution) || tx.room() < FLOW_RESERVE || !removeExecution(tx, execution)) return false
    tx.emit('execution_purged', subject, {})
    removed.push(execution)
  }
  return true
}

/** Whether the id of a finished flow stays taken after its retention. */
function keepsId(tx: Tx, { changedAt, dedupeMs, removedAt }: Flow): boolean {
  return removedAt === undefined && dedupeMs !== undefined && changedAt + dedupeMs > tx.now
}

/**
 * Reduces the record to what a later submit with its id is compared with: its name, its digest and how it ended. Its tags
 * stay: a purge with a filter finds it by them.
 */
function keepIdOnly(tx: Tx, flow: Flow): void {
  flow.removedAt = tx.now
  flow.walk = undefined
  flow.memberCount = 0
  flow.edgeCount = 0
  flow.counts = noMembers()
  flow.failedSinkCount = 0
  flow.shortGroupCount = 0
  flow.ignoredCount = undefined
  flow.input = undefined
  flow.inputSlot = undefined
  tx.put(flow)
}

/** Every edge leads to one member, so all edges are removed with the members. */
function removeInboundEdges(tx: Tx, execution: Execution): boolean {
  if ((execution.member?.group?.total ?? 0) === 0) return true
  const index = inboundIndex(execution.id)
  const edges = tx.range({ index, from: { score: OPEN_EDGES }, limit: RESOLVE_PAGE_COUNT + 1 })
  for (let i = 0; i < edges.length; i++) {
    if (i === RESOLVE_PAGE_COUNT || tx.room() <= FLOW_RESERVE) return false
    const id = edgeId(edges[i]?.id ?? '', execution.id)
    if (tx.has('edge', id)) tx.remove('edge', id)
  }
  return true
}
