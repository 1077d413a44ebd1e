/** Removes the registration of a worker that has closed. A no-op for another boot, and for a lost or dead worker. */
import { leaveRegistry } from '../../lifecycle/worker-phases.ts'
import { isRegistered } from '../../rules/worker-state.ts'
import type { Tx } from '../../tx.ts'

export interface UnregisterWorkerInput {
  readonly workerInstanceId: string
  readonly bootId: string
}

export interface UnregisterWorkerResult {
  readonly kind: 'unregistered' | 'not_registered'
}

export function unregisterWorker(tx: Tx, input: UnregisterWorkerInput): UnregisterWorkerResult {
  const worker = tx.get('worker', input.workerInstanceId)
  if (worker?.bootId !== input.bootId || !isRegistered(worker)) return { kind: 'not_registered' }
  leaveRegistry(tx, worker)
  return { kind: 'unregistered' }
}
