/** Writes metrics in the text format of Prometheus, version 0.0.4. */
import type { Labels, Metric, MetricSample } from '../../runtime/index.ts'

export const METRICS_TYPE = 'text/plain; version=0.0.4; charset=utf-8'

/** The samples of a metric follow each other, as the format demands. */
export function metricsText(samples: readonly MetricSample[]): string {
  const byMetric = new Map<Metric, MetricSample[]>()
  for (const sample of samples) {
    const found = byMetric.get(sample.metric)
    if (found === undefined) byMetric.set(sample.metric, [sample])
    else found.push(sample)
  }
  const lines: string[] = []
  for (const [metric, own] of byMetric) {
    lines.push(`# HELP ${metric.name} ${escapeHelp(metric.help)}`, `# TYPE ${metric.name} ${metric.kind}`)
    for (const sample of own) lines.push(...linesOf(sample))
  }
  return lines.length === 0 ? '' : `${lines.join('\n')}\n`
}

function linesOf(sample: MetricSample): string[] {
  const { name } = sample.metric
  const { labels } = sample
  if ('value' in sample) return [`${name}${labelText(labels)} ${sample.value}`]
  const buckets = sample.buckets.map(({ upTo, count }) => `${name}_bucket${labelText(labels, String(upTo))} ${count}`)
  return [
    ...buckets,
    `${name}_bucket${labelText(labels, '+Inf')} ${sample.count}`,
    `${name}_sum${labelText(labels)} ${sample.sum}`,
    `${name}_count${labelText(labels)} ${sample.count}`,
  ]
}

/** `le` is the bound of a bucket. */
function labelText(labels: Labels, le?: string): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escapeLabel(value)}"`)
  if (le !== undefined) pairs.push(`le="${le}"`)
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`
}

function escapeHelp(text: string): string {
  return text.replaceAll('\\', String.raw`\\`).replaceAll('\n', String.raw`\n`)
}

function escapeLabel(text: string): string {
  return escapeHelp(text).replaceAll('"', String.raw`\"`)
}
