/** Counts the executions that were created in a range of time, and measures how long they waited and ran. */
import { required, shape, wholeNumber } from '../../options/shape.ts'
import type { ExecutionSummary } from '../executions/description.ts'
import type { ExecutionPage, ListOptions } from './listing.ts'

export interface ActivityOptions {
  readonly from: number
  readonly to: number
  /** The parts of equal length that the range is divided into; 60 unless given. */
  readonly buckets?: number
  /** At most so many executions are examined, the newest first; 2,000 unless given. */
  readonly examine?: number
}

export interface ActivityBucket {
  readonly from: number
  /** Executions that were created in it. The others ended in it. */
  readonly created: number
  readonly completed: number
  readonly failed: number
  /** Ended in another way, such as cancelled or expired. */
  readonly other: number
}

/** In milliseconds, of the executions that were examined. Absent without one. */
export interface Latencies {
  readonly p50: number
  readonly p95: number
  readonly p99: number
}

export interface Activity {
  readonly from: number
  readonly to: number
  readonly buckets: readonly ActivityBucket[]
  /** From the creation, or from the time that it was delayed until, to the start of the first attempt. */
  readonly start: Latencies | undefined
  /** From the start of the first attempt to the end. */
  readonly run: Latencies | undefined
  readonly examined: number
  /** All executions that were created since then are counted. Later than `from` if there were too many to examine. */
  readonly completeSince: number
}

export const ACTIVITY_EXAMINE_MAX = 20_000
export const ACTIVITY_BUCKETS_MAX = 200
const EXAMINE_DEFAULT = 2_000
const BUCKETS_DEFAULT = 60
const PAGE_COUNT = 200
const PAGES_MAX = 500

const activityOptions = shape<ActivityOptions>()('{ from, to }', {
  from: required(wholeNumber(0, Number.MAX_SAFE_INTEGER)),
  to: required(wholeNumber(0, Number.MAX_SAFE_INTEGER)),
  buckets: wholeNumber(1, ACTIVITY_BUCKETS_MAX),
  examine: wholeNumber(1, ACTIVITY_EXAMINE_MAX),
})

export async function activityOf(
  list: (options: ListOptions) => Promise<ExecutionPage>,
  options: ActivityOptions,
): Promise<Activity> {
  const { from, to, buckets = BUCKETS_DEFAULT, examine = EXAMINE_DEFAULT } = activityOptions(options)
  const counts = new Counts(from, to, buckets)
  let examined = 0
  let cursor: string | undefined
  let oldest = to
  for (let page = 0; page < PAGES_MAX; page++) {
    const limit = Math.min(PAGE_COUNT, examine - examined)
    const found = await list({ createdFrom: from, createdTo: to, limit, cursor })
    for (const execution of found.items) counts.add(execution)
    examined += found.items.length
    oldest = found.items.at(-1)?.createdAt ?? oldest
    cursor = found.cursor
    if (cursor === undefined || examined >= examine) break
  }
  return { from, to, ...counts.result(), examined, completeSince: cursor === undefined ? from : oldest }
}

class Counts {
  readonly #from: number
  readonly #lengthMs: number
  readonly #buckets: { -readonly [K in keyof ActivityBucket]: number }[]
  readonly #starts: number[] = []
  readonly #runs: number[] = []

  constructor(from: number, to: number, count: number) {
    this.#from = from
    this.#lengthMs = Math.max(1, (to - from) / count)
    this.#buckets = Array.from({ length: count }, (_, i) => {
      return { from: Math.round(from + i * this.#lengthMs), created: 0, completed: 0, failed: 0, other: 0 }
    })
  }

  add({ createdAt, delayedUntil, startedAt, endedAt, outcome }: ExecutionSummary): void {
    const created = this.#bucketAt(createdAt)
    if (created !== undefined) created.created += 1
    if (startedAt !== undefined) this.#starts.push(Math.max(0, startedAt - Math.max(createdAt, delayedUntil ?? 0)))
    if (endedAt === undefined) return
    if (startedAt !== undefined) this.#runs.push(endedAt - startedAt)
    const ended = this.#bucketAt(endedAt)
    if (ended !== undefined) ended[outcome === 'completed' || outcome === 'failed' ? outcome : 'other'] += 1
  }

  result(): Pick<Activity, 'buckets' | 'start' | 'run'> {
    return { buckets: this.#buckets, start: latenciesOf(this.#starts), run: latenciesOf(this.#runs) }
  }

  #bucketAt(at: number) {
    return this.#buckets[Math.min(this.#buckets.length - 1, Math.floor((at - this.#from) / this.#lengthMs))]
  }
}

function latenciesOf(values: number[]): Latencies | undefined {
  if (values.length === 0) return undefined
  values.sort((a, b) => a - b)
  const at = (share: number) => values[Math.min(values.length - 1, Math.floor(values.length * share))] ?? 0
  return { p50: at(0.5), p95: at(0.95), p99: at(0.99) }
}
