/** Wakes: which execution partitions have work that a limit blocks, and how many of the free permits each should ask for. */
import type { Gauge, Limit } from '../../model/limit-schema.ts'
import type { Instant } from '../../model/records.ts'
import { UNLIMITED, roomOf } from '../../rules/limit-usage.ts'

export interface LimitWake {
  /** The number of the execution partition. */
  readonly partition: number
  readonly permits: number
}

/**
 * Divides the free room of a key among the partitions that wait. Those that get none stay in line, in front of later ones. The
 * caller puts the gauge.
 */
export function takeWakes(limit: Limit, gauge: Gauge, now: Instant): LimitWake[] {
  // A deleted limit lets everything pass, gate by gate.
  const permits = limit.deletedAt === undefined ? roomOf(limit, gauge, 1, now).permits : UNLIMITED
  const waiting = gauge.waiting ?? []
  const count = Math.min(waiting.length, permits)
  if (count === 0) return []
  const wakes: LimitWake[] = []
  const share = Math.floor(permits / count)
  const further = permits - share * count
  for (const partition of waiting.slice(0, count)) {
    wakes.push({ partition, permits: share + (wakes.length < further ? 1 : 0) })
  }
  gauge.waiting = count === waiting.length ? undefined : waiting.slice(count)
  return wakes
}
