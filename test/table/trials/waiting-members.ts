/** The situations of a member of a flow that waits, that is about to, or that has waited. */
import { heldMember } from './flow-situations.ts'
import { addChild, addMember, cancelled, newMember, openFlows } from './flow-world.ts'
import { REPLY, awaitingReply, remembering, signal } from './journal-world.ts'
import { held } from './situations.ts'
import type { Situation } from './situations.ts'
import { executionId, ownFence, step } from './world.ts'

export const waitingMembers: readonly Situation[] = [
  {
    name: 'active, asked to stop by its flow',
    build: () => cancelled(heldMember(), 'cancel_all', false),
  },
  { name: 'suspended, a member', build: () => awaitingReply(heldMember()) },
  {
    name: 'suspended, its flow held',
    build: () => {
      const world = openFlows(awaitingReply(held()), true)
      addMember(world, newMember(executionId, []))
      return world
    },
  },
  {
    name: 'blocked, remembering, waiting for a child',
    build: () => {
      const world = remembering(heldMember())
      addChild(world)
      step(world, 0, { operation: 'waitForChildren', input: { executionId, fence: ownFence } })
      return world
    },
  },
  {
    name: 'blocked by a hold, answered',
    build: () => {
      const world = openFlows(awaitingReply(held()), true)
      addMember(world, newMember(executionId, []))
      signal(world, REPLY, 'early')
      return world
    },
  },
]
