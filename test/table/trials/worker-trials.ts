/** The registry of workers and the shares of engines: they change no execution, except that a lost worker loses its leases. */
import type { WorkerFacts } from '../../../src/kernel/index.ts'
import { LEASES_OVER_MS, SOON_MS } from './trial.ts'
import type { Trial } from './trial.ts'
import { newClaim, step } from './world.ts'
import type { World } from './world.ts'

const { workerInstanceId } = newClaim('claim-1')
const other = 'instance-of-another'
const bootId = 'boot-1'
const TTL_MS = 15_000

const facts: WorkerFacts = {
  workerId: 'pool',
  namespace: 'acme',
  lanes: ['main'],
  tasks: [{ name: 'report', version: undefined }],
  capabilities: [],
  slots: 4,
  runningCount: 1,
  host: 'here',
  pid: 7,
  version: '1.0.0',
  ttlMs: TTL_MS,
  leaseTtlMs: 60_000,
}

function register(world: World): void {
  step(world, 0, { operation: 'registerWorker', input: { workerInstanceId, bootId, facts } })
}

function registerAndLose(world: World): void {
  register(world)
  step(world, 0, { operation: 'markWorkerDead', input: { workerInstanceId, reason: 'gone', by: 'bob' } })
}

function share(world: World): void {
  step(world, 0, { operation: 'renewDuties', input: { engineId: 'engine', ttlMs: 30_000, partitions: ['fp:0'] } })
}

function trial(manner: string, call: Pick<Trial, 'operation' | 'input'>, prepare?: (world: World) => void): Trial {
  const about = call.operation === 'revokeWorkerLeases' ? undefined : 'registry'
  return { ...call, manner, atMs: SOON_MS, blobs: [], about, prepare } as Trial
}

const registration = { workerInstanceId, bootId, facts }
const beat = { workerInstanceId, bootId, runningCount: 2, isDraining: false }
const revocation = { workerInstanceId, leaseTtlMs: 60_000, reason: 'gone', by: 'bob' }

export const workerTrials: readonly Trial[] = [
  trial('a new worker', { operation: 'registerWorker', input: registration }),
  trial('the same boot', { operation: 'registerWorker', input: registration }, register),
  trial('another boot', { operation: 'registerWorker', input: { ...registration, bootId: 'boot-2' } }, register),
  trial('', { operation: 'heartbeatWorker', input: beat }, register),
  trial('of a dead worker', { operation: 'heartbeatWorker', input: beat }, registerAndLose),
  trial('', { operation: 'unregisterWorker', input: { workerInstanceId, bootId } }, register),
  trial('a worker', { operation: 'drainWorker', input: { workerInstanceId, by: 'bob' } }, register),
  trial('a dead worker', { operation: 'drainWorker', input: { workerInstanceId } }, registerAndLose),
  trial('no worker', { operation: 'drainWorker', input: { workerInstanceId } }),
  trial('a worker', { operation: 'markWorkerDead', input: { workerInstanceId, reason: 'gone' } }, register),
  trial('no worker', { operation: 'markWorkerDead', input: { workerInstanceId, reason: 'gone' } }),
  trial('', { operation: 'listWorkers', input: { limit: 10 } }, register),
  trial('', { operation: 'listUnsweptWorkers', input: {} }, registerAndLose),
  trial('of no loss', { operation: 'recordWorkerSweep', input: { workerInstanceId, since: 0 } }, registerAndLose),
  trial('', { operation: 'renewDuties', input: { engineId: 'engine', ttlMs: 30_000, partitions: ['fp:0', 'm:0'] } }),
  trial('', { operation: 'leaveDuties', input: { engineId: 'engine' } }, share),
  trial('without a share', { operation: 'leaveDuties', input: { engineId: 'engine' } }),
  trial('of all leases', { operation: 'revokeWorkerLeases', input: revocation }),
  trial('of leases that were renewed', { operation: 'revokeWorkerLeases', input: { ...revocation, silentMs: 60_000 } }),
  trial('of another', { operation: 'revokeWorkerLeases', input: { ...revocation, workerInstanceId: other } }),
  { ...trial('of lapsed leases', { operation: 'revokeWorkerLeases', input: revocation }), atMs: LEASES_OVER_MS },
]
