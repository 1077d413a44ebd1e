/** Reads what is kept of tasks that keep a number of ended executions. The number is that of all partitions together. */
import { KEEP_EXCESS_COUNT, KEEP_QUEUE_COUNT, PURGE_COUNT_MAX } from '../../limits.ts'
import { QUEUES_INDEX, keptIndex } from '../../model/indexes.ts'
import type { IndexEntry, Position } from '../../model/order.ts'
import type { Range, Tx } from '../../tx.ts'

export interface CountKeptInput {
  readonly from?: Position | undefined
}

export interface KeptTask {
  readonly namespace: string
  readonly task: string
  /** How many are to be kept in all partitions. */
  readonly keep: number
  /** How many ended ones this partition has, up to somewhat more than are to be kept. */
  readonly count: number
}

export interface CountKeptResult {
  readonly kind: 'kept_counted'
  /** A task with several queues is listed once for each. */
  readonly tasks: KeptTask[]
  readonly next: Position | undefined
}

export function countKept(tx: Tx, input: CountKeptInput): CountKeptResult {
  const queues = tx.scan(keptQueuesRange(input), 'queue')
  const tasks: KeptTask[] = []
  for (const { keeps } of queues) {
    if (keeps === undefined) continue
    const { namespace, task, count: keep } = keeps
    tasks.push({ namespace, task, keep, count: countEnded(tx, { namespace, task, keep }) })
  }
  const last = queues[queues.length - 1]
  const next = queues.length < KEEP_QUEUE_COUNT || last === undefined ? undefined : { score: 0, id: last.id }
  return { kind: 'kept_counted', tasks, next }
}

export function keptQueuesRange({ from }: CountKeptInput): Range {
  return { index: QUEUES_INDEX, from, limit: KEEP_QUEUE_COUNT }
}

export interface ListKeptInput {
  readonly namespace: string
  readonly task: string
  /** How many are to be kept in all partitions. */
  readonly keep: number
}

export interface ListKeptResult {
  readonly kind: 'kept_listed'
  /** How many there are now, up to somewhat more than are to be kept. */
  readonly count: number
  /** The oldest ones, with the times of their ends. */
  readonly oldest: IndexEntry[]
}

/** Counts and lists in one step: what is removed in between would otherwise count as excess a second time. */
export function listKept(tx: Tx, input: ListKeptInput): ListKeptResult {
  return { kind: 'kept_listed', count: countEnded(tx, input), oldest: tx.range(oldestKeptRange(input)) }
}

export function oldestKeptRange({ namespace, task }: ListKeptInput): Range {
  return { index: keptIndex(namespace, task), limit: PURGE_COUNT_MAX }
}

function countEnded(tx: Tx, { namespace, task, keep }: ListKeptInput): number {
  return tx.countUpTo({ index: keptIndex(namespace, task), limit: keep + KEEP_EXCESS_COUNT })
}
