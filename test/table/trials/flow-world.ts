/** The flow that the table is about, the members that stand beside the execution, and the steps that move them. */
import type {
  AddExecutionInput,
  CreateFlowInput,
  CreateInput,
  ExecutionId,
  Fence,
  Flow,
  FlowId,
  FlowWalk,
  SubmitFlowInput,
  UpstreamInput,
} from '../../../src/kernel/index.ts'
import { storedRecord } from './memory.ts'
import {
  RETENTION_MS,
  claim,
  executionId,
  newClaim,
  newSubmit,
  ownFence,
  payload,
  putDirectly,
  step,
  submitRequest,
} from './world.ts'
import type { World } from './world.ts'

export const flowId = 'f0-00000000-0000-7000-8000-00000000000a' as FlowId
/** A second flow, without members. */
export const otherFlowId = 'f0-00000000-0000-7000-8000-00000000000b' as FlowId
/** Comes before the execution, where anything does. */
export const upstreamId = '0-00000000-0000-7000-8000-000000000002' as ExecutionId
/** Comes behind the execution. */
export const downstreamId = '0-00000000-0000-7000-8000-000000000003' as ExecutionId
/** What the execution adds by itself. */
export const childId = '0-00000000-0000-7000-8000-000000000004' as ExecutionId
/** Ready to run beside it. */
export const siblingId = '0-00000000-0000-7000-8000-000000000005' as ExecutionId
/** A member that only a trial adds. */
export const laterId = '0-00000000-0000-7000-8000-000000000006' as ExecutionId
/** A flow that only a trial makes. */
export const laterFlowId = 'f0-00000000-0000-7000-8000-00000000000c' as FlowId

/** Apart from the execution's lane, so that a claim under test finds no other member. */
const otherLane = 'side'

/** Without timers, payload and tags: whatever happens in the table happens to the execution. */
export function otherSubmit(id: ExecutionId): CreateInput {
  return {
    executionId: id,
    requestId: 'submit of ' + id,
    namespace: 'default',
    task: 'part',
    lane: otherLane,
    class: 'default',
    // The child is claimed before the others that are ready.
    priority: id === childId ? 1 : 0,
    tags: [],
    retry: { attempts: 1, backoff: { kind: 'fixed', delayMs: 0 }, jitter: false, onlyCategories: [] },
    retentionMs: RETENTION_MS,
    ifExists: 'reject',
  }
}

export function newFlow(id: FlowId, hold: boolean): CreateFlowInput {
  return {
    flowId: id,
    requestId: 'request of ' + id,
    namespace: 'default',
    name: 'pipeline',
    tags: [{ name: 'plan', value: 'pro', indexed: true }],
    outcomeRule: 'all_members',
    retentionMs: RETENTION_MS,
    hold,
  }
}

export function nodeName(id: ExecutionId): string {
  switch (id) {
    case executionId:
      return 'report'
    case upstreamId:
      return 'fetch'
    case downstreamId:
      return 'publish'
    case childId:
      return 'part'
    case siblingId:
      return 'rival'
    default:
      return 'late'
  }
}

export function newMember(id: ExecutionId, after: readonly UpstreamInput[]): AddExecutionInput {
  const create = id === executionId ? newSubmit(submitRequest) : otherSubmit(id)
  return { flowId, executionId: id, name: nodeName(id), create, after }
}

/** The execution and its downstream, submitted as a whole. */
export function newSubmission(id: FlowId): SubmitFlowInput {
  return {
    flowId: id,
    requestId: 'request of ' + id,
    namespace: 'default',
    name: 'pipeline',
    tags: [],
    outcomeRule: 'all_members',
    retentionMs: RETENTION_MS,
    digest: 'digest-1',
    nodeCount: 2,
    edgeCount: 1,
    nodesBefore: 0,
    nodes: [
      { name: nodeName(executionId), create: newSubmit(submitRequest) },
      { name: nodeName(downstreamId), create: otherSubmit(downstreamId) },
    ],
    edgesBefore: 0,
    edges: [{ upstreamId: executionId, downstreamId }],
  }
}

