/** A timed case handles one execution that is due. The due pass runs the first case that is due. */
import type { NamedType } from '../../model/named-types.ts'
import type { Execution, Flow, Instant, RecordTypes } from '../../model/records.ts'
import type { Tx } from '../../tx.ts'

export interface DueCase {
  readonly name: DueCaseName
  readonly isDue: (execution: Execution, now: Instant) => boolean
  /** `seed` feeds the jitter of a retry. */
  readonly run: (tx: Tx, execution: Execution, seed: number) => void
}

/** A timed case of a flow: pending work on its members, or the end of an abandoned submission. */
export interface FlowDueCase {
  readonly name: DueCaseName
  readonly isDue: (flow: Flow, now: Instant) => boolean
  readonly run: (tx: Tx, flow: Flow) => void
}

/** A timed case of a record whose id is a name. It must move or remove the timer of the record. */
export interface NamedDueCase<T extends NamedType = NamedType> {
  readonly name: DueCaseName
  /** When the record is due; undefined without a timer. */
  readonly dueAt: (record: RecordTypes[T]) => Instant | undefined
  readonly run: (tx: Tx, record: RecordTypes[T]) => void
  /** What to report of a record that was run, if it may be due again at once. */
  readonly outcomeOf?: (record: RecordTypes[T], now: Instant) => NamedDueOutcome
}

/** What a case reports besides that it was run. */
export interface NamedDueOutcome {
  /** The name to report, if it is not that of the case. */
  readonly name: DueCaseName
  /** Whether the record is due again at once. */
  readonly isStillDue: boolean
}

export type DueCaseName =
  | 'execution_deadline'
  | 'compensation_timeout'
  | 'cancel_grace'
  | 'lease_expiry'
  | 'attempt_timeout'
  | 'delayed_promoter'
  | 'suspension_timeout'
  | 'wait_reminder'
  | 'pending_waitpoint_expiry'
  | 'journal_sweeper'
  | 'child_canceller'
  | 'edge_dispatcher'
  | 'edge_cancel_dispatcher'
  | 'flow_release'
  | 'flow_cancel'
  | 'flow_replay'
  | 'submission_abandoned'
  | 'worker_expiry'
  | 'flow_follow_up'
  | 'share_expiry'
  | 'permit_expiry'
  | 'gauge_idle'
  | 'unblock'
  | 'schedule_firing'
  | 'schedule_planning'
  | 'budget_reset'
  | 'budget_planning'
  | 'budget_waking'
  | 'wake_delivery'
  | 'reservation_expiry'
  | 'charge_expiry'
  | 'shaping_expiry'
  | 'audit_expiry'
