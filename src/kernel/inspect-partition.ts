/** How a partition stands: how much it holds, and what has come due that nobody has seen to yet. Reads only. */
import { CREATED_INDEX, DUE_INDEX, PURGE_INDEX } from './indexes.ts'
import { COUNT_MAX } from './limits.ts'
import type { Instant } from './records.ts'
import type { Tx } from './tx.ts'

export interface InspectInput {
  /** Counting stops here, and a count that reaches it stands at it. */
  readonly limit: number
}

/** What an index holds that is past its time. */
export interface Backlog {
  readonly count: number
  /** When the one that has waited longest came due. */
  readonly oldestAt: Instant | undefined
  /** When the next one comes due. */
  readonly nextAt: Instant | undefined
}

export interface InspectResult {
  readonly kind: 'inspected'
  readonly executions: number
  /** Timers: delays, leases, timeouts, deadlines. */
  readonly due: Backlog
  /** Ended executions whose retention is over. */
  readonly purge: Backlog
  readonly at: Instant
}

export function inspectPartition(tx: Tx, input: InspectInput): InspectResult {
  const limit = Math.min(input.limit, COUNT_MAX)
  return {
    kind: 'inspected',
    executions: tx.countUpTo({ index: CREATED_INDEX, limit }),
    due: backlog(tx, DUE_INDEX, limit),
    purge: backlog(tx, PURGE_INDEX, limit),
    at: tx.now,
  }
}

function backlog(tx: Tx, index: string, limit: number): Backlog {
  const count = tx.countUpTo({ index, to: tx.now, limit })
  return {
    count,
    oldestAt: count === 0 ? undefined : tx.range({ index, limit: 1 })[0]?.score,
    nextAt: tx.range({ index, from: { score: tx.now + 1 }, limit: 1 })[0]?.score,
  }
}
