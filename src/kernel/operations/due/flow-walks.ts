import { walkFlow } from '../../lifecycle/flows/flow-walk.ts'
import type { FlowDueCase } from './due-case.ts'

/** Resumes the release of the members of a flow that is no longer held. */
export const flowRelease: FlowDueCase = {
  name: 'flow_release',
  isDue: (flow) => flow.walk?.purpose === 'release',
  run: (tx, flow) => walkFlow(tx, flow),
}

/** Resumes the cancel of the members of a cancelled flow. */
export const flowCancel: FlowDueCase = {
  name: 'flow_cancel',
  isDue: (flow) => flow.walk?.purpose === 'cancel',
  run: (tx, flow) => walkFlow(tx, flow),
}

/** Resumes the replay of members that were skipped because of a replayed one. */
export const flowReplay: FlowDueCase = {
  name: 'flow_replay',
  isDue: (flow) => flow.walk?.purpose === 'replay',
  run: (tx, flow) => walkFlow(tx, flow),
}
