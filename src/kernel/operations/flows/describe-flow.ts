/** Describes flows: one with its counts, its members in graph order, the edges of one member, all of a partition. */
import {
  FLOWS_INDEX,
  OPEN_EDGES,
  edgeId,
  flowFiringsIndex,
  inboundIndex,
  membersIndex,
  outboundIndex,
} from '../../model/indexes.ts'
import { EDGE_PAGE_MAX, LIST_PAGE_MAX, LIST_SCAN_COUNT, MEMBER_PAGE_MAX } from '../../limits.ts'
import type { Edge, Execution, ExecutionId, Flow, FlowId, Instant } from '../../model/records.ts'
import { refused } from '../../results.ts'
import type { Refused } from '../../results.ts'
import type { Range, Tx } from '../../tx.ts'
import type { Position } from '../../model/order.ts'
import { flowNotFound, revisionOf } from '../../lifecycle/flows/flow-guards.ts'
import { withFollowUpBegun } from '../../lifecycle/flows/flow-follow-up.ts'
import { isFlowFinished, isGivingWay, liveCount, publicFlowState } from '../../rules/flow-state.ts'
import type { PublicFlowState } from '../../rules/flow-state.ts'
import { readEdgeGuard } from '../../lifecycle/flows/inbound.ts'

export interface DescribeFlowInput {
  readonly flowId: FlowId
}

export interface FlowView {
  readonly flow: Flow
  readonly state: PublicFlowState
  readonly revision: number
  readonly liveCount: number
  /** Whether nothing in it will change without another call. */
  readonly settled: boolean
}

export type DescribeFlowResult =
  { readonly kind: 'flow_described'; readonly view: FlowView; readonly at: Instant } | Refused<'flow_not_found'>

export function describeFlow(tx: Tx, input: DescribeFlowInput): DescribeFlowResult {
  const flow = tx.get('flow', input.flowId)
  const seen = flow && withFollowUpBegun(flow)
  if (seen === undefined || seen.walk?.purpose === 'remove') return flowNotFound(input.flowId)
  return { kind: 'flow_described', view: viewOf(seen), at: tx.now }
}

function viewOf(flow: Flow): FlowView {
  return {
    flow,
    state: publicFlowState(flow),
    revision: revisionOf(flow),
    liveCount: liveCount(flow.counts),
    settled: isFlowFinished(flow),
  }
}

export interface ListMembersInput {
  readonly flowId: FlowId
  readonly cursor?: Position | undefined
  readonly limit: number
  /** Whether to list the upstreams of each member. */
  readonly edges?: boolean | undefined
}

export interface MemberView {
  readonly execution: Execution
  readonly upstreams: { readonly executionId: ExecutionId; readonly isOpen: boolean }[]
}

export type ListMembersResult =
  | {
      readonly kind: 'members_listed'
      readonly members: MemberView[]
      readonly cursor: Position | undefined
      readonly at: Instant
    }
  | Refused<'flow_not_found'>

/** In the order of the graph. A page ends early at the limit of edges. */
export function listFlowMembers(tx: Tx, input: ListMembersInput): ListMembersResult {
  const flow = tx.get('flow', input.flowId)
  // The members of the earlier run are being removed, and the next one has none yet.
  if (flow !== undefined && isGivingWay(flow)) {
    return { kind: 'members_listed', members: [], cursor: undefined, at: tx.now }
  }
  if (flow === undefined || flow.walk?.purpose === 'remove') return flowNotFound(input.flowId)
  const limit = Math.max(1, Math.min(input.limit, MEMBER_PAGE_MAX))
  const page = tx.scan({ index: membersIndex(input.flowId), from: input.cursor, limit }, 'execution')
  const members: MemberView[] = []
  let edgeCount = 0
  for (const execution of page) {
    const upstreams: MemberView['upstreams'] = []
    if (input.edges === true && (execution.member?.group?.total ?? 0) > 0) {
      const range = { index: inboundIndex(execution.id), from: { score: OPEN_EDGES }, limit: EDGE_PAGE_MAX }
      for (const entry of tx.range(range)) {
        upstreams.push({ executionId: entry.id as ExecutionId, isOpen: entry.score === OPEN_EDGES })
      }
    }
    edgeCount = edgeCount + upstreams.length
    if (members.length > 0 && edgeCount > EDGE_PAGE_MAX) break
    members.push({ execution, upstreams })
  }
  const last = members[members.length - 1]?.execution
  const isLast = last === undefined || (page.length < limit && members.length === page.length)
  const cursor = isLast ? undefined : { score: last.member?.rank ?? 0, id: last.id }
  return { kind: 'members_listed', members, cursor, at: tx.now }
}

