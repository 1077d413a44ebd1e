/** Calls that concern limits: their definitions, their permits, and the work that they block. */
import { LIMIT_OVERDUE_MS, LIMIT_PROBE_MS } from '../../../src/kernel/index.ts'
import type { TakeInput } from '../../../src/kernel/index.ts'
import { fences } from './holder-trials.ts'
import { LIMIT } from './limit-situations.ts'
import type { OperationCall } from './operation-call.ts'
import { SOON_MS } from './trial.ts'
import type { Trial } from './trial.ts'
import { executionId, newClaim, ownFence, step } from './world.ts'
import type { World } from './world.ts'

const PROCESS = { workerInstanceId: 'pool-a' } as const

const take: TakeInput = {
  requestId: 'take-1',
  ...PROCESS,
  ttlMs: 33_000,
  requests: [{ ...LIMIT, weight: 2, needed: 2, spare: 0, waitingIn: 0 }],
}

function define(world: World): void {
  const input = { name: LIMIT.limit, rate: { count: 9, windowMs: 60_000 }, concurrency: 3, by: 'ada' }
  step(world, 0, { operation: 'defineLimit', input })
}

function used(world: World): void {
  define(world)
  step(world, 0, { operation: 'takePermits', input: take })
}

function held(world: World): void {
  used(world)
  step(world, 0, { operation: 'holdLimit', input: hold })
}

function deleted(world: World): void {
  used(world)
  step(world, 0, { operation: 'deleteLimit', input: nameOnly })
}

function trial(call: OperationCall, manner = '', prepare?: (world: World) => void, atMs = SOON_MS): Trial {
  return { ...call, manner, atMs, blobs: [], about: 'limit', prepare }
}

const nameOnly = { name: LIMIT.limit }
const giveBack = { requestId: 'return-1', ...PROCESS, returns: [{ ...LIMIT, count: 1 }] }
const renewal = { ...PROCESS, ttlMs: 33_000, keys: [LIMIT] }
const hold = { ...LIMIT, retryAfterMs: 5_000, by: 'ada', reason: 'the provider is down' }
const unneeded = { limit: 'other', key: '', cause: 'rate', retryAfterMs: 500 } as const

export const limitTrials: readonly Trial[] = [
  trial({ operation: 'defineLimit', input: { name: LIMIT.limit, concurrency: 2 } }),
  trial({ operation: 'deleteLimit', input: nameOnly }),
  trial({ operation: 'deleteLimit', input: nameOnly }, 'one that is defined', define),
  trial({ operation: 'listLimits', input: { limit: 10 } }, '', define),
  trial({ operation: 'describeLimit', input: { ...nameOnly, limit: 10 } }),
  trial({ operation: 'describeLimit', input: { ...nameOnly, limit: 10 } }, 'one that is used', used),
  trial({ operation: 'takePermits', input: take }, 'of an unknown limit'),
  trial({ operation: 'takePermits', input: take }, 'of a free limit', define),
  trial({ operation: 'takePermits', input: { ...take, requestId: 'take-2' } }, 'of a full limit', used),
  trial({ operation: 'returnPermits', input: giveBack }, 'of nothing', define),
  trial({ operation: 'returnPermits', input: giveBack }, 'of what was taken', used),
  trial({ operation: 'renewPermits', input: renewal }, 'of nothing'),
  trial({ operation: 'renewPermits', input: renewal }, 'of what was taken', used),
  trial({ operation: 'holdLimit', input: hold }),
  trial({ operation: 'holdLimit', input: hold }, 'one that is defined', define),
  trial({ operation: 'liftHold', input: LIMIT }),
  trial({ operation: 'liftHold', input: LIMIT }, 'of one that is not held', used),
  trial({ operation: 'liftHold', input: LIMIT }, 'of one that is held', held),
  trial({ operation: 'wakeWaiting', input: nameOnly }),
  trial({ operation: 'wakeWaiting', input: nameOnly }, 'of one that was deleted', deleted),
  trial({ operation: 'reconcileLimits', input: {} }, '', used),
  trial({ operation: 'reconcileBlocked', input: {} }),
  trial(
    { operation: 'reconcileBlocked', input: {} },
    'a gate is overdue',
    undefined,
    SOON_MS + LIMIT_PROBE_MS + LIMIT_OVERDUE_MS,
  ),
  ...fences.map(({ name, fence }) =>
    trial(
      { operation: 'blockExecution', input: { executionId, fence, ...LIMIT, cause: 'rate', retryAfterMs: 700 } },
      name,
    ),
  ),
  trial({ operation: 'blockExecution', input: { executionId, fence: ownFence, ...unneeded } }, 'for another limit'),
  trial({ operation: 'openGates', input: { gates: [{ ...LIMIT, permits: 1, afterMs: 0 }] } }, 'at once'),
  trial({ operation: 'openGates', input: { gates: [{ ...LIMIT, permits: 2, afterMs: 500 }] } }, 'soon'),
  trial(
    { operation: 'openGates', input: { gates: [], executions: [{ executionId, epoch: ownFence.epoch }] } },
    'of a budget',
  ),
  trial({ operation: 'claimForWorker', input: newClaim('claim-limited') }, 'without permits'),
  trial(
    {
      operation: 'claimForWorker',
      input: {
        ...newClaim('claim-limited'),
        permits: [0, 2].map((weight) => ({ ...LIMIT, weight, count: 1, takesBlocked: true })),
      },
    },
    'with permits',
  ),
  trial({ operation: 'runDue', input: { limit: 10, seed: 7 } }, 'a gate opens', undefined, SOON_MS + LIMIT_PROBE_MS),
]
