/**
 * The situations in which every operation is tried: each phase, and within a phase each past that a holder could still
 * refer to. Operations lead there wherever there are any. A held execution is on its second lease, so that an older
 * fence exists; what happens to it happens four seconds after the start, and the operation under test comes later.
 */
import { REPLAY_CAP } from '../../../src/kernel/index.ts'
import type { CreateInput, ExecutionState } from '../../../src/kernel/index.ts'
import { awaitingReply } from './journal-world.ts'
import type { Platform } from './platform.ts'
import {
  CANCEL_GRACE_MS,
  DELAY_MS,
  LEASE_MS,
  RETRY_DELAY_MS,
  SHORT_LEASE_MS,
  claim,
  executionId,
  firstClaim,
  newClaim,
  newSubmit,
  newWorld,
  ownFence,
  putDirectly,
  secondClaim,
  step,
  submit,
  submitRequest,
  theExecution,
} from './world.ts'
import type { World } from './world.ts'

export interface Situation {
  readonly name: string
  readonly build: (platform: Platform) => World
}

const STEP_MS = 1_000
/** Less than it takes to get to the second lease and lose it. */
const SHORT_TOTAL_TIMEOUT_MS = 3_500

export function submitted(platform: Platform, input: CreateInput): World {
  const world = newWorld(platform)
  submit(world, input)
  return world
}

export function fresh(platform: Platform): World {
  return submitted(platform, newSubmit(submitRequest))
}

export function heldAgain(world: World, leaseTtlMs: number): World {
  claim(world, STEP_MS, newClaim(firstClaim))
  const fence = { leaseId: firstClaim, epoch: 1, attempt: 1 }
  step(world, STEP_MS, { operation: 'releaseExecution', input: { executionId, fence, reason: 'shutdown' } })
  claim(world, STEP_MS, { ...newClaim(secondClaim), leaseTtlMs })
  return world
}

export function held(platform: Platform): World {
  return heldAgain(fresh(platform), LEASE_MS)
}

export function inState(world: World, state: ExecutionState): World {
  const execution = theExecution(world)
  execution.state = state
  execution.next = execution.attempt === undefined ? execution.next : 'continue'
  execution.changedAt = world.now
  putDirectly(world, execution)
  return world
}

function cancelRequested(platform: Platform, leaseTtlMs: number): World {
  const world = heldAgain(fresh(platform), leaseTtlMs)
  const input = { executionId, reason: 'unwanted', by: 'ada', force: false, graceMs: CANCEL_GRACE_MS }
  step(world, STEP_MS / 2, { operation: 'cancelExecution', input })
  return world
}

function completed(platform: Platform): World {
  const world = held(platform)
  const result = { blob: 0, size: 6, encoding: 'json' as const }
  step(world, STEP_MS, { operation: 'completeExecution', input: { executionId, fence: ownFence, result } }, ['result'])
  return world
}

function revoked(world: World): World {
  step(world, STEP_MS, { operation: 'revokeLease', input: { executionId, reason: 'stuck', by: 'ada' } })
  return world
}

export function failed(platform: Platform, category: string): World {
  const world = held(platform)
  const input = { executionId, fence: ownFence, failure: { category, message: 'no luck' }, seed: 7 }
  step(world, STEP_MS, { operation: 'failExecution', input })
  return world
}

function afterDuePass(world: World): World {
  step(world, STEP_MS, { operation: 'runDue', input: { limit: 10, seed: 7 } })
  return world
}

export const situations: readonly Situation[] = [
  { name: 'absent', build: (platform) => newWorld(platform) },
  { name: 'eligible', build: (platform) => fresh(platform) },
  {
    name: 'eligible, released',
    build: (platform) => {
      const world = held(platform)
      const input = { executionId, fence: ownFence, reason: 'shutdown' }
      step(world, STEP_MS, { operation: 'releaseExecution', input })
      return world
    },
  },
  {
    name: 'eligible, lease expired',
    build: (platform) => afterDuePass(heldAgain(fresh(platform), SHORT_LEASE_MS)),
  },
  {
    name: 'eligible, lease revoked',
    build: (platform) => revoked(held(platform)),
  },
  {
    name: 'delayed',
    build: (platform) => submitted(platform, { ...newSubmit(submitRequest), delayMs: DELAY_MS }),
  },
  { name: 'delayed, retrying', build: (platform) => failed(platform, 'error') },
  {
    name: 'delayed, parked',
    build: (platform) => {
      const world = held(platform)
      const input = { executionId, fence: ownFence, delayMs: RETRY_DELAY_MS }
      step(world, STEP_MS, { operation: 'delayExecution', input })
      return world
    },
  },
  { name: 'blocked', build: (platform) => inState(fresh(platform), { phase: 'blocked', by: 'limit' }) },
  { name: 'active', build: (platform) => held(platform) },
  {
    name: 'active, cancel requested',
    build: (platform) => cancelRequested(platform, LEASE_MS),
  },
  { name: 'active, lease lapsed', build: (platform) => heldAgain(fresh(platform), SHORT_LEASE_MS) },
  {
    name: 'suspended',
    build: (platform) => awaitingReply(held(platform)),
  },
  {
    name: 'ended, completed',
    build: (platform) => completed(platform),
  },
  {
    name: 'ended, no replay left',
    build: (platform) => {
      const world = completed(platform)
      const execution = theExecution(world)
      execution.replayCount = REPLAY_CAP
      putDirectly(world, execution)
      return world
    },
  },
  { name: 'ended, failed', build: (platform) => failed(platform, 'permanent') },
  {
    name: 'ended, cancelled',
    build: (platform) => {
      const world = held(platform)
      const input = { executionId, reason: 'unwanted', by: 'ada', force: true, graceMs: CANCEL_GRACE_MS }
      step(world, STEP_MS, { operation: 'cancelExecution', input })
      return world
    },
  },
  {
    name: 'ended, cancelled as its lease expired',
    build: (platform) => afterDuePass(cancelRequested(platform, SHORT_LEASE_MS)),
  },
  {
    name: 'ended, cancelled as its lease was revoked',
    build: (platform) => revoked(cancelRequested(platform, LEASE_MS)),
  },
  {
    name: 'ended, expired',
    build: (platform) => {
      const input = { ...newSubmit(submitRequest), totalTimeoutMs: SHORT_TOTAL_TIMEOUT_MS }
      return afterDuePass(heldAgain(submitted(platform, input), LEASE_MS))
    },
  },
]
