/** Makes a finished flow give way to its follow-up. */
import { FLOW_ITEM_WORK } from '../../limits.ts'
import { flowInputKey } from '../../model/blob-keys.ts'
import { flowSubject } from '../../model/events.ts'
import type { Execution, Flow } from '../../model/records.ts'
import type { Tx } from '../../tx.ts'
import { putFlow } from '../flow-counts.ts'
import { continueGraph, flowAfter } from '../flows/flow-follow-up.ts'
import { removeMembers } from './remove-flow.ts'

/**
 * Removes the members of a finished flow, as far as there is room, and then begins its follow-up. The due pass calls it until
 * the graph is created.
 */
export function beginFlowFollowUp(tx: Tx, flow: Flow): void {
  const followUp = flow.followUp
  if (followUp === undefined) return tx.fault('a flow gives way without a follow-up', flow.id)
  const removed: Execution[] = []
  if (!removeMembers(tx, flow, removed) || tx.room() < FLOW_ITEM_WORK) return
  if (flow.input !== undefined) tx.forget(flowInputKey(flow))
  const next = flowAfter(tx.now, flow, followUp)
  putFlow(tx, next)
  tx.emit('follow_up_started', flowSubject(next), {})
  continueGraph(tx, next)
}
