/** The situations of an execution with children, and of one that is a child. */
import { asChild, waitingForChildren, withChildren } from './child-world.ts'
import { awaitingReply } from './journal-world.ts'
import { completed, fresh, held, submitted } from './situations.ts'
import type { Situation } from './situations.ts'
import { CANCEL_GRACE_MS, DELAY_MS, executionId, newSubmit, step, submitRequest } from './world.ts'
import type { World } from './world.ts'

function stopped(force: boolean): World {
  const world = waitingForChildren(held())
  const input = { executionId, reason: 'unwanted', by: 'ada', force, graceMs: CANCEL_GRACE_MS }
  step(world, 0, { operation: 'cancelExecution', input })
  return world
}

export const childSituations: readonly Situation[] = [
  { name: 'eligible, a child', build: () => asChild(fresh()) },
  { name: 'eligible, its children to be cancelled', build: () => stopped(false) },
  {
    name: 'delayed, a child',
    build: () => asChild(submitted({ ...newSubmit(submitRequest), delayMs: DELAY_MS })),
  },
  { name: 'active, a child', build: () => asChild(held()) },
  { name: 'active, with children', build: () => withChildren(held()) },
  { name: 'suspended, a child', build: () => asChild(awaitingReply(held())) },
  { name: 'suspended, for children', build: () => waitingForChildren(held()) },
  { name: 'ended, a child', build: () => asChild(completed()) },
  { name: 'ended, its children to be cancelled', build: () => stopped(true) },
]