export interface ListEdgesInput {
  readonly executionId: ExecutionId
  readonly direction: 'inbound' | 'outbound'
  readonly cursor?: Position | undefined
  readonly limit: number
}

export type ListEdgesResult =
  | { readonly kind: 'edges_listed'; readonly edges: Edge[]; readonly cursor: Position | undefined }
  | Refused<'execution_not_found'>

/** Open ones first, then by the other member's id. */
export function listEdges(tx: Tx, input: ListEdgesInput): ListEdgesResult {
  const execution = tx.get('execution', input.executionId)
  if (execution === undefined) return refused('execution_not_found', { executionId: input.executionId })
  readEdgeGuard(tx, execution)
  const limit = Math.max(1, Math.min(input.limit, MEMBER_PAGE_MAX))
  const isInbound = input.direction === 'inbound'
  const index = isInbound ? inboundIndex(input.executionId) : outboundIndex(input.executionId)
  const entries = tx.range({ index, from: input.cursor, limit })
  const ids: string[] = []
  for (const entry of entries) {
    ids.push(isInbound ? edgeId(entry.id, input.executionId) : edgeId(input.executionId, entry.id))
  }
  const last = entries.length < limit ? undefined : entries[entries.length - 1]
  const cursor = last === undefined ? undefined : { score: last.score, id: last.id }
  return { kind: 'edges_listed', edges: tx.getMany('edge', ids), cursor }
}

export interface ListFlowsInput {
  readonly namespace?: string | undefined
  readonly name?: string | undefined
  readonly state?: PublicFlowState | undefined
  readonly tag?: { readonly name: string; readonly value: string } | undefined
  /** The id of the schedule that created them. */
  readonly scheduleId?: string | undefined
  readonly cursor?: Position | undefined
  readonly limit: number
}

export interface ListFlowsResult {
  readonly kind: 'flows_listed'
  readonly flows: FlowView[]
  readonly cursor: Position | undefined
  readonly at: Instant
}

/** Newest first; pages may be short, even empty. */
export function listFlows(tx: Tx, input: ListFlowsInput): ListFlowsResult {
  const page = tx.scan(listFlowsRange(input), 'flow')
  const limit = Math.max(1, Math.min(input.limit, LIST_PAGE_MAX))
  const flows: FlowView[] = []
  let last: Flow | undefined = undefined
  for (const flow of page) {
    last = flow
    const seen = withFollowUpBegun(flow)
    if (matches(seen, input)) flows.push(viewOf(seen))
    if (flows.length === limit) break
  }
  const isLast = page.length < LIST_SCAN_COUNT && last?.id === page[page.length - 1]?.id
  const cursor = isLast || last === undefined ? undefined : { score: last.createdAt, id: last.id }
  return { kind: 'flows_listed', flows, cursor, at: tx.now }
}

export function listFlowsRange({ scheduleId, cursor }: ListFlowsInput): Range {
  const index = scheduleId === undefined ? FLOWS_INDEX : flowFiringsIndex(scheduleId)
  return { index, from: cursor, reverse: true, limit: LIST_SCAN_COUNT }
}

function matches(flow: Flow, input: ListFlowsInput): boolean {
  if (flow.walk?.purpose === 'remove') return false
  if (input.namespace !== undefined && flow.namespace !== input.namespace) return false
  if (input.name !== undefined && flow.name !== input.name) return false
  if (input.state !== undefined && publicFlowState(flow) !== input.state) return false
  const wanted = input.tag
  if (wanted === undefined) return true
  for (const tag of flow.tags) if (tag.name === wanted.name && tag.value === wanted.value) return true
  return false
}
