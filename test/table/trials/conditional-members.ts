/** The situations of a member of a flow whose condition decides whether it runs, and of one that waits for ends alone. */
import {
  addMember,
  cancelled,
  downstreamId,
  endOther,
  flowId,
  newMember,
  newSubmission,
  openFlows,
  siblingId,
  upstreamId,
} from './flow-world.ts'
import type { Fence } from '../../../src/kernel/index.ts'
import { STEP, stepInput, withoutValue } from './journal-world.ts'
import { heldAgain } from './situations.ts'
import type { Situation } from './situations.ts'
import {
  LEASE_MS,
  claim,
  executionId,
  firstClaim,
  newClaim,
  newWorld,
  ownFence,
  payload,
  secondClaim,
  step,
} from './world.ts'
import type { World } from './world.ts'

/** A root with a condition, and a downstream. */
function conditional(): World {
  const world = newWorld()
  const input = newSubmission(flowId)
  const nodes = input.nodes.map((node) => {
    return node.create.executionId === executionId ? { ...node, hasCondition: true as const } : node
  })
  step(world, 0, { operation: 'submitFlow', input: { ...input, nodes } }, payload)
  return world
}

/** Claimed by a worker, which is to evaluate the condition. */
function conditionalHeld(): World {
  return heldAgain(conditional(), LEASE_MS)
}

const firstFence: Fence = { leaseId: firstClaim, epoch: 1, attempt: 1 }

/** Cancelled between two leases, after a step had completed. */
function undoing(): World {
  const world = conditional()
  claim(world, 0, newClaim(firstClaim))
  step(world, 0, { operation: 'recordStep', input: stepInput(firstFence, STEP, withoutValue) })
  step(world, 0, { operation: 'releaseExecution', input: { executionId, fence: firstFence, reason: 'shutdown' } })
  cancelled(world, 'cancel_all', false)
  claim(world, 0, newClaim(secondClaim))
  return world
}

/** Behind two members of which it needs the ends alone; one has failed. */
function behindEnds(): World {
  const world = openFlows(newWorld(), false)
  addMember(world, {
    ...newMember(executionId, [{ upstreamId }, { upstreamId: siblingId }]),
    policy: { policy: 'ended' },
  })
  addMember(world, newMember(downstreamId, [{ upstreamId: executionId }]))
  endOther(world, upstreamId, 'failed')
  return world
}

export const conditionalMembers: readonly Situation[] = [
  { name: 'active, with a condition', build: () => conditionalHeld() },
  { name: 'active, with a condition and steps to undo', build: () => undoing() },
  {
    name: 'ended, its condition not met',
    build: () => {
      const world = conditionalHeld()
      step(world, 1_000, { operation: 'skipExecution', input: { executionId, fence: ownFence } })
      return world
    },
  },
  { name: 'blocked, waiting for the end of another', build: () => behindEnds() },
  {
    name: 'eligible, behind a failure that it tolerates',
    build: () => {
      const world = openFlows(newWorld(), false)
      addMember(world, newMember(executionId, [{ upstreamId, onFailure: 'ignore' }]))
      endOther(world, upstreamId, 'failed')
      return world
    },
  },
]
