/** Removes a finished flow with its members and their edges, as far as the operation has room. */
import { flowInputKey } from '../../model/blob-keys.ts'
import { flowSubject } from '../../model/events.ts'
import { OPEN_EDGES, edgeId, inboundIndex, membersIndex } from '../../model/indexes.ts'
import { RESOLVE_PAGE_COUNT } from '../../limits.ts'
import type { Execution, Flow } from '../../model/records.ts'
import { removeExecution } from './remove-execution.ts'
import type { Tx } from '../../tx.ts'
import { newWalk } from '../../rules/flow-state.ts'

/** Records that are put or removed besides edges and members. */
const FLOW_RESERVE = 2

/** Returns true once nothing is left. Removed members are added to `removed`. */
export function removeFlow(tx: Tx, flow: Flow, removed: Execution[]): boolean {
  if (tx.room() < FLOW_RESERVE) return false
  if (flow.walk?.purpose !== 'remove') flow.walk = newWalk('remove')
  // Every call puts the flow: it guards the indexes of its members and edges.
  tx.put(flow)
  const page = tx.range({ index: membersIndex(flow.id), limit: RESOLVE_PAGE_COUNT + 1 })
  for (let i = 0; i < page.length; i++) {
    if (i === RESOLVE_PAGE_COUNT) return false
    const execution = tx.get('execution', page[i]?.id ?? '')
    if (execution === undefined) return tx.fault('a flow lists a member that does not exist', flow.id)
    if (!removeInboundEdges(tx, execution) || tx.room() < FLOW_RESERVE || !removeExecution(tx, execution)) return false
    tx.emit('execution_purged', execution, {})
    removed.push(execution)
  }
  if (tx.room() < FLOW_RESERVE) return false
  if (flow.input !== undefined) tx.forget(flowInputKey(flow.id))
  tx.remove('flow', flow.id)
  tx.emit('flow_purged', flowSubject(flow), {})
  return true
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
