import { beginCancel } from '../../lifecycle/flows/begin-cancel.ts'
import { BY_FLOW } from '../../rules/flow-state.ts'
import type { FlowDueCase } from './due-case.ts'

const SUBMISSION_ABANDONED = 'submission_abandoned'

/** Cancels a flow whose submission in several calls was abandoned. */
export const submissionAbandoned: FlowDueCase = {
  name: 'submission_abandoned',
  isDue: (flow, now) => flow.state.phase === 'held' && flow.state.until !== undefined && flow.state.until <= now,
  run: (tx, flow) =>
    beginCancel(tx, flow, { policy: 'cancel_all', reason: SUBMISSION_ABANDONED, by: BY_FLOW, force: true, graceMs: 0 }),
}
