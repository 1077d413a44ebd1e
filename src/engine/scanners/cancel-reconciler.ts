import type { Position } from '../../kernel/index.ts'
import { cancelBacklogDepth } from './flow-metrics.ts'
import { scanner } from '../runner/scanner.ts'
import type { Scanner } from '../runner/scanner.ts'

const FROM_THE_START: Position = { score: 0 }

/** Goes on with cancelled flows whose members have not all been cancelled, should the due pass not have; shows how many there are. */
export const cancelReconciler: Scanner<'cancel_reconciler', Position> = scanner({
  name: 'cancel_reconciler',
  everyMs: 15_000,
  backlog: cancelBacklogDepth,
  scan: async (partition, { filter, skip, from, log }) => {
    const page = await partition.run('reconcileFlowCancels', { filter, skip, from })
    for (const id of page.removedStale) {
      log.warn(
        { partition: partition.name, problem: 'removed_stale', id },
        'a flow was noted as owing cancels that it does not owe; the note has been removed',
      )
    }
    return {
      counts: { flow_walked: page.walked.length, removed_stale: page.removedStale.length },
      items: [...page.walked, ...page.removedStale],
      // A flow is walked as far as one step has room: until nothing is left to walk, there is more to do.
      next: page.next ?? (page.walked.length > 0 ? FROM_THE_START : undefined),
      depth: page.depth,
    }
  },
})
