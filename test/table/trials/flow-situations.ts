/**
 * The situations of an execution that is a member of a flow, or that stands beside one. What only a graph larger than one
 * operation can handle brings about is written directly.
 */
import type { CreateInput, EdgeGroup, Execution, ExecutionState, PolicyInput } from '../../../src/kernel/index.ts'
import { stop } from './fault.ts'
import {
  addChild,
  addMember,
  cancelUnderWay,
  cancelled,
  changeFlow,
  childId,
  downstreamId,
  endOther,
  flowId,
  newMember,
  newSubmission,
  newWalk,
  openFlows,
  siblingId,
  upstreamId,
} from './flow-world.ts'
import { asChild } from './child-world.ts'
import { awaitingReply } from './journal-world.ts'
import { failed, fresh, held, heldAgain, inState, submitted } from './situations.ts'
import type { Situation } from './situations.ts'
import {
  DELAY_MS,
  LEASE_MS,
  executionId,
  newSubmit,
  newWorld,
  ownFence,
  payload,
  putDirectly,
  step,
  submitRequest,
  theExecution,
} from './world.ts'
import type { World } from './world.ts'

const anyOf: PolicyInput = { policy: 'any_of' }
const blocked: ExecutionState = { phase: 'blocked', by: 'dependencies', gate: undefined }

function beside(world: World): World {
  return openFlows(world, false)
}

/** A member of an open flow, with a downstream member. */
function member(): World {
  const world = openFlows(newWorld(), false)
  addMember(world, newMember(executionId, []))
  addMember(world, newMember(downstreamId, [{ upstreamId: executionId }]))
  return world
}

/** A member behind another one of an open flow, with a third behind itself. */
function dependent(): World {
  const world = openFlows(newWorld(), false)
  addMember(world, newMember(executionId, [{ upstreamId }]))
  addMember(world, newMember(downstreamId, [{ upstreamId: executionId }]))
  return world
}

function met(): World {
  const world = dependent()
  endOther(world, upstreamId, 'completed')
  return world
}

/** A member that runs: its upstream has completed, its downstream waits. */
export function heldMember(): World {
  return heldAgain(met(), LEASE_MS)
}

/** A member of a flow that is held. */
function heldBack(create: CreateInput): World {
  const world = openFlows(newWorld(), true)
  addMember(world, { ...newMember(executionId, []), create })
  return world
}

/** An execution that had failed before it became a member of a held flow, and the one under test downstream of it. */
function behindFailed(): World {
  const world = openFlows(newWorld(), false)
  endOther(world, upstreamId, 'failed')
  changeFlow(world, (flow) => {
    flow.state = { phase: 'held', until: undefined }
  })
  addMember(world, newMember(executionId, [{ upstreamId }]))
  return world
}

function waiting(): World {
  const world = heldMember()
  addChild(world)
  step(world, 500, { operation: 'waitForChildren', input: { executionId, fence: ownFence } })
  return world
}

/** Two upstreams of which one is enough; the first has completed, and the other was let run. */
function decided(): World {
  const world = openFlows(newWorld(), false)
  const after = [{ upstreamId }, { upstreamId: siblingId }]
  addMember(world, { ...newMember(executionId, after), policy: { ...anyOf, losers: 'let_run' } })
  endOther(world, upstreamId, 'completed')
  return world
}

function groupOf(execution: Execution): EdgeGroup {
  const group = execution.member?.group
  if (group !== undefined) return group
  return stop({ reason: 'the execution has no group', recordId: execution.id })
}

function owingCancels(): World {
  const world = decided()
  const execution = theExecution(world)
  const group = groupOf(execution)
  group.losers = 'cancel'
  group.owedFrom = ''
  putDirectly(world, execution)
  return world
}

/** Has completed, and its downstream edges are not resolved. */
function owingEdges(): World {
  const world = heldMember()
  const execution = theExecution(world)
  execution.state = { phase: 'ended', outcome: 'completed', at: world.now, reason: undefined, by: undefined }
  execution.lastLease = { id: ownFence.leaseId, epoch: ownFence.epoch, how: 'completed', until: undefined }
  if (execution.member !== undefined) execution.member.owesEdges = true
  putDirectly(world, execution)
  changeFlow(world, (flow) => {
    flow.counts.active = flow.counts.active - 1
    flow.counts.completed = flow.counts.completed + 1
  })
  return world
}

/** Blocked still, although what it waited for has ended. */
function unmoved(outcome: 'completed' | 'failed'): World {
  const world = dependent()
  endOther(world, upstreamId, outcome)
  const execution = theExecution(world)
  const from = outcome === 'completed' ? 'waiting' : 'skipped'
  execution.state = blocked
  putDirectly(world, execution)
  changeFlow(world, (flow) => {
    flow.counts[from] = flow.counts[from] - 1
    flow.counts.waiting_dependencies = flow.counts.waiting_dependencies + 1
  })
  return world
}

function beingReplayed(): World {
  const world = member()
  const execution = theExecution(world)
  execution.state = { phase: 'blocked', by: 'hold', gate: undefined }
  execution.lastReplay = { requestId: 'begun-before', reason: undefined, by: undefined, at: execution.createdAt }
  putDirectly(world, execution)
  changeFlow(world, (flow) => {
    flow.walk = newWalk('replay')
    flow.walk.rootId = execution.id
  })
  return world
}

function beingCancelled(): World {
  const world = member()
  cancelUnderWay(world)
  return world
}

