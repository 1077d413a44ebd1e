/** Attaches members and edges to a flow, and keeps the counts of groups and flow that they change. */
import { expectAbsent } from '../expect-absent.ts'
import { edgeId } from '../../model/indexes.ts'
import { FLOW_EDGE_MAX, IN_DEGREE_MAX } from '../../limits.ts'
import type { Edge, EdgeGroup, EdgeTolerance, Execution, Flow, Handover } from '../../model/records.ts'
import { refused } from '../../results.ts'
import type { Refused } from '../../results.ts'
import type { Tx } from '../../tx.ts'
import { ALL_OF, isShort, newGroup, passesOutcome, waitsForAll } from '../../rules/edge-group.ts'
import type { PolicyInput } from '../../rules/edge-group.ts'
import { countIgnored, isFailedEnd, isSink } from '../flow-counts.ts'
import { isFailure, standingOf } from '../../rules/flow-state.ts'
import { memberOf } from './rank-order.ts'
import { countEdge } from './resolve-edges.ts'

/** Refuses edges beyond the limit of the flow or of the member. */
export function refuseTooMany(
  flow: Flow,
  newEdges: number,
  inDegree: number,
): Refused<'graph_limit_exceeded'> | undefined {
  if (flow.edgeCount + newEdges > FLOW_EDGE_MAX) return refused('graph_limit_exceeded', { limit: FLOW_EDGE_MAX })
  return inDegree > IN_DEGREE_MAX ? refused('graph_limit_exceeded', { limit: IN_DEGREE_MAX }) : undefined
}

/**
 * Whether one result can be the payload: of a single `all_of` edge, or of the first to complete for `any_of`. An upstream whose
 * end satisfies its edge in any case may have none.
 */
export function mayHandPayload(policy: PolicyInput, need: number, payloadEdgeCount: number): boolean {
  if (policy.policy === 'ended') return payloadEdgeCount === 0
  if (policy.policy === 'all_of') return payloadEdgeCount <= 1
  return need <= 1 || payloadEdgeCount === 0
}

/** Whether an edge could pass an outcome as the payload, which only a result can be. */
export function isAmbiguous({ hands, onFailure }: Pick<Link, 'hands' | 'onFailure'>): boolean {
  return hands?.as === 'payload' && onFailure !== undefined
}

/** Makes an execution a member of a flow. Changes both in place; the caller counts and puts them. */
export function attachMember(tx: Tx, flow: Flow, execution: Execution, node: NewMember): void {
  execution.member = {
    flowId: flow.id,
    name: node.name,
    rank: node.rank,
    group: undefined,
    delay: undefined,
    inputCount: 0,
    given: [],
    payloadEdgeCount: 0,
    payloadFrom: undefined,
    owesEdges: false,
    hasCondition: node.hasCondition,
    takesOutcomes: undefined,
    mayFail: undefined,
  }
  if (node.policy !== undefined) setPolicy(tx, flow, execution, node.policy)
}

export interface NewMember {
  readonly name: string
  readonly rank: number
  readonly policy: PolicyInput | undefined
  readonly hasCondition?: true | undefined
}

/** Sets the policy of a member's group. The flow counts groups that are short, and records whether any cancels losers. */
export function setPolicy(tx: Tx, flow: Flow, downstream: Execution, policy: PolicyInput): void {
  const member = memberOf(tx, downstream)
  const before = isShort(downstream) ? 1 : 0
  member.group = newGroup(policy)
  flow.shortGroupCount = flow.shortGroupCount - before + (isShort(downstream) ? 1 : 0)
  if (!waitsForAll(policy.policy) && member.group.losers === 'cancel') flow.cancelsLosers = true
}

/** A new edge between two members of a flow. */
export interface Link {
  readonly flow: Flow
  readonly upstream: Execution
  readonly downstream: Execution
  readonly hands: Handover | undefined
  readonly onFailure: EdgeTolerance | undefined
}

/** Counts and writes an edge. The caller decides the group of the downstream, and puts the downstream and the flow. */
export function link(tx: Tx, edge: Link): void {
  countNewEdge(tx, edge)
  if (allowFailure(tx, edge)) tx.put(edge.upstream)
  writeEdge(tx, edge)
}

/** Marks the upstream of an edge that ignores its failure. Returns whether the caller must put the upstream. */
export function allowFailure(tx: Tx, { flow, upstream, onFailure }: Link): boolean {
  const member = memberOf(tx, upstream)
  if (onFailure !== 'ignore' || member.mayFail === true) return false
  member.mayFail = true
  countIgnored(flow, Number(isFailure(standingOf(upstream))))
  return true
}

/** Counts an edge in its flow and in the group of its downstream, both in place. Returns the group. Writes nothing. */
export function countNewEdge(tx: Tx, { flow, downstream, hands, onFailure }: Link): EdgeGroup {
  const member = memberOf(tx, downstream)
  if (member.group === undefined) setPolicy(tx, flow, downstream, ALL_OF)
  const group = member.group
  if (group === undefined) return tx.fault('a member has no group after its policy was set', downstream.id)
  const wasShort = isShort(downstream) ? 1 : 0
  group.total = group.total + 1
  // Only a group that waits for all its upstreams can get another edge after it was satisfied.
  group.verdict = 'pending'
  group.decidedAt = undefined
  flow.shortGroupCount = flow.shortGroupCount - wasShort + (isShort(downstream) ? 1 : 0)
  flow.edgeCount = flow.edgeCount + 1
  if (hands?.as === 'input') member.inputCount = member.inputCount + 1
  if (hands?.as === 'input' && passesOutcome(group.policy, onFailure)) member.takesOutcomes = true
  if (hands?.as === 'payload') member.payloadEdgeCount = member.payloadEdgeCount + 1
  return group
}

/** Writes an edge that was counted, and resolves it if its upstream has ended. The caller puts the downstream and the flow. */
export function writeEdge(tx: Tx, added: Link): void {
  const { flow, upstream, downstream } = added
  uncountFailedSink(tx, flow, upstream)
  const edge = newEdge(tx, added)
  if (upstream.state.phase === 'ended') countEdge(tx, upstream, edge, downstream)
  else tx.put(edge)
}

function newEdge(tx: Tx, { flow, upstream, downstream, hands, onFailure }: Link): Edge {
  const id = edgeId(upstream.id, downstream.id)
  expectAbsent(tx, 'edge', id)
  return {
    type: 'edge',
    id,
    flowId: flow.id,
    upstreamId: upstream.id,
    downstreamId: downstream.id,
    hands: copyOf(hands),
    state: 'open',
    result: undefined,
    createdAt: tx.now,
    resolvedAt: undefined,
    onFailure,
    outcome: undefined,
  }
}

/** Takes a failed member out of the count of failed sinks when it gets its first outbound edge. */
function uncountFailedSink(tx: Tx, flow: Flow, upstream: Execution): void {
  if (flow.outcomeRule === 'sinks' && isFailedEnd(standingOf(upstream)) && isSink(tx, upstream)) {
    flow.failedSinkCount = flow.failedSinkCount - 1
  }
}

export function sameHandover(a: Handover | undefined, b: Handover | undefined): boolean {
  if (a === undefined || b === undefined) return a === b
  if (a.as === 'input' && b.as === 'input') return a.name === b.name
  return a.as === b.as
}

function copyOf(hands: Handover | undefined): Handover | undefined {
  if (hands === undefined) return undefined
  return hands.as === 'input' ? { as: 'input', name: hands.name } : { as: 'payload' }
}
