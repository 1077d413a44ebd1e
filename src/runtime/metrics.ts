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

/** Sets of labels that a metric keeps. What comes after them is measured with `other` as the value of every label. */
export const SERIES_MAX = 1_000
const OTHER = 'other'

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

/** The value with some labels, and those with further ones, by the next label. */
interface Place<Value> {
  value: Value | undefined
  readonly next: Map<string, Place<Value>>
}

interface OfMetric<Value> {
  readonly start: Place<Value>
  /** All values, in the order of their creation. */
  readonly values: Value[]
}

/** The values of one kind of metric, by metric and by their labels. */
class Series<M extends Metric, Value> {
  readonly #byMetric = new Map<M, OfMetric<Value>>()
  readonly #create: (metric: M, labels: Labels) => Value

  constructor(create: (metric: M, labels: Labels) => Value) {
    this.#create = create
  }

  /** Labels are looked up one by one: a text of all of them would be made, and hashed, for each measurement. */
  of(metric: M, labels: Labels): Value {
    const ofMetric = this.#ofMetric(metric)
    let place: Place<Value> | undefined = ofMetric.start
    const names = metric.labels
    for (let i = 0; i < names.length && place !== undefined; i++) place = place.next.get(labelIn(labels, names[i]))
    return place?.value ?? this.#added(metric, ofMetric, labels)
  }

  all(): Value[] {
    return [...this.#byMetric.values()].flatMap(({ values }) => values)
  }

  #ofMetric(metric: M): OfMetric<Value> {
    let ofMetric = this.#byMetric.get(metric)
    if (ofMetric === undefined) {
      ofMetric = { start: newPlace(), values: [] }
      this.#byMetric.set(metric, ofMetric)
    }
    return ofMetric
  }

  #added(metric: M, { start, values }: OfMetric<Value>, given: Labels): Value {
    const isFull = values.length >= SERIES_MAX
    const labels = isFull ? Object.fromEntries(metric.labels.map((label) => [label, OTHER])) : { ...given }
    let place = start
    for (const name of metric.labels) {
      const label = labelIn(labels, name)
      const next: Place<Value> = place.next.get(label) ?? newPlace()
      place.next.set(label, next)
      place = next
    }
    if (place.value === undefined) {
      place.value = this.#create(metric, labels)
      values.push(place.value)
    }
    return place.value
  }
}

function newPlace<Value>(): Place<Value> {
  return { value: undefined, next: new Map() }
}

function labelIn(labels: Labels, name: string | undefined): string {
  return (name === undefined ? undefined : labels[name]) ?? ''
}

export function metricsRegistry(): MetricsRegistry {
  const sums = new Series<Counter | Gauge, Sum>((metric, labels) => ({ metric, labels, value: 0 }))
  const distributions = new Series<Histogram, Distribution>((metric, labels) => {
    return { metric, labels, counts: metric.buckets.map(() => 0), count: 0, sum: 0 }
  })

  return {
    add(counter, labels, by = 1) {
      sums.of(counter, labels).value += by
    },
    set(gauge, labels, value) {
      sums.of(gauge, labels).value = value
    },
    observe(histogram, labels, value) {
      const distribution = distributions.of(histogram, labels)
      distribution.count += 1
      distribution.sum += value
      // A bucket counts what is at most its bound: all from the first that fits on.
      const { counts } = distribution
      for (let i = counts.length - 1; i >= 0 && value <= (histogram.buckets[i] ?? 0); i--)
        counts[i] = (counts[i] ?? 0) + 1
    },
    snapshot: () => [
      ...sums.all().map(({ metric, labels, value }) => ({ metric, labels, value })),
      ...distributions.all().map(({ metric, labels, counts, count, sum }) => ({
        metric,
        labels,
        count,
        sum,
        buckets: metric.buckets.map((upTo, i) => ({ upTo, count: counts[i] ?? 0 })),
      })),
    ],
  }
}
