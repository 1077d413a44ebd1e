/** The situations of an execution that remembers, waits, or has been told something. */
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
import type { Platform } from './platform.ts'
import { fresh, held } from './situations.ts'
import type { Situation } from './situations.ts'
import { CANCEL_GRACE_MS, RETRY_DELAY_MS, executionId, ownFence, payload, step, submitWithoutPayload } from './world.ts'
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

/** Waits at a waitpoint that was opened before, and has been told less than it needs. */
function halfAnswered(platform: Platform): World {
  const world = remembering(held(platform))
  const input = waitInput(ownFence, REPLY, 'escalate')
  const nodes = input.nodes.map((node) => ({ ...node, need: 2, by: 'signals' as const }))
  return wait(world, { ...input, nodes, opens: [], remindEveryMs: STEP_MS })
}

/** Its time was up, and it waits on for an operator. */
function escalated(platform: Platform): World {
  const world = wait(held(platform), { ...waitInput(ownFence, REPLY, 'escalate'), timeoutMs: 0 })
  step(world, 0, { operation: 'runDue', input: { limit: 10, seed: 7 } })
  return world
}

function replayedFromStart(platform: Platform): World {
  const world = held(platform)
  record(world, STEP, withoutValue)
  completed(world)
  const input = { executionId, requestId: 'replay-0', from: { kind: 'start' as const } }
  step(world, 0, { operation: 'replayExecution', input })
  return world
}

function inAnothersPlace(platform: Platform): World {
  const world = held(platform)
  record(world, STEP, withoutValue)
  completed(world)
  const input = { ...submitWithoutPayload('submit-0'), ifExists: 'replace' as const }
  step(world, 0, { operation: 'createExecution', input }, payload)
  return world
}

/** What any operation may meet. */
export const journalSituations: readonly Situation[] = [
  { name: 'eligible, replayed from the start', build: (platform) => replayedFromStart(platform) },
  { name: 'eligible, in the place of another', build: (platform) => inAnothersPlace(platform) },
  { name: 'active, remembering', build: (platform) => remembering(held(platform)) },
  { name: 'suspended, half answered', build: (platform) => halfAnswered(platform) },
  {
    name: 'suspended, at a mailbox',
    build: (platform) => wait(held(platform), waitInput(ownFence, MAILBOX, 'resume_with_signal')),
  },
  {
    name: 'suspended, to fail in time',
    build: (platform) => wait(held(platform), waitInput(ownFence, REPLY, 'fail')),
  },
  {
    name: 'suspended, to try a step again',
    build: (platform) => {
      const world = held(platform)
      step(world, STEP_MS, { operation: 'recordStep', input: stepInput(ownFence, STEP, stepRetried(true)) })
      return world
    },
  },
  { name: 'ended, remembering', build: (platform) => completed(remembering(held(platform))) },
  { name: 'ended, cancelled as it waited', build: (platform) => cancelled(awaitingReply(held(platform))) },
]

/** What matters to those alone that concern what an execution remembers, or waits for. */
export const furtherSituations: readonly Situation[] = [
  {
    name: 'eligible, told something before it began',
    build: (platform) => {
      const world = fresh(platform)
      signal(world, MAILBOX, 'early')
      return world
    },
  },
  {
    name: 'eligible, remembering',
    build: (platform) => {
      const world = remembering(held(platform))
      step(world, 0, { operation: 'releaseExecution', input: { executionId, fence: ownFence, reason: 'shutdown' } })
      return world
    },
  },
  {
    name: 'eligible, answered',
    build: (platform) => {
      const world = awaitingReply(held(platform))
      signal(world, REPLY, 'early')
      return world
    },
  },
  {
    name: 'delayed, remembering',
    build: (platform) => {
      const world = remembering(held(platform))
      const input = { executionId, fence: ownFence, delayMs: RETRY_DELAY_MS }
      step(world, 0, { operation: 'delayExecution', input })
      return world
    },
  },
  {
    name: 'delayed, answered',
    build: (platform) => {
      const world = wait(held(platform), slowWait())
      signal(world, REPLY, 'early')
      return world
    },
  },
  { name: 'suspended, to be answered after a while', build: (platform) => wait(held(platform), slowWait()) },
  { name: 'suspended, asleep', build: (platform) => wait(held(platform), sleepInput(ownFence)) },
  { name: 'suspended, escalated', build: (platform) => escalated(platform) },
  {
    name: 'ended, being removed',
    build: (platform) => {
      const world = completed(remembering(held(platform)))
      removalBegun(world)
      return world
    },
  },
]
