/** The situations of an execution with steps, waits or signals. */
import type { Fence } from '../../../src/kernel/index.ts'
import {
  MAILBOX,
  REPLY,
  STEP,
  record,
  remembering,
  removalBegun,
  signal,
  sleepInput,
  slowWait,
  stepInput,
  stepRetried,
  wait,
  waitInput,
  awaitingReply,
  withoutValue,
} from './journal-world.ts'
import { fresh, held } from './situations.ts'
import type { Situation } from './situations.ts'
import {
  CANCEL_GRACE_MS,
  RETRY_DELAY_MS,
  claim,
  executionId,
  firstClaim,
  newClaim,
  ownFence,
  payload,
  secondClaim,
  step,
  submitWithoutPayload,
} from './world.ts'
import type { World } from './world.ts'

const STEP_MS = 1_000

function completed(world: World): World {
  step(world, 0, { operation: 'completeExecution', input: { executionId, fence: ownFence } })
  return world
}

function cancelled(world: World): World {
  const input = { executionId, reason: 'unwanted', by: 'ada', force: true, graceMs: CANCEL_GRACE_MS }
  step(world, 0, { operation: 'cancelExecution', input })
  return world
}

/** Waits at a waitpoint that was opened before, and has fewer signals than it needs. */
function halfAnswered(): World {
  const world = remembering(held())
  const input = waitInput(ownFence, REPLY, 'escalate')
  const nodes = input.nodes.map((node) => ({ ...node, need: 2, by: 'signals' as const }))
  return wait(world, { ...input, nodes, opens: [], remindEveryMs: STEP_MS })
}

/** Its time was up, and it waits on for an operator. */
function escalated(): World {
  const world = wait(held(), { ...waitInput(ownFence, REPLY, 'escalate'), timeoutMs: 0 })
  step(world, 0, { operation: 'runDue', input: { limit: 10, seed: 7 } })
  return world
}

function replayedFromStart(): World {
  const world = held()
  record(world, STEP, withoutValue)
  completed(world)
  const input = { executionId, requestId: 'replay-0', from: { kind: 'start' as const } }
  step(world, 0, { operation: 'replayExecution', input })
  return world
}

function inAnothersPlace(): World {
  const world = held()
  record(world, STEP, withoutValue)
  completed(world)
  const input = { ...submitWithoutPayload('submit-0'), ifExists: 'replace' as const }
  step(world, 0, { operation: 'createExecution', input }, payload)
  return world
}

const firstFence: Fence = { leaseId: firstClaim, epoch: 1, attempt: 1 }

/** Cancelled while it slept under its first lease, after a step had completed: its handler may undo the step. */
function unwinding(): World {
  const world = fresh()
  claim(world, STEP_MS, newClaim(firstClaim))
  step(world, 0, { operation: 'recordStep', input: stepInput(firstFence, STEP, withoutValue) })
  wait(world, sleepInput(firstFence))
  const input = { executionId, reason: 'unwanted', by: 'ada', force: false, graceMs: CANCEL_GRACE_MS }
  step(world, 0, { operation: 'cancelExecution', input })
  return world
}

/** The same under its second lease. */
function unwindingHeld(): World {
  const world = unwinding()
  claim(world, STEP_MS, newClaim(secondClaim))
  return world
}

/** Its handler has registered a compensation. */
function compensated(): World {
  const world = held()
  step(world, STEP_MS, { operation: 'registerCompensation', input: { executionId, fence: ownFence, count: 1 } })
  return world
}

/** Its failure is final, and its holder runs the compensation under its lease. */
function compensating(): World {
  const world = compensated()
  const failure = { category: 'permanent', message: 'no luck', stack: 'at work' }
  step(world, 0, { operation: 'failExecution', input: { executionId, fence: ownFence, failure, seed: 7 } })
  return world
}

/** What any operation may meet. */
export const journalSituations: readonly Situation[] = [
  { name: 'eligible, replayed from the start', build: () => replayedFromStart() },
  { name: 'eligible, in the place of another', build: () => inAnothersPlace() },
  { name: 'eligible, undoing its steps', build: () => unwinding() },
  { name: 'active, remembering', build: () => remembering(held()) },
  { name: 'active, undoing its steps', build: () => unwindingHeld() },
  { name: 'active, with a compensation', build: () => compensated() },
  { name: 'active, undoing its steps after a failure', build: () => compensating() },
  { name: 'suspended, half answered', build: () => halfAnswered() },
  {
    name: 'suspended, at a mailbox',
    build: () => wait(held(), waitInput(ownFence, MAILBOX, 'resume_with_signal')),
  },
  {
    name: 'suspended, to fail in time',
    build: () => wait(held(), waitInput(ownFence, REPLY, 'fail')),
  },
  {
    name: 'suspended, to fail in time, with a compensation',
    build: () => wait(compensated(), waitInput(ownFence, REPLY, 'fail')),
  },
  {
    name: 'suspended, to try a step again',
    build: () => {
      const world = held()
      step(world, STEP_MS, { operation: 'recordStep', input: stepInput(ownFence, STEP, stepRetried(true)) })
      return world
    },
  },
  { name: 'ended, remembering', build: () => completed(remembering(held())) },
  { name: 'ended, cancelled as it waited', build: () => cancelled(awaitingReply(held())) },
  { name: 'ended, having undone its steps', build: () => completed(unwindingHeld()) },
]

/** What matters to those alone that concern what an execution remembers, or waits for. */
export const furtherSituations: readonly Situation[] = [
  {
    name: 'eligible, signalled before it began',
    build: () => {
      const world = fresh()
      signal(world, MAILBOX, 'early')
      return world
    },
  },
  {
    name: 'eligible, remembering',
    build: () => {
      const world = remembering(held())
      step(world, 0, { operation: 'releaseExecution', input: { executionId, fence: ownFence, reason: 'shutdown' } })
      return world
    },
  },
  {
    name: 'eligible, answered',
    build: () => {
      const world = awaitingReply(held())
      signal(world, REPLY, 'early')
      return world
    },
  },
  {
    name: 'delayed, remembering',
    build: () => {
      const world = remembering(held())
      const input = { executionId, fence: ownFence, delayMs: RETRY_DELAY_MS }
      step(world, 0, { operation: 'delayExecution', input })
      return world
    },
  },
  {
    name: 'delayed, answered',
    build: () => {
      const world = wait(held(), slowWait())
      signal(world, REPLY, 'early')
      return world
    },
  },
  { name: 'suspended, to be answered after a while', build: () => wait(held(), slowWait()) },
  { name: 'suspended, asleep', build: () => wait(held(), sleepInput(ownFence)) },
  { name: 'suspended, escalated', build: () => escalated() },
  {
    name: 'ended, being removed',
    build: () => {
      const world = completed(remembering(held()))
      removalBegun(world)
      return world
    },
  },
]
