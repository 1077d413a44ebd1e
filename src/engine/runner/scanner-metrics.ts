/** What every scanner is measured by. */
import type { Counter, Gauge, Histogram } from './metrics.ts'

/** Counted whether or not there was anything to do, so that a scanner that hangs shows as missing points. */
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
  help: 'Items seen to, by what was done.',
  labels: ['scanner', 'case'],
}

export const errorsTotal: Counter<'scanner'> = {
  kind: 'counter',
  name: 'ff_scanner_errors_total',
  help: 'Items and partitions that could not be seen to.',
  labels: ['scanner'],
}

export const lagSeconds: Gauge<'scanner'> = {
  kind: 'gauge',
  name: 'ff_scanner_lag_seconds',
  help: 'How late, at worst, work was seen to in the latest cycle.',
  labels: ['scanner'],
}

export const backoffItems: Gauge<'scanner'> = {
  kind: 'gauge',
  name: 'ff_scanner_backoff_items',
  help: 'Items that failed repeatedly and are left alone for a while.',
  labels: ['scanner'],
}

export const restartsTotal: Counter<'scanner'> = {
  kind: 'counter',
  name: 'ff_scanner_restarts_total',
  help: 'Times that a scanner crashed and was started again.',
  labels: ['scanner'],
}
