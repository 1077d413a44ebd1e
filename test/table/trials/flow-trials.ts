/** Calls about a flow as a whole: open, submit, seal, cancel, tag and read; and its reconcilers. */
import { FLOW_MEMBER_MAX, TAG_COUNT_MAX } from '../../../src/kernel/index.ts'
import type { CreateFlowInput, EdgeInput, FlowCancelPolicy, SubmitFlowInput, Tag } from '../../../src/kernel/index.ts'
import {
  addMember,
  busyFlow,
  cancelAlone,
  cancelUnderWay,
  changeFlow,
  downstreamId,
  flowId,
  laterFlowId,
  laterId,
  newFlow,
  newMember,
  newSubmission,
  nodeName,
  otherSubmit,
  releaseUnderWay,
} from './flow-world.ts'
import type { OperationCall } from './operation-call.ts'
import { SOON_MS } from './trial.ts'
import type { Trial } from './trial.ts'
import { executionId, newSubmit, payload, submitRequest } from './world.ts'
import type { World } from './world.ts'

function trial(manner: string, call: OperationCall, prepare?: (world: World) => void): Trial {
  return { ...call, manner, atMs: SOON_MS, blobs: payload, about: 'flow', prepare }
}

function create(manner: string, input: CreateFlowInput): Trial {
  return trial(manner, { operation: 'createFlow', input })
}

function submit(manner: string, input: SubmitFlowInput, prepare?: (world: World) => void): Trial {
  return trial(manner, { operation: 'submitFlow', input }, prepare)
}

/** A submission of its own, whose edges are these. */
function withEdges(edges: readonly EdgeInput[]): SubmitFlowInput {
  return { ...newSubmission(laterFlowId), edges, edgeCount: edges.length }
}

const backwards: EdgeInput = { upstreamId: downstreamId, downstreamId: executionId }
const forwards: EdgeInput = { upstreamId: executionId, downstreamId }
const toNobody: EdgeInput = { upstreamId: executionId, downstreamId: laterId }

/** As if the repeated submission had created the flow and sealed it. */
function bySubmission(world: World): void {
  changeFlow(world, (flow) => {
    if (flow.state.phase === 'held') flow.state = { phase: 'sealed' }
    flow.submission = { digest: 'digest-1', nodeCount: 2, edgeCount: 1 }
  })
}

const another = { requestId: 'another request' }
const otherContent = { ...another, digest: 'digest-2' }

/** As if its retention were over and its id stayed taken. */
function onlyIdKept(world: World): void {
  changeFlow(world, (flow) => {
    flow.removedAt = world.now
    flow.dedupeMs = 2 * flow.retentionMs
  })
}

/** A member that waits for more than there are. */
function addShortGroup(world: World): void {
  addMember(world, { ...newMember(laterId, []), policy: { policy: 'quorum', need: 2 } })
}

const lateCancel = { reason: 'too late', by: 'bob', graceMs: 30_000 }

function cancel(policy: FlowCancelPolicy, force: boolean): Trial {
  const input = { ...lateCancel, flowId, policy, force }
  return trial(force ? policy + ', forced' : policy, { operation: 'cancelFlow', input })
}

function tooManyTags(): Tag[] {
  const tags: Tag[] = []
  for (let i = 0; i < TAG_COUNT_MAX; i++) tags.push({ name: 't' + String(i), value: 'v', indexed: false })
  return tags
}

const oneMore: Tag = { name: 'team', value: 'red', indexed: false }

