/** Lists worker registrations by their instance ids. A lapsed one is listed as lost, also before the due pass has marked it. */
import { LIST_PAGE_MAX, LIST_SCAN_COUNT } from '../../limits.ts'
import { WORKERS_INDEX } from '../../model/indexes.ts'
import type { Instant, Worker } from '../../model/records.ts'
import { hasLapsed, servesNamespace } from '../../rules/worker-state.ts'
import type { Range, Tx } from '../../tx.ts'

export interface ListWorkersInput {
  /** Only workers that serve this namespace. Left out: all. */
  readonly namespace?: string | undefined
  readonly limit: number
  /** Only this instance. */
  readonly workerInstanceId?: string | undefined
  /** The instance after which to continue. */
  readonly cursor?: string | undefined
}

export interface ListWorkersResult {
  readonly kind: 'workers_listed'
  readonly workers: Worker[]
  /** Where to continue; undefined on the last page. A page may have fewer workers than the limit. */
  readonly cursor: string | undefined
  readonly at: Instant
}

export function listWorkersRange({ cursor }: ListWorkersInput): Range {
  return {
    index: WORKERS_INDEX,
    from: cursor === undefined ? undefined : { score: 0, id: cursor },
    limit: LIST_SCAN_COUNT,
  }
}

export function listWorkers(tx: Tx, input: ListWorkersInput): ListWorkersResult {
  const { workerInstanceId } = input
  if (workerInstanceId !== undefined) {
    const worker = tx.get('worker', workerInstanceId)
    const isListed = worker !== undefined && servesNamespace(worker, input.namespace)
    return { kind: 'workers_listed', workers: isListed ? [asSeen(worker, tx.now)] : [], cursor: undefined, at: tx.now }
  }
  const limit = Math.min(input.limit, LIST_PAGE_MAX)
  const found = tx.scan(listWorkersRange(input), 'worker')
  const workers: Worker[] = []
  let last: string | undefined = undefined
  for (const worker of found) {
    if (workers.length === limit) return { kind: 'workers_listed', workers, cursor: last, at: tx.now }
    last = worker.id
    if (servesNamespace(worker, input.namespace)) workers.push(asSeen(worker, tx.now))
  }
  return { kind: 'workers_listed', workers, cursor: found.length < LIST_SCAN_COUNT ? undefined : last, at: tx.now }
}

function asSeen(worker: Worker, now: Instant): Worker {
  if (!hasLapsed(worker, now)) return worker
  const { heartbeatAt, ttlMs } = worker
  return { ...worker, state: { phase: 'lost', at: heartbeatAt + ttlMs, silentMs: now - heartbeatAt }, runningCount: 0 }
}
