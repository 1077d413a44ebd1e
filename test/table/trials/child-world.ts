/** The execution of the table as a parent, and as a child of another execution. */
import { CHILD_DEPTH_MAX, CHILD_MAX, CHILD_START_MAX } from '../../../src/kernel/index.ts'
import type {
  ChildInput,
  ExecutionId,
  Fence,
  JoinChildrenInput,
  StartChildrenInput,
} from '../../../src/kernel/index.ts'
import { changeJournal } from './journal-world.ts'
import { storedRecord } from './memory.ts'
import { executionId, ownFence, payload, putDirectly, step, submitWithoutPayload } from './world.ts'
import type { World } from './world.ts'

export const firstChildId = '0-00000000-0000-7000-8000-00000000000a' as ExecutionId
const secondChildId = '0-00000000-0000-7000-8000-00000000000b' as ExecutionId
const parentId = '0-00000000-0000-7000-8000-00000000000c' as ExecutionId
export const CHILD = 'page'
export const OTHER_CHILD = 'image'
const JOIN = 'all'
const CHILD_CLASS = 'child'

export function childInput(name: string, id: ExecutionId): ChildInput {
  const create = {
    ...submitWithoutPayload('child-1'),
    executionId: id,
    key: undefined,
    task: 'child',
    class: CHILD_CLASS,
  }
  return { name, create, inheritTags: ['team'] }
}

export function startInput(fence: Fence, changes: Partial<StartChildrenInput> = {}): StartChildrenInput {
  return { executionId, fence, children: [childInput(CHILD, firstChildId)], ...changes }
}

/** Starts one child and waits for it, in one call. */
export function callInput(fence: Fence): StartChildrenInput {
  const join = { name: JOIN, policy: 'all', need: 0, losers: 'let_run', total: 1, offset: 0 } as const
  return startInput(fence, { join, park: true })
}

export function joinInput(fence: Fence, changes: Partial<JoinChildrenInput> = {}): JoinChildrenInput {
  return {
    executionId,
    fence,
    name: JOIN,
    policy: 'all',
    need: 0,
    losers: 'let_run',
    total: 1,
    children: [CHILD],
    offset: 0,
    isLast: true,
    ...changes,
  }
}

export const tooManyChildren: readonly ChildInput[] = Array.from({ length: CHILD_START_MAX + 1 }, (_, i) =>
  childInput(`c${i}`, `0-00000000-0000-7000-8000-0000000001${String(i).padStart(2, '0')}` as ExecutionId),
)

export const tooLargeQuorum = { policy: 'quorum', need: CHILD_MAX + 1, total: 2 * CHILD_MAX } as const

/** Two children, of which one has completed. */
export function withChildren(world: World): World {
  const children = [childInput(CHILD, firstChildId), childInput(OTHER_CHILD, secondChildId)]
  step(world, 0, { operation: 'startChildren', input: startInput(ownFence, { children }) }, payload)
  const claim = {
    requestId: 'claim-child',
    workerId: 'pool',
    workerInstanceId: 'pool-b',
    queues: [{ lane: 'main', class: CHILD_CLASS }],
    count: 1,
    leaseTtlMs: 60_000,
    seed: 7,
  }
  step(world, 0, { operation: 'claimForWorker', input: claim })
  const fence = { leaseId: 'claim-child', epoch: 1, attempt: 1 }
  const result = { blob: 0, size: 5, encoding: 'json' as const }
  step(world, 0, { operation: 'completeExecution', input: { executionId: firstChildId, fence, result } }, ['value'])
  return world
}

/** Waits for the child that has not ended. */
export function waitingForChildren(world: World): World {
  const input = joinInput(ownFence, { children: [CHILD, OTHER_CHILD], total: 2 })
  step(withChildren(world), 0, { operation: 'joinChildren', input })
  return world
}

/** Makes the execution a child of another one, which has released nothing. */
export function asChild(world: World, depth = 1): World {
  const execution = storedRecord(world.memory, 'execution', executionId)
  if (execution === undefined) return world
  execution.parent = {
    executionId: parentId,
    life: 0,
    name: 'report',
    depth,
    join: undefined,
    isDetached: undefined,
    isReleased: undefined,
  }
  putDirectly(world, execution)
  return world
}

export function belowManyParents(world: World): void {
  asChild(world, CHILD_DEPTH_MAX)
}

export function manyChildren(world: World): void {
  changeJournal(world, (journal) => {
    journal.stepCount = journal.stepCount + CHILD_MAX
    journal.childCount = CHILD_MAX
  })
}
