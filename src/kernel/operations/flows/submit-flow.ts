/**
 * Submits a graph. A graph that fits one operation is created, sealed and started by it. A larger one takes several
 * calls: the flow is held until the last of them, and any caller with the same content may continue it. `ifExists` and the
 * content decide how a repeated id is handled.
 */
import { refuseQueues } from '../../lifecycle/queues.ts'
import { flowInputKey } from '../../model/blob-keys.ts'
import { flowSubject } from '../../model/events.ts'
import { refuseHeldNodes } from '../../lifecycle/lanes.ts'
import { FLOW_EDGE_MAX, FLOW_MEMBER_MAX } from '../../limits.ts'
import type { Execution, Flow, FlowId, Instant } from '../../model/records.ts'
import { refused } from '../../results.ts'
import type { Refused } from '../../results.ts'
import type { BlobInput, Tx } from '../../tx.ts'
import { removeMembers } from '../../lifecycle/endings/remove-flow.ts'
import { awaitingSubmission } from '../../lifecycle/flow-phases.ts'
import { newFlow } from '../../lifecycle/flows/new-flow.ts'
import type { FlowInput } from '../../lifecycle/flows/new-flow.ts'
import {
  isPastFlowRequest,
  mayWait,
  nextFlowRun,
  setFlowFollowUp,
  withFollowUpBegun,
  withPastRequest,
} from '../../lifecycle/flows/flow-follow-up.ts'
import { addNodes, checkEdges, newGraph, shortNodes, workOf, writeGraph } from '../../lifecycle/flows/new-graph.ts'
import type { EdgeInput, NodeInput } from '../../lifecycle/flows/new-graph.ts'
import { isFlowFinished, isGivingWay, publicFlowState } from '../../rules/flow-state.ts'
import type { PublicFlowState } from '../../rules/flow-state.ts'

export interface SubmitFlowInput extends FlowInput {
  /** The digest of the whole graph. A second submission with the same digest joins the first. */
  readonly digest: string
  /** The input of the definition, if it has conditions. The call that creates the flow stores it. */
  readonly input?: BlobInput | undefined
  /** If absent, a submit of the same content joins, and one of other content is refused. */
  readonly ifExists?: FlowIfExists | undefined
  /** The size of the whole graph. */
  readonly nodeCount: number
  readonly edgeCount: number
  /** The nodes of this call, and how many precede them. Their order is such that every edge leads forward. */
  readonly nodesBefore: number
  readonly nodes: readonly NodeInput[]
  readonly edgesBefore: number
  readonly edges: readonly EdgeInput[]
}

/** What a submit of a flow does if its id exists, whatever its content. */
export type FlowIfExists = 'join' | 'reject' | 'replace' | 'after'

type SubmittedKind = 'submitted' | 'joined' | 'accepted' | 'follow_up' | 'follow_up_replaced'

export type SubmitFlowResult =
  | {
      /**
       * `accepted`: the rest is missing, from the counts of the answer on. `follow_up`: the graph runs when the present run has
       * finished; `follow_up_replaced`: in the place of a pending one.
       */
      readonly kind: SubmittedKind
      /** Set while the members of the flow that is replaced are being removed. The caller sends the same call again. */
      readonly isClearing?: true
      readonly flowId: FlowId
      readonly nodes: number
      readonly edges: number
      readonly state: PublicFlowState
      readonly at: Instant
    }
  | Refused<
      | 'flow_exists'
      | 'input_differs'
      | 'flow_in_progress'
      | 'execution_exists'
      | 'execution_not_found'
      | 'graph_limit_exceeded'
      | 'cycle_detected'
      | 'unreachable_quorum'
      | 'too_many_needs'
      | 'lane_draining'
      | 'lane_disabled'
      | 'invalid_input'
    >

export function submitFlow(tx: Tx, input: SubmitFlowInput): SubmitFlowResult {
  const found = tx.get('flow', input.flowId)
  const answered = found === undefined ? undefined : answerExisting(tx, found, input)
  if (answered !== undefined) return answered
  const tooLarge = refuseTooLarge(input)
  if (tooLarge !== undefined) return tooLarge
  const isReplaced = found !== undefined && isFlowFinished(found)
  const existing = isReplaced ? undefined : found
  // A submission that was begun is completed. A refused one leaves a finished flow as it is.
  const held = existing === undefined || existing.memberCount === 0 ? refuseHeldNodes(tx, input.nodes) : undefined
  if (held !== undefined) return held
  if (isReplaced && isClearing(tx, found)) return { ...answer('accepted', found), nodes: 0, edges: 0, isClearing: true }
  const flow = existing ?? newSubmission(tx, input, found)
  // Earlier nodes are stored already, or missing: the caller continues from the counts of the answer.
  if (input.nodesBefore > flow.memberCount || input.edgesBefore > flow.edgeCount) return answer('accepted', flow)
  const graph = newGraph(flow)
  const nodes = input.nodes.slice(flow.memberCount - input.nodesBefore)
  const edges = input.edges.slice(flow.edgeCount - input.edgesBefore)
  const refusal = addNodes(tx, graph, nodes) ?? refuseQueues(tx, graph.created) ?? checkEdges(tx, graph, edges)
  if (refusal !== undefined) return refusal
  const isWhole = flow.memberCount + nodes.length >= input.nodeCount && flow.edgeCount >= input.edgeCount
  if (isWhole && flow.shortGroupCount > 0) {
    return refused('unreachable_quorum', { flowId: flow.id, nodes: shortNodes(graph) })
  }

  const limit = tx.room()
  if (workOf(tx, graph) > limit) return refused('graph_limit_exceeded', { flowId: flow.id, limit })

  if (isReplaced && found.removedAt === undefined) tx.emit('flow_purged', flowSubject(found), {})
  if (isReplaced && found.input !== undefined) tx.forget(flowInputKey(found))
  if (existing === undefined) tx.emit('flow_created', flowSubject(flow), {})
  if (existing === undefined && input.input !== undefined) tx.keep(flowInputKey(flow), input.input.blob)
  writeGraph(tx, graph, nodes, isWhole)
  return answer(flow.state.phase === 'held' ? 'accepted' : 'submitted', flow)
}

