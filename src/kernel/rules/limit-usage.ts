/** Values derived from the usage of a limit: the free room of a key, its timers, and its order among the keys. */
import { LIMIT_COUNT_MAX } from '../limits.ts'
import { isBudgetId } from '../model/budget-ids.ts'
import type { Gauge, Limit, LimitCause } from '../model/limit-schema.ts'
import type { Instant } from '../model/records.ts'
import { fitsAt, weightOf } from './sliding-window.ts'

export interface LimitRefusal {
  readonly cause: LimitCause
  /** When a permit may become free; absent if only a release makes room. */
  readonly retryAfterMs: number | undefined
}

/** How many permits a key can grant now, and why not more. */
export interface Room {
  readonly permits: number
  readonly refusal: LimitRefusal | undefined
}

/** Permits of a key without any limit. */
export const UNLIMITED = LIMIT_COUNT_MAX

/** An execution heavier than the whole limit is admitted as if it weighed as much: else it would wait for ever. */
export function weightUnder(limit: Limit, weight: number): number {
  const rate = limit.rate
  return rate === undefined ? weight : Math.min(weight, rate.count)
}

/** Decides in this order: a hold, the rate, the cap. The gauge is trimmed. */
export function roomOf(limit: Limit, gauge: Gauge, weight: number, now: Instant): Room {
  const { heldUntil, heldCount, window } = gauge
  if (heldUntil !== undefined && heldUntil > now) {
    return { permits: 0, refusal: { cause: isBudgetId(limit.id) ? 'budget' : 'held', retryAfterMs: heldUntil - now } }
  }
  const byRate = roomByRate(limit, gauge, weight)
  const byCap = limit.concurrency === undefined ? UNLIMITED : Math.max(0, limit.concurrency - heldCount)
  if (limit.rate !== undefined && byRate <= byCap) {
    const next = weight * (byRate + 1)
    const retryAfterMs = fitsAt(window, limit.rate, Math.min(next, limit.rate.count), now) - now
    return { permits: byRate, refusal: { cause: 'rate', retryAfterMs: Math.max(0, retryAfterMs) } }
  }
  if (byCap === UNLIMITED) return { permits: UNLIMITED, refusal: undefined }
  return { permits: byCap, refusal: { cause: 'concurrency', retryAfterMs: undefined } }
}

function roomByRate({ rate }: Limit, { window }: Gauge, weight: number): number {
  if (rate === undefined || weight === 0) return UNLIMITED
  return Math.max(0, Math.floor((rate.count - weightOf(window)) / weight))
}

/** When permits are free next, and how many. */
export interface NextRoom {
  readonly afterMs: number
  readonly permits: number
}

/** Returns when the next permits are free: now, or when the oldest admissions leave the window. Undefined if a release decides it. */
export function nextRoom(limit: Limit, gauge: Gauge, weight: number, now: Instant): NextRoom | undefined {
  const { permits, refusal } = roomOf(limit, gauge, weight, now)
  if (permits > 0) return { afterMs: 0, permits }
  if (refusal?.retryAfterMs === undefined) return undefined
  // Nothing is free by its rate, so the work has a weight.
  const freed = refusal.cause === 'rate' ? Math.floor((gauge.window[0]?.weight ?? 0) / weight) : 1
  return { afterMs: refusal.retryAfterMs, permits: Math.max(1, freed) }
}

/**
 * When wakes are to be delivered, or else when nothing of a key is left to remember; undefined while a process holds permits, or may
 * repeat a request.
 */
export function gaugeDueAt({
  holderCount,
  window,
  windowMs,
  heldUntil,
  createdAt,
  wakeAt,
}: Gauge): Instant | undefined {
  if (wakeAt !== undefined) return wakeAt
  if (holderCount > 0) return undefined
  const last = window[window.length - 1]
  const emptyAt = last === undefined ? createdAt : last.at + windowMs
  return Math.max(emptyAt, heldUntil ?? 0)
}

/** The place of a key among those of its limit: the busiest first, by powers of two, so that it seldom changes. */
export function usageScore({ heldCount, window }: Gauge): number {
  const usage = Math.max(heldCount, weightOf(window))
  return usage === 0 ? 0 : -1 - Math.floor(Math.log2(usage))
}
