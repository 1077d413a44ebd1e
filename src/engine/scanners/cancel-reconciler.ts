import type { Position } from '../../kernel/index.ts'
import { cancelBacklogDepth } from './flow-metrics.ts'
import { scanner } from '../runner/scanner.ts'
import type { Scanner } from '../runner/scanner.ts'

const FROM_THE_START: Position = { score: 0 }

/** Continues cancelled flows with members left to cancel, in case the due pass missed them. Reports the backlog. */
export const cancelReconciler: Scanner<'cancel_reconciler', Position> = scanner({
  name: 'cancel_reconciler',
  isDivided: true,
  everyMs: 15_000,
  backlog: cancelBacklogDepth,
  scan: async (partition, { filter, skip, from, log }) => {
    const page = await partition.run('reconcileFlowCancels', { filter, skip, from })
    for (const id of page.removedStale) {
      log.warn(
        { partition: partition.name, problem: 'removed_stale', id },
        'removed a stale entry: the flow has no pending cancels',
      )
    }
    return {
      counts: { flow_walked: page.walked.length, removed_stale: page.removedStale.length },
      items: [...page.walked, ...page.removedStale],
      // One step walks a flow only as far as its bound, so the scan restarts until no flow is left to walk.
      next: page.next ?? (page.walked.length > 0 ? FROM_THE_START : undefined),
      depth: page.depth,
    }
  },
})
