/** Writes docs/metrics-reference.md: every metric with its type and its labels. */
import { metricGroups } from './all-metrics.ts'
import type { MetricGroup } from './all-metrics.ts'
import { GENERATED, code, codes, table } from './markdown.ts'

function section({ title, metrics }: MetricGroup): string {
  const rows = metrics.map(({ name, kind, labels, help }) => [code(name), kind, codes(labels), help])
  return `## ${title}\n\n${table(['Metric', 'Type', 'Labels', 'Meaning'], rows)}`
}

export function metricsPage(): string {
  return `${GENERATED}

# Metrics

${code('GET /metrics')} returns these in the text format of Prometheus. [Monitoring](monitoring.md) describes how to use them. Counters and
histograms belong to one process and start at zero with it. Durations are seconds. A histogram has the suffixes ${code('_bucket')}, ${code('_sum')}
and ${code('_count')}.

${metricGroups.map(section).join('\n\n')}
`
}
