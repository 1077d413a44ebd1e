/** Pure decisions about worker registrations. */
import { WORKER_FORGET_MS } from '../limits.ts'
import type { Instant, Worker } from '../model/records.ts'

/** Whether the registration is live: the worker sends heartbeats, and was not declared dead. */
export function isRegistered({ state }: Worker): boolean {
  return state.phase === 'running' || state.phase === 'draining'
}

/** Whether a live registration has lapsed, because its heartbeats have stopped. The due pass makes it `lost`. */
export function hasLapsed(worker: Worker, now: Instant): boolean {
  return isRegistered(worker) && worker.heartbeatAt + worker.ttlMs <= now
}

/** Whether a worker serves a namespace; undefined asks for none in particular. */
export function servesNamespace(worker: Pick<Worker, 'namespace'>, namespace: string | undefined): boolean {
  return namespace === undefined || worker.namespace === '' || worker.namespace === namespace
}

/** When time alone changes a registration: it lapses, or it is forgotten. */
export function workerDueAt(worker: Worker): Instant {
  const { state, heartbeatAt, ttlMs, leaseTtlMs } = worker
  if (state.phase === 'running' || state.phase === 'draining') return heartbeatAt + ttlMs
  // Until the leases of the worker have expired, their revocation may still be pending.
  return state.at + Math.max(WORKER_FORGET_MS, leaseTtlMs)
}

/** Since when the leases of a lost or dead worker wait to be revoked; undefined if there is nothing to revoke. */
export function sweepSince({ state, sweptAt }: Worker): Instant | undefined {
  if (state.phase === 'running' || state.phase === 'draining') return undefined
  return sweptAt === undefined ? state.at : undefined
}
