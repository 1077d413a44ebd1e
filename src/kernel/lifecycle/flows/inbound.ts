/** Reads the inbound edges of a member. */
import { OPEN_EDGES, RESOLVED_EDGES, edgeId, inboundIndex } from '../../model/indexes.ts'
import { IN_DEGREE_MAX, RESOLVE_PAGE_COUNT } from '../../limits.ts'
import type { Edge, Execution, ExecutionId } from '../../model/records.ts'
import type { Range, Tx } from '../../tx.ts'

/** Reads the flow of a member, which guards the indexes of its edges. Call before these are read. */
export function readEdgeGuard(tx: Tx, execution: Execution): void {
  if (execution.member !== undefined) tx.has('flow', execution.member.flowId)
}

/** The edges whose upstream has ended, in the order of the upstream ids. */
export function resolvedRange(downstreamId: string, from: string | undefined, limit: number): Range {
  return { index: inboundIndex(downstreamId), from: { score: RESOLVED_EDGES, id: from }, limit }
}

export function resolvedEdges(tx: Tx, downstreamId: string, from: string | undefined, limit: number): Edge[] {
  const ids: string[] = []
  for (const entry of tx.range(resolvedRange(downstreamId, from, limit))) ids.push(edgeId(entry.id, downstreamId))
  return tx.getMany('edge', ids)
}

export function inboundEdges(tx: Tx, downstreamId: string): Edge[] {
  const range = { index: inboundIndex(downstreamId), from: { score: OPEN_EDGES }, limit: IN_DEGREE_MAX }
  const ids: string[] = []
  for (const entry of tx.range(range)) ids.push(edgeId(entry.id, downstreamId))
  return tx.getMany('edge', ids)
}

/** Returns an upstream that made the member's group impossible, if one is among the first resolved edges. */
export function firstFailedUpstream(tx: Tx, downstreamId: string): ExecutionId | undefined {
  for (const edge of resolvedEdges(tx, downstreamId, undefined, RESOLVE_PAGE_COUNT)) {
    if (edge.state === 'impossible') return edge.upstreamId
  }
  return undefined
}
