/** Calls about the graph of a flow: members, edges, policies; and those of a running member. */
import {
  COMPENSATION_TIMEOUT_DEFAULT_MS,
  COMPENSATION_WAIT_MS,
  FLOW_EDGE_MAX,
  FLOW_MEMBER_MAX,
} from '../../../src/kernel/index.ts'
import type { AddDependencyInput, AddExecutionInput, Fence, Handover, PolicyInput } from '../../../src/kernel/index.ts'
import {
  addMember,
  busyFlow,
  cancelAlone,
  changeFlow,
  downstreamId,
  flowId,
  laterFlowId,
  laterId,
  newMember,
  nodeName,
  otherFlowId,
  seal,
  siblingId,
  upstreamId,
} from './flow-world.ts'
import { storedRecord } from './memory.ts'
import type { OperationCall } from './operation-call.ts'
import { LEASES_OVER_MS, SOON_MS } from './trial.ts'
import type { Trial } from './trial.ts'
import { executionId, firstClaim, ownFence, payload, putDirectly, step } from './world.ts'
import type { World } from './world.ts'

/** When the execution's lease, if it has one, is over. */
const LEASE_OVER_MS = LEASES_OVER_MS + SOON_MS

function trial(manner: string, call: OperationCall, prepare?: (world: World) => void): Trial {
  return { ...call, manner, atMs: SOON_MS, blobs: payload, about: 'flow', prepare }
}

function add(manner: string, input: AddExecutionInput, prepare?: (world: World) => void): Trial {
  return trial(manner, { operation: 'addExecutionToFlow', input }, prepare)
}

function connect(manner: string, input: AddDependencyInput, prepare?: (world: World) => void): Trial {
  return trial(manner, { operation: 'addDependency', input }, prepare)
}

function judge(manner: string, policy: PolicyInput, prepare?: (world: World) => void): Trial {
  return trial(manner, { operation: 'setEdgeGroupPolicy', input: { flowId, executionId, policy } }, prepare)
}

function fullFlow(world: World): void {
  changeFlow(world, (flow) => {
    flow.memberCount = FLOW_MEMBER_MAX
    flow.edgeCount = FLOW_EDGE_MAX
  })
}

const asPayload: Handover = { as: 'payload' }

function newcomer(world: World): void {
  addMember(world, newMember(laterId, []))
}

/** One that has failed before any member depended on it. */
function cancelledNewcomer(world: World): void {
  newcomer(world)
  const input = { executionId: laterId, reason: 'unwanted', by: 'ada', force: true, graceMs: 0 }
  step(world, 0, { operation: 'cancelExecution', input })
}

/** Another one hands on the payload already. */
function payloadHanded(world: World): void {
  newcomer(world)
  const input = { flowId, upstreamId: laterId, downstreamId: executionId, hands: asPayload }
  step(world, 0, { operation: 'addDependency', input })
}

function leaseExpired(world: World): void {
  step(world, LEASES_OVER_MS, { operation: 'runDue', input: { limit: 10, seed: 7 } })
}

function leaseRevoked(world: World): void {
  step(world, 0, { operation: 'revokeLease', input: { executionId, reason: 'stuck', by: 'ada' } })
}

/** The execution was stopped, and waits for a worker that undoes its steps. */
function undoing(world: World): void {
  const execution = storedRecord(world.memory, 'execution', executionId)
  if (execution === undefined || execution.state.phase === 'ended') return
  execution.unwinding = {
    outcome: 'cancelled',
    reason: 'unwanted',
    by: 'ada',
    at: world.now,
    until: world.now + COMPENSATION_WAIT_MS,
    leftMs: COMPENSATION_TIMEOUT_DEFAULT_MS,
    failure: undefined,
    undoFailure: undefined,
    incompleteRuns: undefined,
  }
  putDirectly(world, execution)
}

/** The same trial after the lease is over. */
function later(one: Trial): Trial {
  return { ...one, atMs: LEASE_OVER_MS }
}

const existing: AddExecutionInput = { flowId, executionId, name: nodeName(executionId), after: [] }
const behind: AddExecutionInput = newMember(executionId, [{ upstreamId }])
const child: AddExecutionInput = {
  ...newMember(laterId, []),
  holder: { executionId, fence: ownFence },
  awaited: { hands: { as: 'input', name: 'part' } },
}
const edge: AddDependencyInput = { flowId, upstreamId: siblingId, downstreamId: executionId }
const oldFence: Fence = { leaseId: firstClaim, epoch: 1, attempt: 1 }

