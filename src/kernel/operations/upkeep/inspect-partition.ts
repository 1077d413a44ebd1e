/** Reports the size of a partition and its overdue work. Reads only. */
import {
  CANCEL_BACKLOG_INDEX,
  CREATED_INDEX,
  DUE_INDEX,
  FLOWS_INDEX,
  OPEN_WAITPOINTS_INDEX,
  PURGE_INDEX,
  SIBLING_CANCELS_INDEX,
} from '../../model/indexes.ts'
import { COUNT_MAX } from '../../limits.ts'
import type { Instant } from '../../model/records.ts'
import type { Tx } from '../../tx.ts'

export interface InspectInput {
  /** Counting stops at this number. */
  readonly limit: number
}

/** The overdue entries of an index. */
export interface Backlog {
  readonly count: number
  /** When the oldest of them came due. */
  readonly oldestAt: Instant | undefined
  /** When the next one comes due. */
  readonly nextAt: Instant | undefined
}

export interface InspectResult {
  readonly kind: 'inspected'
  readonly executions: number
  readonly flows: number
  /** Open waitpoints, without mailboxes. */
  readonly openWaitpoints: number
  /** Timers: delays, leases, timeouts, deadlines, waits; and pending work of flows and replays. */
  readonly due: Backlog
  /** Ended executions and flows whose retention is over. */
  readonly purge: Backlog
  /** Members whose decided group has pending cancels of losers. */
  readonly siblingCancels: Backlog
  /** Cancelled flows whose members are not all cancelled yet. */
  readonly flowCancels: Backlog
  readonly at: Instant
}

export function inspectPartition(tx: Tx, input: InspectInput): InspectResult {
  const limit = Math.min(input.limit, COUNT_MAX)
  return {
    kind: 'inspected',
    executions: tx.countUpTo({ index: CREATED_INDEX, limit }),
    flows: tx.countUpTo({ index: FLOWS_INDEX, limit }),
    openWaitpoints: tx.countUpTo({ index: OPEN_WAITPOINTS_INDEX, limit }),
    due: backlog(tx, DUE_INDEX, limit),
    purge: backlog(tx, PURGE_INDEX, limit),
    siblingCancels: backlog(tx, SIBLING_CANCELS_INDEX, limit),
    flowCancels: backlog(tx, CANCEL_BACKLOG_INDEX, limit),
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
