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
 * Looks after groups that owe cancels to those that lost. It finishes paperwork only: as long as one of those lives, the
 * group belongs to the due pass, which cancels it.
 */
export const edgeCancelReconciler: Scanner<'edge_cancel_reconciler', Position> = scanner({
  name: 'edge_cancel_reconciler',
  everyMs: 10_000,
  goesOn: 'next_cycle',
  counters,
  scan: async (partition, { filter, skip, from, log }) => {
    const page = await partition.run('reconcileSiblingCancels', { filter, skip, from })
    for (const { outcome, id } of page.outcomes) {
      if (outcome === 'no_op' || outcome === 'completed_drain') continue
      log.warn(
        { partition: partition.name, problem: outcome, id },
        'cancels were noted as owed that nobody owes; the note has been removed',
      )
    }
    return {
      counts: countCases(page.outcomes.map(({ outcome }) => outcome)),
      items: page.outcomes.map(({ id }) => id),
      next: page.next,
    }
  },
})
