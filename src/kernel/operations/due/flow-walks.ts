import { walkFlow } from '../../lifecycle/flows/flow-walk.ts'
import type { FlowDueCase } from './due-case.ts'

/** Goes on letting the members of a flow run that is held no more. */
export const flowRelease: FlowDueCase = {
  name: 'flow_release',
  isDue: (flow) => flow.walk?.purpose === 'release',
  run: (tx, flow) => walkFlow(tx, flow),
}

/** Goes on cancelling the members of a cancelled flow. */
export const flowCancel: FlowDueCase = {
  name: 'flow_cancel',
  isDue: (flow) => flow.walk?.purpose === 'cancel',
  run: (tx, flow) => walkFlow(tx, flow),
}

/** Goes on replaying what was skipped behind a member that is replayed. */
export const flowReplay: FlowDueCase = {
  name: 'flow_replay',
  isDue: (flow) => flow.walk?.purpose === 'replay',
  run: (tx, flow) => walkFlow(tx, flow),
}
