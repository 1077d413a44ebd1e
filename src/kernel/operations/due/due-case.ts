/** A timed case says what to do with one execution whose time has come. The due pass calls the first that is due. */
import type { Execution, Flow, Instant } from '../../model/records.ts'
import type { Tx } from '../../tx.ts'

export interface DueCase {
  readonly name: DueCaseName
  readonly isDue: (execution: Execution, now: Instant) => boolean
  /** `seed` feeds the jitter of a retry, should one follow. */
  readonly run: (tx: Tx, execution: Execution, seed: number) => void
}

/** What a flow has to do by itself, or what becomes of it when nobody goes on with it. */
export interface FlowDueCase {
  readonly name: DueCaseName
  readonly isDue: (flow: Flow, now: Instant) => boolean
  readonly run: (tx: Tx, flow: Flow) => void
}

export type DueCaseName =
  | 'execution_deadline'
  | 'cancel_grace'
  | 'lease_expiry'
  | 'attempt_timeout'
  | 'delayed_promoter'
  | 'suspension_timeout'
  | 'wait_reminder'
  | 'pending_waitpoint_expiry'
  | 'journal_sweeper'
  | 'edge_dispatcher'
  | 'edge_cancel_dispatcher'
  | 'flow_release'
  | 'flow_cancel'
  | 'flow_replay'
  | 'submission_abandoned'
