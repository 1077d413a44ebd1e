import { cancelPendingLosers } from '../../lifecycle/flows/resolve-edges.ts'
import type { DueCase } from './due-case.ts'

/** Cancels the losers of a decided group, where the operation that decided it had no room for all of them. */
export const edgeCancelDispatcher: DueCase = {
  name: 'edge_cancel_dispatcher',
  isDue: (execution) => execution.member?.group?.owedFrom !== undefined,
  run: (tx, execution) => cancelPendingLosers(tx, execution),
}