export const graphTrials: readonly Trial[] = [
  add('one that exists', existing),
  add('a new one', newMember(executionId, [])),
  add('behind another', behind),
  add('behind another, while it undoes its steps', behind, undoing),
  add('behind one that was cancelled', newMember(executionId, [{ upstreamId: laterId }]), cancelledNewcomer),
  add('behind one that is not there', newMember(executionId, [{ upstreamId: laterId }])),
  add('behind one of another flow', { ...behind, flowId: otherFlowId }),
  add('behind one twice', newMember(executionId, [{ upstreamId }, { upstreamId }])),
  add('to another flow', { ...newMember(executionId, []), flowId: otherFlowId }),
  add('to a sealed flow', newMember(executionId, []), seal),
  add('to a busy flow', newMember(executionId, []), busyFlow),
  add('to a full flow', newMember(executionId, []), fullFlow),
  add('a child, by its holder', child),
  add('a child, by its holder, to a sealed flow', child, seal),
  add('a child, by an older holder', { ...child, holder: { executionId, fence: oldFence } }),
  later(add('a child, by a holder whose lease is over', child)),
  later(add('a child, by a holder whose lease expired', child, leaseExpired)),
  add('a child, by a holder whose lease was revoked', child, leaseRevoked),
  add('a child without a waiting parent', { ...newMember(laterId, []), awaited: {} }),
  add('to a cancelled flow', newMember(executionId, []), cancelAlone),
  add('to a flow that is not there', { ...newMember(executionId, []), flowId: laterFlowId }),
  connect('behind another', edge),
  connect('behind another, while it undoes its steps', edge, undoing),
  trial('while it undoes its steps', { operation: 'reconcileDependencies', input: {} }, undoing),
  connect('behind a new one', { ...edge, upstreamId: laterId }, newcomer),
  connect('behind one that was cancelled', { ...edge, upstreamId: laterId }, cancelledNewcomer),
  connect('behind another, by its holder', { ...edge, fence: ownFence }),
  connect('behind another, by an older holder', { ...edge, fence: oldFence }),
  later(connect('behind another, by a holder whose lease is over', { ...edge, fence: ownFence })),
  later(connect('behind another, by a holder whose lease expired', { ...edge, fence: ownFence }, leaseExpired)),
  connect('behind another, by a holder whose lease was revoked', { ...edge, fence: ownFence }, leaseRevoked),
  connect('behind the one that it is behind', { ...edge, upstreamId }),
  connect('behind the one that it is behind, otherwise', { ...edge, upstreamId, hands: asPayload }),
  connect('behind another, handing on a second payload', { ...edge, hands: asPayload }, payloadHanded),
  connect('behind another, whose failure it tolerates', { ...edge, onFailure: 'continue' }),
  connect(
    'behind one that was cancelled, which it ignores',
    { ...edge, upstreamId: laterId, onFailure: 'ignore' },
    cancelledNewcomer,
  ),
  connect('behind another, with an outcome as the payload', { ...edge, hands: asPayload, onFailure: 'ignore' }),
  connect('before another', { flowId, upstreamId: executionId, downstreamId }),
  connect('behind what comes behind it', { ...edge, upstreamId: downstreamId }),
  connect('behind what comes behind it, by its holder', { ...edge, upstreamId: downstreamId, fence: ownFence }),
  connect('behind itself', { flowId, upstreamId: executionId, downstreamId: executionId }),
  connect('in a graph that has changed', { ...edge, expectedRevision: 99 }),
  connect('in a sealed flow', edge, seal),
  connect('in a busy flow', edge, busyFlow),
  connect('in a full flow', edge, fullFlow),
  connect('in a full flow, by its holder', { ...edge, fence: ownFence }, fullFlow),
  connect('in a cancelled flow', edge, cancelAlone),
  connect('in a flow that is not there', { ...edge, flowId: laterFlowId }),
  judge('any', { policy: 'any_of' }),
  judge('all', { policy: 'all_of' }),
  judge('the end of all', { policy: 'ended' }),
  judge('in a sealed flow', { policy: 'any_of' }, seal),
  judge('in a busy flow', { policy: 'any_of' }, busyFlow),
  judge('in a cancelled flow', { policy: 'any_of' }, cancelAlone),
  trial('in a flow that is not there', {
    operation: 'setEdgeGroupPolicy',
    input: { flowId: laterFlowId, executionId, policy: { policy: 'any_of' } },
  }),
  trial('', { operation: 'readInputs', input: { executionId } }),
  trial('that lead to it', { operation: 'listEdges', input: { executionId, direction: 'inbound', limit: 10 } }),
  trial('that lead from it', { operation: 'listEdges', input: { executionId, direction: 'outbound', limit: 10 } }),
]
