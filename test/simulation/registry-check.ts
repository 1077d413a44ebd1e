/** What must hold of the partition of the store after every batch: its indexes and its log, and the rules of the registry. */
import type { Worker } from '../../src/kernel/index.ts'
import type { PartitionDump } from '../../src/stores/store.ts'
import { sharedProblemsOf } from '../conformance/invariants.ts'
import type { Effect } from './network.ts'

export function registryProblems({ calls, before, after }: Effect): string[] {
  if (after === before) return []
  const registered = calls.flatMap(({ operation, input }) =>
    operation === 'registerWorker' ? [(input as { readonly workerInstanceId: string }).workerInstanceId] : [],
  )
  const live = new Set(
    workersOf(before)
      .filter(isLive)
      .map(({ id }) => id),
  )
  return [
    ...sharedProblemsOf(after),
    ...workersOf(after)
      .filter((worker) => isLive(worker) && !live.has(worker.id) && !registered.includes(worker.id))
      .map(({ id }) => `the worker ${id} came to life without a registration`),
  ]
}

function workersOf({ records }: PartitionDump): Worker[] {
  return records.filter((record) => record.type === 'worker')
}

function isLive({ state }: Worker): boolean {
  return state.phase === 'running' || state.phase === 'draining'
}
