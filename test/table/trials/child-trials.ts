/** What a holder may ask of children: to start them, and to wait for them. */
import { fences } from './holder-trials.ts'
import {
  CHILD,
  OTHER_CHILD,
  belowManyParents,
  callInput,
  childInput,
  firstChildId,
  joinInput,
  manyChildren,
  startInput,
  tooLargeQuorum,
  tooManyChildren,
} from './child-world.ts'
import { manySteps } from './journal-world.ts'
import type { OperationCall } from './operation-call.ts'
import { SOON_MS } from './trial.ts'
import type { Trial } from './trial.ts'
import { executionId, ownFence } from './world.ts'

function trial(manner: string, call: OperationCall, prepare?: Trial['prepare']): Trial {
  return { ...call, manner, atMs: SOON_MS, blobs: [], prepare, about: 'journal' }
}

function starts(manner: string, input = startInput(ownFence), prepare?: Trial['prepare']): Trial {
  return trial(manner, { operation: 'startChildren', input }, prepare)
}

function joins(manner: string, input = joinInput(ownFence), prepare?: Trial['prepare']): Trial {
  return trial(manner, { operation: 'joinChildren', input }, prepare)
}

export const childTrials: readonly Trial[] = fences
  .flatMap(({ name, fence }) => [
    starts(name, startInput(fence)),
    starts(`${name}, and to wait`, callInput(fence)),
    joins(name, joinInput(fence)),
  ])
  .concat([
    starts('detached', startInput(ownFence, { children: [{ ...childInput(CHILD, firstChildId), isDetached: true }] })),
    starts('too many at once', startInput(ownFence, { children: tooManyChildren })),
    starts('with an id that is taken', startInput(ownFence, { children: [childInput('taken', executionId)] })),
    starts('one too many', startInput(ownFence, { children: [childInput('more', firstChildId)] }), manyChildren),
    starts('below too many parents', startInput(ownFence), belowManyParents),
    starts('one step too many', { ...callInput(ownFence), children: [] }, manySteps),
    joins('of two children', joinInput(ownFence, { children: [CHILD, OTHER_CHILD], total: 2 })),
    joins('of none', joinInput(ownFence, { name: 'none', children: [], total: 0 })),
    joins('a page', joinInput(ownFence, { isLast: false })),
    joins('of a child that was not started', joinInput(ownFence, { name: 'other', children: ['unknown'] })),
    joins('with a quorum that is too large', joinInput(ownFence, tooLargeQuorum)),
    joins('one step too many', joinInput(ownFence, { name: 'more', children: [], total: 0 }), manySteps),
  ])
