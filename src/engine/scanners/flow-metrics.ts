/** The metrics of the background work of flows, besides those of every scanner. */
import type { Counter, Gauge } from '../../runtime/metrics.ts'

export const siblingCancelsDispatched: Counter<never> = {
  kind: 'counter',
  name: 'ff_sibling_cancel_dispatched_total',
  help: 'Steps that continued to cancel the siblings of a decided group. Cancels in the deciding operation itself are not counted.',
  labels: [],
}

export const siblingCancelsReconciled: Counter<'action'> = {
  kind: 'counter',
  name: 'ff_sibling_cancel_reconcile_total',
  help: 'Groups with pending sibling cancels that the reconciler examined, by action.',
  labels: ['action'],
}

export const cancelBacklogDepth: Gauge<never> = {
  kind: 'gauge',
  name: 'ff_cancel_backlog_depth',
  help: 'Cancelled flows with members left to cancel, in the partitions that this engine examines. Not updated while one of them does not answer.',
  labels: [],
}
