/** The only writer of the state of a worker registration. Every transition has an event; a heartbeat has none. */
import { workerSubject } from '../model/events.ts'
import type { EventDetail, EventType } from '../model/events.ts'
import type { Worker } from '../model/records.ts'
import type { Tx } from '../tx.ts'

export function enterRegistry(tx: Tx, worker: Worker): void {
  tx.put(worker)
  emitOf(tx, 'worker_registered', worker, {})
}

export function leaveRegistry(tx: Tx, worker: Worker): void {
  tx.remove('worker', worker.id)
  emitOf(tx, 'worker_unregistered', worker, {})
}

/** The event of a requested drain was written with the request. */
export function beginDraining(tx: Tx, worker: Worker): void {
  tx.put({ ...worker, state: { phase: 'draining', since: tx.now } })
  if (worker.drain === undefined) emitOf(tx, 'worker_draining', worker, {})
}

export function requestDrain(tx: Tx, worker: Worker, drain: NonNullable<Worker['drain']>): void {
  tx.put({ ...worker, drain })
  emitOf(tx, 'worker_draining', worker, { by: drain.by, reason: drain.reason })
}

/** A worker without heartbeats counts as gone. Its leases are revoked by the worker sweep. */
export function loseWorker(tx: Tx, worker: Worker): void {
  const silentMs = tx.now - worker.heartbeatAt
  tx.put({ ...worker, state: { phase: 'lost', at: tx.now, silentMs }, runningCount: 0 })
  emitOf(tx, 'worker_lost', worker, {})
}

/** Leases of a lost worker may be left, so they are revoked once more. */
export function declareDead(
  tx: Tx,
  worker: Worker,
  { by, reason }: { readonly by?: string | undefined; readonly reason: string },
): void {
  tx.put({ ...worker, state: { phase: 'dead', at: tx.now, by, reason }, runningCount: 0, sweptAt: undefined })
  emitOf(tx, 'worker_dead', worker, { by, reason })
}

function emitOf(tx: Tx, type: EventType, worker: Worker, detail: EventDetail): void {
  const { workerId, id: workerInstanceId } = worker
  tx.emit(type, workerSubject(worker), { workerId, workerInstanceId, ...detail })
}
