/**
 * Metrics, independent of the library that exports them. Code names a metric and adds to it; a registry keeps the sums.
 * Another implementation of `Metrics` can forward them to any monitoring library without a change of the measured code.
 */

/** A metric. Label values come from small, fixed sets: a case or a name, never an id. */
export type Metric<Label extends string = string> = Counter<Label> | Gauge<Label> | Histogram<Label>

interface Described<Label extends string> {
  readonly name: string
  readonly help: string
  readonly labels: readonly Label[]
}

export interface Counter<Label extends string = string> extends Described<Label> {
  readonly kind: 'counter'
}

export interface Gauge<Label extends string = string> extends Described<Label> {
  readonly kind: 'gauge'
}

export interface Histogram<Label extends string = string> extends Described<Label> {
  readonly kind: 'histogram'
  /** Upper bounds, ascending. A value above the last bound is only counted and summed. */
  readonly buckets: readonly number[]
}

export type Labels<Label extends string = string> = Readonly<Record<Label, string>>

/** Receives measurements. Its methods never throw, so that measuring cannot break the measured code. */
export interface Metrics {
  add<Label extends string>(counter: Counter<Label>, labels: Labels<Label>, by?: number): void
  set<Label extends string>(gauge: Gauge<Label>, labels: Labels<Label>, value: number): void
  observe<Label extends string>(histogram: Histogram<Label>, labels: Labels<Label>, value: number): void
}

/** A metric with one set of labels, as of the time of the snapshot. */
export type MetricSample =
  | { readonly metric: Counter | Gauge; readonly labels: Labels; readonly value: number }
  | {
      readonly metric: Histogram
      readonly labels: Labels
      readonly count: number
      readonly sum: number
      /** The number of observations at or below each bucket's bound. */
      readonly buckets: readonly { readonly upTo: number; readonly count: number }[]
    }

/** Metrics kept in memory. */
export interface MetricsRegistry extends Metrics {
  snapshot(): MetricSample[]
}

interface Sum {
  readonly metric: Counter | Gauge
  readonly labels: Labels
  value: number
}

interface Distribution {
  readonly metric: Histogram
  readonly labels: Labels
  readonly counts: number[]
  count: number
  sum: number
}

export function metricsRegistry(): MetricsRegistry {
  const sums = new Map<string, Sum>()
  const distributions = new Map<string, Distribution>()

  const sumOf = (metric: Counter | Gauge, labels: Labels): Sum => {
    const key = seriesKey(metric, labels)
    let sum = sums.get(key)
    if (sum === undefined) {
      sum = { metric, labels: { ...labels }, value: 0 }
      sums.set(key, sum)
    }
    return sum
  }
  const distributionOf = (metric: Histogram, labels: Labels): Distribution => {
    const key = seriesKey(metric, labels)
    let distribution = distributions.get(key)
    if (distribution === undefined) {
      distribution = { metric, labels: { ...labels }, counts: metric.buckets.map(() => 0), count: 0, sum: 0 }
      distributions.set(key, distribution)
    }
    return distribution
  }

  return {
    add(counter, labels, by = 1) {
      sumOf(counter, labels).value += by
    },
    set(gauge, labels, value) {
      sumOf(gauge, labels).value = value
    },
    observe(histogram, labels, value) {
      const distribution = distributionOf(histogram, labels)
      distribution.count += 1
      distribution.sum += value
      histogram.buckets.forEach((upTo, i) => {
        if (value <= upTo) distribution.counts[i] = (distribution.counts[i] ?? 0) + 1
      })
    },
    snapshot: () => [
      ...[...sums.values()].map(({ metric, labels, value }) => ({ metric, labels, value })),
      ...[...distributions.values()].map(({ metric, labels, counts, count, sum }) => ({
        metric,
        labels,
        count,
        sum,
        buckets: metric.buckets.map((upTo, i) => ({ upTo, count: counts[i] ?? 0 })),
      })),
    ],
  }
}

function seriesKey(metric: Metric, labels: Labels): string {
  return JSON.stringify([metric.name, ...metric.labels.map((label) => labels[label])])
}
