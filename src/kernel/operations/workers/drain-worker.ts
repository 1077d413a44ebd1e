/** Asks a worker to finish its current work and to stop. The answer to its next heartbeat carries the request. */
import { requestDrain } from '../../lifecycle/worker-phases.ts'
import { refused } from '../../results.ts'
import type { Refused } from '../../results.ts'
import { hasLapsed, isRegistered } from '../../rules/worker-state.ts'
import type { Tx } from '../../tx.ts'

export interface DrainWorkerInput {
  readonly workerInstanceId: string
  readonly reason?: string | undefined
  readonly by?: string | undefined
}

export type DrainWorkerResult =
  { readonly kind: 'drain_requested' | 'already_requested' } | Refused<'worker_not_found' | 'worker_not_live'>

export function drainWorker(tx: Tx, input: DrainWorkerInput): DrainWorkerResult {
  const { workerInstanceId } = input
  const worker = tx.get('worker', workerInstanceId)
  if (worker === undefined) return refused('worker_not_found', { workerInstanceId })
  if (!isRegistered(worker) || hasLapsed(worker, tx.now)) return refused('worker_not_live', { workerInstanceId })
  if (worker.drain !== undefined) return { kind: 'already_requested' }

  requestDrain(tx, worker, { at: tx.now, by: input.by, reason: input.reason })
  return { kind: 'drain_requested' }
}
