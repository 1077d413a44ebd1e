/**
 * The situations in which every operation is tried: each phase, and within a phase each past that a holder could still
 * refer to. Operations lead there wherever there are any. A held execution is on its second lease, so that an older
 * fence exists; what happens to it happens four seconds after the start, and the operation under test comes later.
 */
import { REPLAY_CAP } from '../../../src/kernel/index.ts'
import type { CreateInput, ExecutionState } from '../../../src/kernel/index.ts'
import { awaitingReply } from './journal-world.ts'
import {
  CANCEL_GRACE_MS,
  DELAY_MS,
  LEASE_MS,
  RETENTION_MS,
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
  submitWithoutPayload,
  theExecution,
} from './world.ts'
import type { World } from './world.ts'

export interface Situation {
  readonly name: string
  readonly build: () => World
}

const STEP_MS = 1_000
/** Longer than any operation under test waits. */
const DEDUPE_MS = 1_000 * RETENTION_MS
/** Less than it takes to get to the second lease and lose it. */
const SHORT_TOTAL_TIMEOUT_MS = 3_500

export function submitted(input: CreateInput): World {
  const world = newWorld()
  submit(world, input)
  return world
}

export function fresh(): World {
  return submitted(newSubmit(submitRequest))
}

export function heldAgain(world: World, leaseTtlMs: number): World {
  claim(world, STEP_MS, newClaim(firstClaim))
  const fence = { leaseId: firstClaim, epoch: 1, attempt: 1 }
  step(world, STEP_MS, { operation: 'releaseExecution', input: { executionId, fence, reason: 'shutdown' } })
  claim(world, STEP_MS, { ...newClaim(secondClaim), leaseTtlMs })
  return world
}

export function held(): World {
  return heldAgain(fresh(), LEASE_MS)
}

export function inState(world: World, state: ExecutionState): World {
  const execution = theExecution(world)
  execution.state = state
  execution.next = execution.attempt === undefined ? execution.next : 'continue'
  execution.changedAt = world.now
  putDirectly(world, execution)
  return world
}

function cancelRequested(leaseTtlMs: number): World {
  const world = heldAgain(fresh(), leaseTtlMs)
  const input = { executionId, reason: 'unwanted', by: 'ada', force: false, graceMs: CANCEL_GRACE_MS }
  step(world, STEP_MS / 2, { operation: 'cancelExecution', input })
  return world
}

export function completed(): World {
  const world = held()
  const result = { blob: 0, size: 6, encoding: 'json' as const }
  step(world, STEP_MS, { operation: 'completeExecution', input: { executionId, fence: ownFence, result } }, ['result'])
  return world
}

function revoked(world: World): World {
  step(world, STEP_MS, { operation: 'revokeLease', input: { executionId, reason: 'stuck', by: 'ada' } })
  return world
}

export function failed(category: string): World {
  const world = held()
  const input = { executionId, fence: ownFence, failure: { category, message: 'no luck' }, seed: 7 }
  step(world, STEP_MS, { operation: 'failExecution', input })
  return world
}

function afterDuePass(world: World): World {
  step(world, STEP_MS, { operation: 'runDue', input: { limit: 10, seed: 7 } })
  return world
}

/** Its next run waits for the end of the present one. It has no payload: no read shows the one of a follow-up. */
function followed(world: World, change: Partial<CreateInput> = {}): World {
  const input: CreateInput = { ...submitWithoutPayload('submit-next'), ifExists: 'after', digest: 'next', ...change }
  step(world, 0, { operation: 'createExecution', input })
  return world
}

/** Its retention is over, and its id stays taken. */
function onlyIdKept(): World {
  const input = { ...newSubmit(submitRequest), retentionMs: 0, dedupeMs: DEDUPE_MS }
  const world = heldAgain(submitted(input), LEASE_MS)
  step(world, STEP_MS, { operation: 'completeExecution', input: { executionId, fence: ownFence } })
  step(world, 0, { operation: 'purgeExecutions', input: {} })
  return world
}

export const situations: readonly Situation[] = [
  { name: 'absent', build: () => newWorld() },
  { name: 'eligible', build: () => fresh() },
  {
    name: 'eligible, released',
    build: () => {
      const world = held()
      const input = { executionId, fence: ownFence, reason: 'shutdown' }
      step(world, STEP_MS, { operation: 'releaseExecution', input })
      return world
    },
  },
  {
    name: 'eligible, lease expired',
    build: () => afterDuePass(heldAgain(fresh(), SHORT_LEASE_MS)),
  },
  {
    name: 'eligible, lease revoked',
    build: () => revoked(held()),
  },
  {
    name: 'delayed',
    build: () => submitted({ ...newSubmit(submitRequest), delayMs: DELAY_MS }),
  },
  { name: 'delayed, followed by another run', build: () => followed(failed('error')) },
  { name: 'delayed, retrying', build: () => failed('error') },
  {
    name: 'delayed, parked',
    build: () => {
      const world = held()
      const input = { executionId, fence: ownFence, delayMs: RETRY_DELAY_MS }
      step(world, STEP_MS, { operation: 'delayExecution', input })
      return world
    },
  },
  { name: 'blocked', build: () => inState(fresh(), { phase: 'blocked', by: 'hold', gate: undefined }) },
  { name: 'active', build: () => held() },
  {
    name: 'active, cancel requested',
    build: () => cancelRequested(LEASE_MS),
  },
  { name: 'active, followed by another run', build: () => followed(held()) },
  {
    name: 'active, followed by a delayed run',
    build: () => followed(held(), { delayMs: DELAY_MS }),
  },
  {
    name: 'active, followed by a delayed run, lease lapsed',
    build: () => followed(heldAgain(fresh(), SHORT_LEASE_MS), { delayMs: DELAY_MS }),
  },
  { name: 'active, lease lapsed', build: () => heldAgain(fresh(), SHORT_LEASE_MS) },
  {
    name: 'suspended',
    build: () => awaitingReply(held()),
  },
  {
    name: 'ended, completed',
    build: () => completed(),
  },
  { name: 'ended, only its id is kept', build: () => onlyIdKept() },
  {
    name: 'ended, no replay left',
    build: () => {
      const world = completed()
      const execution = theExecution(world)
      execution.replayCount = REPLAY_CAP
      putDirectly(world, execution)
      return world
    },
  },
  { name: 'ended, failed', build: () => failed('permanent') },
  {
    name: 'ended, cancelled',
    build: () => {
      const world = held()
      const input = { executionId, reason: 'unwanted', by: 'ada', force: true, graceMs: CANCEL_GRACE_MS }
      step(world, STEP_MS, { operation: 'cancelExecution', input })
      return world
    },
  },
  {
    name: 'ended, cancelled as its lease expired',
    build: () => afterDuePass(cancelRequested(SHORT_LEASE_MS)),
  },
  {
    name: 'ended, cancelled as its lease was revoked',
    build: () => revoked(cancelRequested(LEASE_MS)),
  },
  {
    name: 'ended, expired',
    build: () => {
      const input = { ...newSubmit(submitRequest), totalTimeoutMs: SHORT_TOTAL_TIMEOUT_MS }
      return afterDuePass(heldAgain(submitted(input), LEASE_MS))
    },
  },
]
