import type { Position, SiblingCancelOutcome } from '../../kernel/index.ts'
import { siblingCancelsReconciled } from './flow-metrics.ts'
import { countCases, scanner } from '../runner/scanner.ts'
import type { CaseCounter, Scanner } from '../runner/scanner.ts'

const counters: Record<SiblingCancelOutcome, CaseCounter> = {
  removed_stale: { counter: siblingCancelsReconciled, labels: { action: 'removed_stale' } },
  completed_drain: { counter: siblingCancelsReconciled, labels: { action: 'completed_drain' } },
  no_op: { counter: siblingCancelsReconciled, labels: { action: 'no_op' } },
  malformed: { counter: siblingCancelsReconciled, labels: { action: 'malformed' } },
}

/**
 * Removes entries of groups with pending sibling cancels once every sibling has ended. As long as one is alive, the group
 * belongs to the due pass, which cancels it.
 */
export const edgeCancelReconciler: Scanner<'edge_cancel_reconciler', Position> = scanner({
  name: 'edge_cancel_reconciler',
  isDivided: true,
  everyMs: 10_000,
  continues: 'next_cycle',
  counters,
  scan: async (partition, { filter, skip, from, log }) => {
    const page = await partition.run('reconcileSiblingCancels', { filter, skip, from })
    for (const { outcome, id } of page.outcomes) {
      if (outcome === 'no_op' || outcome === 'completed_drain') continue
      log.warn(
        { partition: partition.name, problem: outcome, id },
        'removed an invalid entry of pending sibling cancels',
      )
    }
    return {
      counts: countCases(page.outcomes.map(({ outcome }) => outcome)),
      items: page.outcomes.map(({ id }) => id),
      next: page.next,
    }
  },
})
