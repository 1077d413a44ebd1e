/** A timed case handles one execution that is due. The due pass runs the first case that is due. */
import type { Execution, Flow, Instant } from '../../model/records.ts'
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