/** The whole graph, or its first node only. */
function submittedFlow(isWhole: boolean): World {
  const world = newWorld()
  const input = newSubmission(flowId)
  const part = isWhole ? input : { ...input, nodes: input.nodes.slice(0, 1), edges: [] }
  step(world, 0, { operation: 'submitFlow', input: part }, payload)
  return world
}

function failedFor(world: World): World {
  const failure = { category: 'permanent', message: 'no luck' }
  step(world, 1_000, { operation: 'failExecution', input: { executionId, fence: ownFence, failure, seed: 7 } })
  return world
}

/** Beside a flow, in every phase: what can become a member. */
export const besideSituations: readonly Situation[] = [
  { name: 'absent, beside a flow', build: () => beside(newWorld()) },
  { name: 'eligible, beside a flow', build: () => beside(fresh()) },
  {
    name: 'delayed, beside a flow',
    build: () => beside(submitted({ ...newSubmit(submitRequest), delayMs: DELAY_MS })),
  },
  {
    name: 'blocked, beside a flow',
    build: () => beside(inState(fresh(), { phase: 'blocked', by: 'hold', gate: undefined })),
  },
  { name: 'active, beside a flow', build: () => beside(held()) },
  {
    name: 'suspended, beside a flow',
    build: () => beside(awaitingReply(held())),
  },
  { name: 'ended, beside a flow', build: () => beside(failed('permanent')) },
  { name: 'eligible, a child beside a flow', build: () => beside(asChild(fresh())) },
  {
    name: 'delayed, a child beside a flow',
    build: () => beside(asChild(submitted({ ...newSubmit(submitRequest), delayMs: DELAY_MS }))),
  },
  { name: 'active, a child beside a flow', build: () => beside(asChild(held())) },
  { name: 'suspended, a child beside a flow', build: () => beside(asChild(awaitingReply(held()))) },
  { name: 'ended, a child beside a flow', build: () => beside(asChild(failed('permanent'))) },
]

export const memberSituations: readonly Situation[] = [
  { name: 'eligible, a member', build: () => member() },
  { name: 'eligible, its dependency met', build: () => met() },
  { name: 'eligible, owing cancels', build: () => owingCancels() },
  { name: 'eligible, its flow being cancelled', build: () => beingCancelled() },
  { name: 'eligible, of a submitted flow', build: () => submittedFlow(true) },
  {
    name: 'delayed, a member',
    build: () => {
      const world = openFlows(newWorld(), false)
      const create = { ...newSubmit(submitRequest), delayMs: DELAY_MS }
      addMember(world, { ...newMember(executionId, []), create })
      addMember(world, newMember(downstreamId, [{ upstreamId: executionId }]))
      return world
    },
  },
  {
    name: 'delayed, a member that is retried',
    build: () => {
      const world = heldMember()
      const failure = { category: 'error', message: 'no luck' }
      step(world, 1_000, { operation: 'failExecution', input: { executionId, fence: ownFence, failure, seed: 7 } })
      return world
    },
  },
  { name: 'blocked by a dependency', build: () => dependent() },
  { name: 'blocked, its dependency met unseen', build: () => unmoved('completed') },
  { name: 'blocked, its dependency failed unseen', build: () => unmoved('failed') },
  { name: 'blocked by a hold', build: () => heldBack(newSubmit(submitRequest)) },
  {
    name: 'blocked by a hold, to be delayed',
    build: () => heldBack({ ...newSubmit(submitRequest), delayMs: DELAY_MS }),
  },
  { name: 'blocked by a hold, to be skipped', build: () => behindFailed() },
  { name: 'blocked, of an unfinished submission', build: () => submittedFlow(false) },
  { name: 'blocked, waiting for a child', build: () => waiting() },
  { name: 'blocked, being replayed', build: () => beingReplayed() },
  { name: 'active, a member', build: () => heldMember() },
  {
    name: 'active, with a child to wait for',
    build: () => {
      const world = heldMember()
      addChild(world)
      return world
    },
  },
  {
    name: 'active, its child failed',
    build: () => {
      const world = heldMember()
      addChild(world)
      endOther(world, childId, 'failed')
      return world
    },
  },
  {
    name: 'active, its flow cancelled around it',
    build: () => cancelled(heldMember(), 'cancel_pending', false),
  },
  {
    name: 'ended, completed in a flow',
    build: () => {
      const world = heldMember()
      step(world, 1_000, { operation: 'completeExecution', input: { executionId, fence: ownFence } })
      return world
    },
  },
  { name: 'ended, failed in a flow', build: () => failedFor(heldMember()) },
  {
    name: 'ended, and its flow with it',
    build: () => failedFor(heldAgain(submittedFlow(true), LEASE_MS)),
  },
  {
    name: 'ended, skipped',
    build: () => {
      const world = dependent()
      endOther(world, upstreamId, 'failed')
      return world
    },
  },
  {
    name: 'ended, cancelled with its flow',
    build: () => cancelled(heldMember(), 'cancel_all', true),
  },
  {
    name: 'ended, lost to another',
    build: () => {
      const world = openFlows(newWorld(), false)
      addMember(world, newMember(executionId, []))
      const after = [{ upstreamId }, { upstreamId: executionId }]
      addMember(world, { ...newMember(downstreamId, after), policy: anyOf })
      heldAgain(world, LEASE_MS)
      endOther(world, upstreamId, 'completed')
      return world
    },
  },
  { name: 'ended, with edges to tell', build: () => owingEdges() },
]