function refuseTooLarge(input: SubmitFlowInput): Refused<'graph_limit_exceeded'> | undefined {
  if (input.nodeCount > FLOW_MEMBER_MAX) return refused('graph_limit_exceeded', { limit: FLOW_MEMBER_MAX })
  if (input.edgeCount > FLOW_EDGE_MAX) return refused('graph_limit_exceeded', { limit: FLOW_EDGE_MAX })
  return undefined
}

/** `replaced` is the finished flow whose id the new one takes. */
function newSubmission(tx: Tx, input: SubmitFlowInput, replaced: Flow | undefined): Flow {
  const submission = { digest: input.digest, nodeCount: input.nodeCount, edgeCount: input.edgeCount }
  const flow = newFlow(tx.now, input, awaitingSubmission(tx), submission)
  if (input.input !== undefined) flow.input = { size: input.input.size, encoding: input.input.encoding }
  if (replaced !== undefined) {
    flow.version = replaced.version + 1
    flow.run = nextFlowRun(replaced)
    flow.pastRequests = withPastRequest(replaced, replaced.requestId)
  }
  return flow
}

/**
 * Answers a submit whose id exists. Returns undefined if the submit proceeds: it continues a submission in several calls,
 * or replaces a flow that has finished.
 */
function answerExisting(tx: Tx, flow: Flow, input: SubmitFlowInput): SubmitFlowResult | undefined {
  const isHeld = flow.state.phase === 'held' && flow.begins === undefined
  const isSame = flow.walk?.purpose !== 'remove' && flow.submission?.digest === input.digest
  if (isSame && flow.requestId === input.requestId) return isHeld ? undefined : answer('submitted', flow)
  if (isPastFlowRequest(flow, input.requestId)) return answer('submitted', flow)
  if (flow.followUp !== undefined && flow.followUp.requestId === input.requestId) return followUpAnswer(flow)
  switch (input.ifExists) {
    case undefined:
    case 'join':
      return joinFlow(flow, input, isSame && isHeld)
    case 'reject':
      return refused('flow_exists', { flowId: flow.id })
    case 'replace':
      return isReplaceable(flow) ? undefined : refused('flow_in_progress', { flowId: flow.id })
    case 'after':
      if (!isReplaceable(flow)) return setFlowFollowUp(tx, flow, input) ?? followUpAnswer(flow)
      // A finished flow gives way at once. Unlike a replacement in several calls, it is never seen without a run.
      if (flow.memberCount > 0 && mayWait(input)) return setFlowFollowUp(tx, flow, input) ?? answer('submitted', flow)
      return undefined
  }
}

/** Joins a flow, or the follow-up that takes its place. Returns undefined if the submit continues the submission of the flow. */
function joinFlow(flow: Flow, input: SubmitFlowInput, mayContinue: boolean): SubmitFlowResult | undefined {
  const { name, digest, ifExists } = input
  const next = isGivingWay(flow) ? flow.followUp : undefined
  const isLeaving = flow.walk?.purpose === 'remove' && next === undefined
  const submitted = next ?? { name: flow.name, digest: flow.submission?.digest }
  // A caller that joined another flow would wait for results of other nodes.
  if (isLeaving || submitted.digest === undefined || submitted.name !== name) {
    return refused('flow_exists', { flowId: flow.id })
  }
  if (mayContinue) return undefined
  const mayJoin = ifExists === 'join' || submitted.digest === digest
  return mayJoin ? answer('joined', flow) : refused('input_differs', { flowId: flow.id })
}

/** Whether the flow has finished, and no follow-up is about to take its place. */
function isReplaceable(flow: Flow): boolean {
  return isFlowFinished(flow) && !isGivingWay(flow)
}

/**
 * Removes what is left of a finished flow, as far as there is room. Returns whether this call removed anything or could
 * not: the next one has room for the graph. Until then the flow keeps its record, so that its id stays taken.
 */
function isClearing(tx: Tx, flow: Flow): boolean {
  // A flow without members stays as it is, in case the graph is refused.
  if (flow.removedAt !== undefined || flow.memberCount === 0) return false
  const removed: Execution[] = []
  const isCleared = removeMembers(tx, flow, removed)
  return !isCleared || removed.length > 0
}

function followUpAnswer(flow: Flow): SubmitFlowResult {
  const { hasDisplaced = false, nodes = [], edges = [] } = flow.followUp ?? {}
  const kind = hasDisplaced ? 'follow_up_replaced' : 'follow_up'
  return { ...answer(kind, flow), nodes: nodes.length, edges: edges.length }
}

function answer(kind: SubmittedKind, flow: Flow): Exclude<SubmitFlowResult, Refused> {
  const seen = withFollowUpBegun(flow)
  return {
    kind,
    flowId: flow.id,
    nodes: seen.memberCount,
    edges: seen.edgeCount,
    state: publicFlowState(seen),
    at: seen.createdAt,
  }
}
