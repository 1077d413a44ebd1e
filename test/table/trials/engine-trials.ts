/** What runs in the background: each pass before and after the moments at which something becomes due. */
import type { ReconcileCursor } from '../../../src/kernel/index.ts'
import {
  DEADLINE_OVER_MS,
  DELAYS_OVER_MS,
  GRACE_OVER_MS,
  LEASES_OVER_MS,
  RETENTION_OVER_MS,
  SOON_MS,
  SUBMISSION_OVER_MS,
  TIMEOUT_OVER_MS,
} from './trial.ts'
import type { Trial } from './trial.ts'

function due(manner: string, atMs: number): Trial {
  return { operation: 'runDue', manner, atMs, blobs: [], input: { limit: 10, seed: 7 } }
}

function purge(manner: string, atMs: number): Trial {
  return { operation: 'purgeExecutions', manner, atMs, blobs: [], input: {} }
}

function inspect(manner: string, atMs: number): Trial {
  return { operation: 'inspectPartition', manner, atMs, blobs: [], input: { limit: 10 } }
}

function reconcile(manner: string, cursor: ReconcileCursor | undefined): Trial {
  return {
    operation: 'reconcileIndexes',
    manner,
    atMs: SOON_MS,
    blobs: [],
    input: { cursor },
  }
}

export const engineTrials: readonly Trial[] = [
  due('before anything is due', SOON_MS),
  due('delays are over', DELAYS_OVER_MS),
  due("the cancel's grace is over", GRACE_OVER_MS),
  due("the attempt's timeout is over", TIMEOUT_OVER_MS),
  due('the lease is over', LEASES_OVER_MS),
  due('the deadline is over', DEADLINE_OVER_MS),
  due('the submission was given up', SUBMISSION_OVER_MS),
  purge('within the retention', SOON_MS),
  purge('after the retention', RETENTION_OVER_MS),
  reconcile('records', undefined),
  reconcile('flows', { stage: 'flows', step: 0 }),
  reconcile('shared indexes', { stage: 'shared_indexes', step: 1 }),
  reconcile('queues', { stage: 'queue_indexes', step: 0 }),
  reconcile('members', { stage: 'member_indexes', step: 0 }),
  reconcile('edges', { stage: 'edge_indexes', step: 0 }),
  reconcile('journals', { stage: 'journal_indexes', step: 0 }),
  inspect('before anything is due', SOON_MS),
  inspect('after the retention', RETENTION_OVER_MS),
]
