/** What a lease's holder may ask: each operation with its own fence, an older one and somebody else's. */
import {
  cancelExecution,
  completeExecution,
  delayExecution,
  failExecution,
  releaseExecution,
  renewLease,
  updateProgress,
} from '../../../src/kernel/index.ts'
import type { Fence, OperationName, Tx } from '../../../src/kernel/index.ts'
import { SOON_MS } from './trial.ts'
import type { Trial } from './trial.ts'
import { CANCEL_GRACE_MS, LEASE_MS, RETRY_DELAY_MS, executionId, firstClaim, ownFence } from './world.ts'

interface NamedFence {
  readonly name: string
  readonly fence: Fence
}

const fences: readonly NamedFence[] = [
  { name: 'own fence', fence: ownFence },
  { name: 'fence of the lease before', fence: { leaseId: firstClaim, epoch: 1, attempt: 1 } },
  { name: 'foreign lease id', fence: { leaseId: 'claim-9', epoch: 2, attempt: 1 } },
]

interface FencedCall {
  readonly operation: OperationName
  readonly blobs: readonly string[]
  readonly run: (tx: Tx, fence: Fence) => { readonly kind: string }
}

function fail(tx: Tx, fence: Fence, category: string, retryAfterMs: number | undefined): { readonly kind: string } {
  const failure = { category, message: 'no luck', stack: 'at work' }
  return failExecution(tx, { executionId, fence, failure, retryAfterMs, seed: 7 })
}

const calls: readonly FencedCall[] = [
  {
    operation: 'renewLease',
    blobs: [],
    run: (tx, fence) => renewLease(tx, { executionId, fence, leaseTtlMs: LEASE_MS }),
  },
  {
    operation: 'completeExecution',
    blobs: ['result'],
    run: (tx, fence) =>
      completeExecution(tx, { executionId, fence, result: { blob: 0, size: 6, encoding: 'json' as const } }),
  },
  { operation: 'failExecution', blobs: [], run: (tx, fence) => fail(tx, fence, 'error', undefined) },
  {
    operation: 'releaseExecution',
    blobs: [],
    run: (tx, fence) => releaseExecution(tx, { executionId, fence, reason: 'shutdown' }),
  },
  {
    operation: 'delayExecution',
    blobs: [],
    run: (tx, fence) => delayExecution(tx, { executionId, fence, delayMs: RETRY_DELAY_MS }),
  },
  {
    operation: 'updateProgress',
    blobs: [],
    run: (tx, fence) => updateProgress(tx, { executionId, fence, percent: 40, message: 'reading' }),
  },
  {
    operation: 'cancelExecution',
    blobs: [],
    run: (tx, fence) =>
      cancelExecution(tx, {
        executionId,
        fence,
        reason: 'gave up',
        by: 'pool-a',
        force: false,
        graceMs: CANCEL_GRACE_MS,
      }),
  },
]

function fencedTrials(): Trial[] {
  const trials: Trial[] = []
  for (const call of calls) {
    for (const named of fences) {
      trials.push({
        operation: call.operation,
        manner: named.name,
        atMs: SOON_MS,
        blobs: call.blobs,
        run: (tx) => call.run(tx, named.fence),
      })
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
    run: (tx) => fail(tx, ownFence, 'permanent', undefined),
  },
  {
    operation: 'failExecution',
    manner: 'own fence, retry at once',
    atMs: SOON_MS,
    blobs: [],
    run: (tx) => fail(tx, ownFence, 'error', 0),
  },
  {
    operation: 'delayExecution',
    manner: 'own fence, no delay',
    atMs: SOON_MS,
    blobs: [],
    run: (tx) => delayExecution(tx, { executionId, fence: ownFence, delayMs: 0 }),
  },
])
