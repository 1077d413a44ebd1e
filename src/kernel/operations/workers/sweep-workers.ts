/** The leases of lost and dead workers: which are still to be revoked, and the record that they were. */
import { WORKER_SWEEP_COUNT } from '../../limits.ts'
import { UNSWEPT_WORKERS_INDEX, timersIndex } from '../../model/indexes.ts'
import type { Instant } from '../../model/records.ts'
import { sweepSince } from '../../rules/worker-state.ts'
import type { Tx } from '../../tx.ts'

/** A worker whose leases are to be revoked in every partition of executions. */
export interface UnsweptWorker {
  readonly workerInstanceId: string
  readonly workerId: string
  /** When the worker was lost or declared dead. */
  readonly since: Instant
  /** The time since its last heartbeat; undefined if it was declared dead: then all its leases are revoked. */
  readonly silentMs: number | undefined
  readonly leaseTtlMs: number
  readonly reason: string
  readonly by: string | undefined
}

export interface ListUnsweptInput {
  /** The worker after which to continue. */
  readonly cursor?: { readonly score: number; readonly id: string } | undefined
}

export interface ListUnsweptResult {
  readonly kind: 'unswept_listed'
  readonly workers: UnsweptWorker[]
  readonly cursor: { readonly score: number; readonly id: string } | undefined
  /** When the next registration lapses, or would; undefined without registrations. */
  readonly nextDueAt: Instant | undefined
  readonly at: Instant
}

export function listUnsweptWorkers(tx: Tx, input: ListUnsweptInput): ListUnsweptResult {
  const found = tx.scan({ index: UNSWEPT_WORKERS_INDEX, from: input.cursor, limit: WORKER_SWEEP_COUNT }, 'worker')
  const workers: UnsweptWorker[] = []
  for (const worker of found) {
    const { id, workerId, state, heartbeatAt, leaseTtlMs } = worker
    if (state.phase !== 'lost' && state.phase !== 'dead') continue
    const isDead = state.phase === 'dead'
    workers.push({
      workerInstanceId: id,
      workerId,
      since: state.at,
      silentMs: isDead ? undefined : tx.now - heartbeatAt,
      leaseTtlMs,
      reason: isDead ? state.reason : 'the worker sends no heartbeats',
      by: isDead ? state.by : undefined,
    })
  }
  const last = found[found.length - 1]
  const since = last === undefined ? undefined : sweepSince(last)
  const isLast = found.length < WORKER_SWEEP_COUNT || last === undefined || since === undefined
  const next = tx.range({ index: timersIndex('worker'), limit: 1 })[0]
  return {
    kind: 'unswept_listed',
    workers,
    cursor: isLast ? undefined : { score: since, id: last.id },
    nextDueAt: next?.score,
    at: tx.now,
  }
}

export interface RecordSweepInput {
  readonly workerInstanceId: string
  /** The loss that was handled. A later one is swept again. */
  readonly since: Instant
}

export interface RecordSweepResult {
  readonly kind: 'sweep_recorded' | 'already_swept'
}

export function recordWorkerSweep(tx: Tx, input: RecordSweepInput): RecordSweepResult {
  const worker = tx.get('worker', input.workerInstanceId)
  if (worker === undefined || sweepSince(worker) !== input.since) return { kind: 'already_swept' }
  tx.put({ ...worker, sweptAt: tx.now })
  return { kind: 'sweep_recorded' }
}
