/** Situations of an execution that needs a permit: with and without a gate in front of it, and held without a permit. */
import type { CreateInput, Gate } from '../../../src/kernel/index.ts'
import { heldAgain, submitted } from './situations.ts'
import type { Situation } from './situations.ts'
import {
  CANCEL_GRACE_MS,
  LEASE_MS,
  SHORT_LEASE_MS,
  START_AT,
  executionId,
  newSubmit,
  ownFence,
  putDirectly,
  step,
  submitRequest,
} from './world.ts'
import type { World } from './world.ts'

export const LIMIT = { limit: 'openai', key: 'acme' } as const
const STEP_MS = 1_000

const limited: CreateInput = {
  ...newSubmit(submitRequest),
  limits: [{ ...LIMIT, weight: 2, instead: undefined, budget: undefined }],
}

/** A gate that other work has closed. */
function withGate(world: World): World {
  const gate: Gate = {
    type: 'gate',
    id: 'openai\u001facme',
    ...LIMIT,
    cause: 'rate',
    until: START_AT + 60_000,
    permits: 1,
    createdAt: START_AT,
  }
  putDirectly(world, gate)
  return world
}

function heldWithoutPermit(leaseTtlMs = LEASE_MS): World {
  return heldAgain(submitted(limited), leaseTtlMs)
}

function blocked(): World {
  const world = heldWithoutPermit()
  const input = { executionId, fence: ownFence, ...LIMIT, cause: 'concurrency', retryAfterMs: undefined } as const
  step(world, STEP_MS, { operation: 'blockExecution', input })
  return world
}

function cancelRequested(): World {
  const world = heldWithoutPermit()
  const input = { executionId, reason: 'unwanted', by: 'ada', force: false, graceMs: CANCEL_GRACE_MS }
  step(world, STEP_MS / 2, { operation: 'cancelExecution', input })
  return world
}

export const limitSituations: readonly Situation[] = [
  { name: 'eligible, limited', build: () => submitted(limited) },
  { name: 'eligible, limited, behind a gate', build: () => withGate(submitted(limited)) },
  { name: 'blocked by a limit', build: () => blocked() },
  { name: 'active, without a permit', build: () => heldWithoutPermit() },
  { name: 'active, without a permit, lease lapsed', build: () => heldWithoutPermit(SHORT_LEASE_MS) },
  { name: 'active, without a permit, cancel requested', build: () => cancelRequested() },
]