/** Two flows, of which the first has two members that are ready to run. */
export function openFlows(world: World, hold: boolean): World {
  step(world, 0, { operation: 'createFlow', input: newFlow(flowId, hold) })
  step(world, 0, { operation: 'createFlow', input: newFlow(otherFlowId, false) })
  addMember(world, newMember(upstreamId, []))
  addMember(world, newMember(siblingId, []))
  return world
}

export function addMember(world: World, input: AddExecutionInput): void {
  step(world, 0, { operation: 'addExecutionToFlow', input }, payload)
}

export function seal(world: World): void {
  step(world, 0, { operation: 'sealFlow', input: { flowId } })
}

/** The one that is ready first in the lane of the others is claimed, and ends with the given outcome. */
export function endOther(world: World, id: ExecutionId, outcome: 'completed' | 'failed'): void {
  const leaseId = 'claim of ' + id
  claim(world, 0, { ...newClaim(leaseId), queues: [{ lane: otherLane, class: 'default' }] })
  const fence: Fence = { leaseId, epoch: 1, attempt: 1 }
  if (outcome === 'completed') {
    step(world, 0, { operation: 'completeExecution', input: { executionId: id, fence } })
    return
  }
  const failure = { category: 'permanent', message: 'no luck' }
  step(world, 0, { operation: 'failExecution', input: { executionId: id, fence, failure, seed: 7 } })
}

/** The execution, which runs, adds a member that it is going to wait for. */
export function addChild(world: World): void {
  const holder = { executionId, fence: ownFence }
  addMember(world, { ...newMember(childId, []), holder, awaited: {} })
}

export function cancelled(world: World, policy: 'cancel_all' | 'cancel_pending', force: boolean): World {
  const input = { flowId, policy, reason: 'no longer wanted', by: 'ada', force, graceMs: 30_000 }
  step(world, 500, { operation: 'cancelFlow', input })
  return world
}

/** Changes the flow, where there is one, as operations of a larger graph would have. */
export function changeFlow(world: World, change: (flow: Flow) => void): void {
  const flow = storedRecord(world.memory, 'flow', flowId)
  if (flow === undefined) return
  change(flow)
  putDirectly(world, flow)
}

/** The flow is cancelled, and its members are not. */
export function cancelAlone(world: World): void {
  const input = { flowId, policy: 'flow_only' as const, reason: 'unused', by: 'ada', force: false, graceMs: 0 }
  step(world, 0, { operation: 'cancelFlow', input })
}

/** The flow is cancelled, and the cancel has not reached any member yet. */
export function cancelUnderWay(world: World): void {
  changeFlow(world, (flow) => {
    const phase = flow.state.phase
    if (phase === 'cancelled' || phase === 'ended') return
    const asked = { reason: 'no longer wanted', by: 'ada', force: false, graceMs: 30_000 }
    flow.state = { ...asked, phase: 'cancelled', policy: 'cancel_all', at: world.now }
    flow.walk = newWalk('cancel')
  })
}

/** The flow is no longer held, and no member has been released yet. */
export function releaseUnderWay(world: World): void {
  changeFlow(world, (flow) => {
    if (flow.state.phase !== 'held') return
    flow.state = { phase: 'sealed' }
    flow.walk = newWalk('release')
  })
}

/** What the execution depends on runs again. */
export function upstreamReplayed(world: World): void {
  step(world, 0, { operation: 'replayExecution', input: { executionId: upstreamId, requestId: 'replay-of-upstream' } })
}

/** A large part of the flow is being replayed. */
export function busyFlow(world: World): void {
  changeFlow(world, (flow) => {
    flow.walk = newWalk('replay')
  })
}

export function newWalk(purpose: FlowWalk['purpose']): FlowWalk {
  return { purpose, fromRank: undefined, fromId: undefined, rootId: executionId }
}
