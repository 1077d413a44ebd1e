/** The metrics of every scanner. */
import type { Counter, Gauge, Histogram } from '../../runtime/metrics.ts'

/** Also counts idle cycles, so that a scanner that hangs shows as missing points. */
export const cyclesTotal: Counter<'scanner'> = {
  kind: 'counter',
  name: 'ff_scanner_cycle_total',
  help: 'Passes over all partitions.',
  labels: ['scanner'],
}

export const cycleDuration: Histogram<'scanner'> = {
  kind: 'histogram',
  name: 'ff_scanner_cycle_duration_seconds',
  help: 'How long a pass over all partitions took.',
  labels: ['scanner'],
  buckets: [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10, 30],
}

export const itemsTotal: Counter<'scanner' | 'case'> = {
  kind: 'counter',
  name: 'ff_scanner_items_total',
  help: 'Items processed, by case.',
  labels: ['scanner', 'case'],
}

export const errorsTotal: Counter<'scanner'> = {
  kind: 'counter',
  name: 'ff_scanner_errors_total',
  help: 'Items and partitions that could not be processed.',
  labels: ['scanner'],
}

export const lagSeconds: Gauge<'scanner'> = {
  kind: 'gauge',
  name: 'ff_scanner_lag_seconds',
  help: 'The largest delay with which an item was processed in the latest cycle.',
  labels: ['scanner'],
}

export const backoffItems: Gauge<'scanner'> = {
  kind: 'gauge',
  name: 'ff_scanner_backoff_items',
  help: 'Items that failed repeatedly and are left alone for a while.',
  labels: ['scanner'],
}

/** A sum over all engines beyond the number of partitions means that engines do not reach the record of their shares. */
export const partitionsHeld: Gauge<never> = {
  kind: 'gauge',
  name: 'ff_engine_partitions_held',
  help: 'Partitions that this engine examines. Other engines examine the others.',
  labels: [],
}

export const restartsTotal: Counter<'scanner'> = {
  kind: 'counter',
  name: 'ff_scanner_restarts_total',
  help: 'Restarts of a crashed scanner.',
  labels: ['scanner'],
}
