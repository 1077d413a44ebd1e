/** Calls of a lease's holder: each operation with its own fence, an older one and a foreign one. */
import type { FailInput, Fence, ReleaseInput } from '../../../src/kernel/index.ts'
import type { OperationCall } from './operation-call.ts'
import { SOON_MS } from './trial.ts'
import type { Trial } from './trial.ts'
import { CANCEL_GRACE_MS, LEASE_MS, RETRY_DELAY_MS, executionId, firstClaim, ownFence } from './world.ts'

interface NamedFence {
  readonly name: string
  readonly fence: Fence
}

/** The fences of possible holders. */
export const fences: readonly NamedFence[] = [
  { name: 'own fence', fence: ownFence },
  { name: 'fence of the lease before', fence: { leaseId: firstClaim, epoch: 1, attempt: 1 } },
  { name: 'foreign lease id', fence: { leaseId: 'claim-9', epoch: 2, attempt: 1 } },
]

interface FencedCall {
  readonly blobs: readonly string[]
  readonly with: (fence: Fence) => OperationCall
}

function failInput(fence: Fence, category: string, retryAfterMs: number | undefined): FailInput {
  const failure = { category, message: 'no luck', stack: 'at work' }
  return { executionId, fence, failure, retryAfterMs, seed: 7 }
}

function refuseInput(countLimit: number): ReleaseInput {
  return { executionId, fence: ownFence, reason: 'not a box', refusal: { build: 'b1', countLimit, buildLimit: 3 } }
}

const calls: readonly FencedCall[] = [
  {
    blobs: [],
    with: (fence) => ({ operation: 'renewLease', input: { executionId, fence, leaseTtlMs: LEASE_MS } }),
  },
  {
    blobs: ['result'],
    with: (fence) => {
      const result = { blob: 0, size: 6, encoding: 'json' as const }
      return { operation: 'completeExecution', input: { executionId, fence, result } }
    },
  },
  {
    blobs: [],
    with: (fence) => ({ operation: 'failExecution', input: failInput(fence, 'error', undefined) }),
  },
  {
    blobs: [],
    with: (fence) => ({ operation: 'releaseExecution', input: { executionId, fence, reason: 'shutdown' } }),
  },
  {
    blobs: [],
    with: (fence) => ({ operation: 'delayExecution', input: { executionId, fence, delayMs: RETRY_DELAY_MS } }),
  },
  {
    blobs: [],
    with: (fence) => ({
      operation: 'updateProgress',
      input: { executionId, fence, percent: 40, message: 'reading' },
    }),
  },
  {
    blobs: [],
    with: (fence) => ({
      operation: 'cancelExecution',
      input: { executionId, fence, reason: 'gave up', by: 'pool-a', force: false, graceMs: CANCEL_GRACE_MS },
    }),
  },
  {
    blobs: [],
    with: (fence) => ({ operation: 'waitForChildren', input: { executionId, fence } }),
  },
  {
    blobs: [],
    with: (fence) => ({ operation: 'skipExecution', input: { executionId, fence } }),
  },
]

function fencedTrials(): Trial[] {
  const trials: Trial[] = []
  for (const call of calls) {
    for (const named of fences) {
      trials.push({ ...call.with(named.fence), manner: named.name, atMs: SOON_MS, blobs: call.blobs })
    }
  }
  return trials
}

export const holderTrials: readonly Trial[] = fencedTrials().concat([
  {
    operation: 'failExecution',
    manner: 'own fence, for good',
    atMs: SOON_MS,
    blobs: [],
    input: failInput(ownFence, 'permanent', undefined),
  },
  {
    operation: 'failExecution',
    manner: 'own fence, for good, before all compensations are registered',
    atMs: SOON_MS,
    blobs: [],
    input: { ...failInput(ownFence, 'permanent', undefined), isIncomplete: true },
  },
  {
    operation: 'failExecution',
    manner: 'own fence, retry at once',
    atMs: SOON_MS,
    blobs: [],
    input: failInput(ownFence, 'error', 0),
  },
  {
    operation: 'releaseExecution',
    manner: 'own fence, input refused',
    atMs: SOON_MS,
    blobs: [],
    input: refuseInput(3),
  },
  {
    operation: 'releaseExecution',
    manner: 'own fence, input refused for good',
    atMs: SOON_MS,
    blobs: [],
    input: refuseInput(1),
  },
  {
    operation: 'delayExecution',
    manner: 'own fence, no delay',
    atMs: SOON_MS,
    blobs: [],
    input: { executionId, fence: ownFence, delayMs: 0 },
  },
])
