/** Submits with a shaping key, and what becomes of the executions of a key. */
import { SHAPING_MEMORY_MS } from '../../../src/kernel/index.ts'
import type { ExecutionId, SubmitShaping } from '../../../src/kernel/index.ts'
import type { OperationCall } from './operation-call.ts'
import { SOON_MS } from './trial.ts'
import type { Trial } from './trial.ts'
import { executionId, newSubmit, payload, step, submitRequest } from './world.ts'
import type { World } from './world.ts'

const KEY = 'document:17'
const earlierId = '0-00000000-0000-7000-8000-0000000000e1' as ExecutionId
const waitingId = '0-00000000-0000-7000-8000-0000000000e2' as ExecutionId
const WAIT_MS = 10_000
/** Longer than any timer of the table but the deadlines. */
const LONG_MS = 100_000
const debounce: SubmitShaping = { kind: 'debounce', key: KEY, waitMs: WAIT_MS, maxMs: WAIT_MS }
const throttle: SubmitShaping = { kind: 'throttle', key: KEY, everyMs: WAIT_MS }
const order: SubmitShaping = { kind: 'order', key: KEY, onFailure: 'block' }
const replace: SubmitShaping = { kind: 'singleton', key: KEY, ifTaken: 'replace' }
const runDue: OperationCall = { operation: 'runDue', input: { limit: 10, seed: 7 } }
const reject: SubmitShaping = { kind: 'singleton', key: KEY, ifTaken: 'reject' }

function submit(shaping: SubmitShaping, id = executionId): OperationCall {
  return {
    operation: 'createExecution',
    input: { ...newSubmit(submitRequest), executionId: id, requestId: undefined, ifExists: undefined, shaping },
  }
}

/** Another execution of the key exists. */
function after(shaping: SubmitShaping): (world: World) => void {
  return (world) => step(world, 0, submit(shaping, earlierId), payload)
}

/** Another execution of the key was cancelled, so that the one that waited has the turn. */
function passedOn(world: World): void {
  after(order)(world)
  step(world, 0, submit(order, waitingId), payload)
  const cancel = { executionId: earlierId, reason: 'too late', by: 'bob', force: true, graceMs: 0 }
  step(world, 0, { operation: 'cancelExecution', input: cancel })
}

/** Only the window is left to be over: the parts of one pass may come in any order. */
function lateInWindow(world: World): void {
  after({ kind: 'throttle', key: KEY, everyMs: LONG_MS })(world)
  step(world, LONG_MS - SOON_MS, runDue)
}

function trial(call: OperationCall, manner: string, prepare?: (world: World) => void, atMs = SOON_MS): Trial {
  return { ...call, manner, atMs, blobs: payload, about: 'registry', prepare }
}

export const shapingTrials: readonly Trial[] = [
  trial(submit(debounce), 'debounced'),
  trial(submit(debounce), 'debounced, in a window', after(debounce)),
  trial(submit(throttle), 'throttled, in a window', after(throttle)),
  trial(submit(order), 'ordered'),
  trial(submit(order), 'ordered, behind another', after(order)),
  trial(submit(reject), 'a taken singleton', after(reject)),
  trial(submit(replace), 'a singleton that replaces', after(replace)),
  trial(submit(order), 'ordered, behind one that was cancelled', passedOn),
  trial({ operation: 'continueOrder', input: { executionId, by: 'bob', reason: 'repaired' } }, ''),
  trial(runDue, 'a shaping key is of no use any more', lateInWindow, WAIT_MS + SHAPING_MEMORY_MS + SOON_MS),
]
