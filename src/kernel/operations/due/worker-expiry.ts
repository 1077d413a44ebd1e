import type { NamedDueCase } from './due-case.ts'
import { loseWorker } from '../../lifecycle/worker-phases.ts'
import { isRegistered, workerDueAt } from '../../rules/worker-state.ts'

/** Makes a worker without heartbeats `lost`, and removes a lost or dead one that was listed for long enough. */
export const workerExpiry: NamedDueCase<'worker'> = {
  name: 'worker_expiry',
  dueAt: workerDueAt,
  run: (tx, worker) => {
    if (isRegistered(worker)) loseWorker(tx, worker)
    else tx.remove('worker', worker.id)
  },
}
