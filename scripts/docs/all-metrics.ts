/** The metrics of the project. A metric that is missing here fails the unit test of this folder. */
import * as flows from '../../src/engine/scanners/flow-metrics.ts'
import * as scanners from '../../src/engine/runner/scanner-metrics.ts'
import type { Metric } from '../../src/runtime/metrics.ts'
import * as consumers from '../../src/server/metrics/consumer-gauges.ts'
import * as http from '../../src/server/metrics/http-metrics.ts'
import * as limits from '../../src/server/metrics/limit-gauges.ts'
import * as gauges from '../../src/server/metrics/store-gauges.ts'
import * as store from '../../src/stores/store-metrics.ts'
import * as worker from '../../src/worker/metrics/worker-metrics.ts'

export interface MetricGroup {
  readonly title: string
  readonly metrics: readonly Metric[]
}

/** Metrics among the exports of a module. */
function metricsIn(module: Readonly<Record<string, unknown>>): Metric[] {
  return Object.values(module).filter(isMetric)
}

function isMetric(value: unknown): value is Metric {
  return typeof value === 'object' && value !== null && 'kind' in value && 'help' in value && 'labels' in value
}

export const metricGroups: readonly MetricGroup[] = [
  { title: 'Lanes, workers and budgets, read from the store', metrics: metricsIn(gauges) },
  { title: 'Limits, read from the store', metrics: metricsIn(limits) },
  { title: 'Consumers and webhooks, read from the store', metrics: metricsIn(consumers) },
  { title: 'Submits and calls to the store', metrics: metricsIn(store) },
  { title: 'Handlers and leases', metrics: metricsIn(worker) },
  { title: 'Scanners of the engine', metrics: [...metricsIn(scanners), ...metricsIn(flows)] },
  { title: 'HTTP API', metrics: metricsIn(http) },
]
