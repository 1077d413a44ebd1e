import { resolvePendingEdges } from '../../lifecycle/flows/resolve-edges.ts'
import type { DueCase } from './due-case.ts'

/** Resolves the pending edges of an ended member, where the operation that ended it had no room for all of them. */
export const edgeDispatcher: DueCase = {
  name: 'edge_dispatcher',
  isDue: (execution) => execution.state.phase === 'ended' && execution.member?.owesEdges === true,
  run: (tx, execution) => resolvePendingEdges(tx, execution),
}