export const flowTrials: readonly Trial[] = [
  create('the first call repeated', newFlow(flowId, false)),
  create('by another request', { ...newFlow(flowId, false), requestId: 'another' }),
  create('of another name', { ...newFlow(flowId, false), name: 'another' }),
  submit('the whole graph', newSubmission(flowId)),
  submit('as it was submitted', newSubmission(flowId), bySubmission),
  submit('other content', { ...newSubmission(flowId), ...otherContent }, bySubmission),
  submit('other content, joined', { ...newSubmission(flowId), ...otherContent, ifExists: 'join' }, bySubmission),
  submit('rejected', { ...newSubmission(flowId), ...another, ifExists: 'reject' }, bySubmission),
  submit('replaced', { ...newSubmission(flowId), ...otherContent, ifExists: 'replace' }, bySubmission),
  submit('after', { ...newSubmission(flowId), ...otherContent, ifExists: 'after' }, bySubmission),
  submit('the last part first', { ...newSubmission(laterFlowId), nodesBefore: 2, nodes: [] }),
  submit('the first part', {
    ...newSubmission(laterFlowId),
    nodes: newSubmission(laterFlowId).nodes.slice(0, 1),
    edges: [],
  }),
  submit('in another flow', newSubmission(laterFlowId)),
  submit('with an edge that leads back', withEdges([backwards])),
  submit('with one edge twice', withEdges([forwards, forwards])),
  submit('with an edge to no member', withEdges([toNobody])),
  submit('with a group that is short', {
    ...newSubmission(laterFlowId),
    nodes: [
      { name: nodeName(executionId), create: newSubmit(submitRequest) },
      { name: nodeName(downstreamId), create: otherSubmit(downstreamId), policy: { policy: 'quorum', need: 2 } },
    ],
  }),
  submit('with too many nodes', { ...newSubmission(laterFlowId), nodeCount: FLOW_MEMBER_MAX + 1 }),
  trial('', { operation: 'sealFlow', input: { flowId } }),
  trial('while it is busy', { operation: 'sealFlow', input: { flowId } }, busyFlow),
  trial('with a group that is short', { operation: 'sealFlow', input: { flowId } }, addShortGroup),
  trial('when it is cancelled', { operation: 'sealFlow', input: { flowId } }, cancelAlone),
  trial('that is not there', { operation: 'sealFlow', input: { flowId: laterFlowId } }),
  cancel('cancel_all', false),
  cancel('cancel_all', true),
  cancel('cancel_pending', false),
  cancel('flow_only', false),
  trial('that is not there', {
    operation: 'cancelFlow',
    input: { ...lateCancel, flowId: laterFlowId, policy: 'cancel_all', force: false },
  }),
  trial('set and remove', {
    operation: 'setFlowTags',
    input: { flowId, set: [{ name: 'team', value: 'red', indexed: false }], remove: ['plan'] },
  }),
  trial('too many', { operation: 'setFlowTags', input: { flowId, set: tooManyTags().concat(oneMore), remove: [] } }),
  trial(
    'of one of which only the id is kept',
    { operation: 'setFlowTags', input: { flowId, set: [oneMore], remove: [] } },
    onlyIdKept,
  ),
  trial('of one that is not there', { operation: 'setFlowTags', input: { flowId: laterFlowId, set: [], remove: [] } }),
  trial('', { operation: 'describeFlow', input: { flowId } }),
  trial('that is not there', { operation: 'describeFlow', input: { flowId: laterFlowId } }),
  trial('', { operation: 'listFlows', input: { limit: 10 } }),
  trial('with edges', { operation: 'listFlowMembers', input: { flowId, limit: 10, edges: true } }),
  trial('of one that is not there', { operation: 'listFlowMembers', input: { flowId: laterFlowId, limit: 10 } }),
  trial('', { operation: 'reconcileDependencies', input: {} }),
  trial('', { operation: 'reconcileSiblingCancels', input: {} }),
  trial('', { operation: 'reconcileFlowCancels', input: {} }),
  trial('while a cancel is under way', { operation: 'reconcileFlowCancels', input: {} }, cancelUnderWay),
  trial('while a cancel is under way', { operation: 'runDue', input: { limit: 10, seed: 7 } }, cancelUnderWay),
  trial('while a hold is lifted', { operation: 'runDue', input: { limit: 10, seed: 7 } }, releaseUnderWay),
  trial('', { operation: 'auditFlows', input: {} }),
]
