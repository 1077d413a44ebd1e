/** Mistakes in the registry of workers. */
import { hasLapsed } from '../../src/kernel/rules/worker-state.ts'
import { change } from './kernel-plants.ts'
import type { Plant } from './plant.ts'

/** Much of the time for which a registration is valid. */
const EARLY_MS = 10_000

export const registryPlants: readonly Plant[] = [
  {
    name: 'heartbeat_revives_the_lapsed',
    mistake: 'a heartbeat extends a registration that has lapsed',
    plant: () =>
      change('heartbeatWorker', (right, tx, input) => {
        const worker = tx.get('worker', input.workerInstanceId)
        return right(worker !== undefined && hasLapsed(worker, tx.now) ? { ...tx, now: worker.heartbeatAt } : tx, input)
      }),
  },
  {
    name: 'heartbeat_of_another_boot',
    mistake: 'a heartbeat extends the registration of another boot of its worker, or one that was given up',
    plant: () =>
      change('heartbeatWorker', (right, tx, input) => {
        const worker = tx.get('worker', input.workerInstanceId)
        if (worker === undefined) return right(tx, input)
        tx.put({ ...worker, state: { phase: 'running' }, heartbeatAt: tx.now })
        return { kind: 'refreshed', expiresAt: tx.now + worker.ttlMs, drain: false }
      }),
  },
  {
    name: 'worker_given_up_early',
    mistake: 'the due pass gives up a worker long before its registration has lapsed',
    plant: () =>
      change('runDue', (right, tx, input) =>
        right(input.family === 'm' ? { ...tx, now: tx.now + EARLY_MS } : tx, input),
      ),
  },
  {
    name: 'heartbeat_not_recorded',
    mistake: 'a heartbeat is answered without having been recorded',
    plant: () => change('heartbeatWorker', (right, tx, input) => right({ ...tx, put: () => undefined }, input)),
  },
]
