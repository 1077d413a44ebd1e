/**
 * Registers a worker process, or refreshes its registration. Idempotent per boot. Liveness is advisory: leases alone decide who
 * may change an execution.
 */
import { enterRegistry } from '../../lifecycle/worker-phases.ts'
import type { Instant, Worker } from '../../model/records.ts'
import { refused } from '../../results.ts'
import type { Refused } from '../../results.ts'
import { hasLapsed, isRegistered } from '../../rules/worker-state.ts'
import type { Tx } from '../../tx.ts'

/** What a worker reports about itself. */
export interface WorkerFacts extends Pick<
  Worker,
  | 'workerId'
  | 'namespace'
  | 'lanes'
  | 'tasks'
  | 'capabilities'
  | 'slots'
  | 'runningCount'
  | 'host'
  | 'pid'
  | 'version'
  | 'ttlMs'
  | 'leaseTtlMs'
> {}

export interface RegisterWorkerInput {
  readonly workerInstanceId: string
  readonly bootId: string
  readonly facts: WorkerFacts
  /** Replaces a live registration of an earlier boot. */
  readonly takeover?: boolean | undefined
}

export type RegisterWorkerResult =
  | { readonly kind: 'registered' | 'refreshed'; readonly expiresAt: Instant; readonly drain: boolean }
  | Refused<'instance_in_use'>

export function registerWorker(tx: Tx, input: RegisterWorkerInput): RegisterWorkerResult {
  const { workerInstanceId, bootId, facts } = input
  const known = tx.get('worker', workerInstanceId)
  const live = known !== undefined && isRegistered(known) && !hasLapsed(known, tx.now) ? known : undefined
  if (live !== undefined && live.bootId !== bootId && input.takeover !== true) {
    return refused('instance_in_use', { workerInstanceId })
  }
  const expiresAt = tx.now + facts.ttlMs
  if (live?.bootId === bootId) {
    tx.put({ ...live, ...facts, heartbeatAt: tx.now })
    return { kind: 'refreshed', expiresAt, drain: live.drain !== undefined }
  }

  // A request to drain applies to the process, also if its registration has lapsed meanwhile.
  const drain = known?.bootId === bootId ? known.drain : undefined
  enterRegistry(tx, {
    type: 'worker',
    id: workerInstanceId,
    bootId,
    ...facts,
    state: { phase: 'running' },
    startedAt: known?.bootId === bootId ? known.startedAt : tx.now,
    registeredAt: tx.now,
    heartbeatAt: tx.now,
    drain,
    sweptAt: undefined,
  })
  return { kind: 'registered', expiresAt, drain: drain !== undefined }
}
