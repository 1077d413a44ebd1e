/**
 * Extends the registration of a worker and reports what it does. Never revives a registration that has lapsed, was declared dead
 * or belongs to another boot: then the worker has to register again.
 */
import { beginDraining } from '../../lifecycle/worker-phases.ts'
import type { Instant } from '../../model/records.ts'
import { hasLapsed, isRegistered } from '../../rules/worker-state.ts'
import type { Tx } from '../../tx.ts'

export interface HeartbeatInput {
  readonly workerInstanceId: string
  readonly bootId: string
  /** That of the last report unless given. */
  readonly runningCount?: number | undefined
  readonly isDraining: boolean
}

export type HeartbeatResult =
  /** `drain` is true once an operator has asked the worker to drain. */
  | { readonly kind: 'refreshed'; readonly expiresAt: Instant; readonly drain: boolean }
  | { readonly kind: 'not_registered' }

export function heartbeatWorker(tx: Tx, input: HeartbeatInput): HeartbeatResult {
  const worker = tx.get('worker', input.workerInstanceId)
  if (worker?.bootId !== input.bootId || !isRegistered(worker) || hasLapsed(worker, tx.now)) {
    return { kind: 'not_registered' }
  }
  const { runningCount = worker.runningCount } = input
  const refreshed = { ...worker, runningCount, heartbeatAt: tx.now }
  if (input.isDraining && worker.state.phase === 'running') beginDraining(tx, refreshed)
  else tx.put(refreshed)
  return { kind: 'refreshed', expiresAt: tx.now + worker.ttlMs, drain: worker.drain !== undefined }
}
