/** What the background work of flows is measured by, besides what every scanner is. */
import type { Counter, Gauge } from '../runner/metrics.ts'

export const siblingCancelsDispatched: Counter<never> = {
  kind: 'counter',
  name: 'ff_sibling_cancel_dispatched_total',
  help: 'Steps in which a decided group went on cancelling those that had lost. What the decision itself cancelled needs none.',
  labels: [],
}

export const siblingCancelsReconciled: Counter<'action'> = {
  kind: 'counter',
  name: 'ff_sibling_cancel_reconcile_total',
  help: 'Groups that owe cancels, as the reconciler found them, by what it did.',
  labels: ['action'],
}

export const cancelBacklogDepth: Gauge<never> = {
  kind: 'gauge',
  name: 'ff_cancel_backlog_depth',
  help: 'Cancelled flows with members that still have to be cancelled, in all partitions. Stands still while one does not answer.',
  labels: [],
}
