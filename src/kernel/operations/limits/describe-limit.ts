/** Lists limits, and describes one with the usage of its keys. */
import { LIMIT_PAGE_MAX, NAMED_HOLDER_MAX } from '../../limits.ts'
import { LIMITS_INDEX, gaugeId, holdersIndex, keysIndex } from '../../model/indexes.ts'
import type { Gauge, Limit } from '../../model/limit-schema.ts'
import type { Instant } from '../../model/records.ts'
import type { Position } from '../../model/order.ts'
import { refused } from '../../results.ts'
import type { Refused } from '../../results.ts'
import { nextRoom, usageScore } from '../../rules/limit-usage.ts'
import type { NextRoom } from '../../rules/limit-usage.ts'
import { trimWindow, weightOf } from '../../rules/sliding-window.ts'
import type { Range, Tx } from '../../tx.ts'

export interface ListLimitsInput {
  /** The name after which the page begins. */
  readonly cursor?: string | undefined
  readonly limit: number
}

export interface ListLimitsResult {
  readonly kind: 'limits_listed'
  /** By name. Deleted ones are left out. */
  readonly limits: Limit[]
  readonly cursor: string | undefined
}

export function listLimits(tx: Tx, input: ListLimitsInput): ListLimitsResult {
  const range = listLimitsRange(input)
  const page = tx.scan(range, 'limit_definition')
  const last = page[page.length - 1]
  const limits: Limit[] = []
  for (const limit of page) if (limit.deletedAt === undefined) limits.push(limit)
  return { kind: 'limits_listed', limits, cursor: page.length < range.limit ? undefined : last?.id }
}

export function listLimitsRange({ cursor, limit }: ListLimitsInput): Range {
  const from = cursor === undefined ? undefined : { score: 0, id: cursor }
  return { index: LIMITS_INDEX, from, limit: Math.max(1, Math.min(limit, LIMIT_PAGE_MAX)) }
}

export interface DescribeLimitInput {
  readonly name: string
  /** Only this key, used or not. */
  readonly key?: string | undefined
  readonly cursor?: Position | undefined
  readonly limit: number
}

/** A handler or an operator holds a key back. */
export interface KeyHold {
  readonly until: Instant
  readonly by: string | undefined
  readonly reason: string | undefined
}

/** A worker process with permits of a key. */
export interface Holder {
  readonly workerInstanceId: string
  readonly count: number
  /** When they lapse unless the process renews them. */
  readonly expiresAt: Instant
}

/** The usage of one key. */
export interface KeyUsage {
  readonly key: string
  /** Permits that are held. */
  readonly held: number
  /** Worker processes that hold them. */
  readonly holders: number
  /** The weight in the window of the rate. */
  readonly used: number
  /** Set while the key is held back for all workers. */
  readonly hold: KeyHold | undefined
  /** Execution partitions with work that waits for the key. */
  readonly waitingPartitions: number
  /** When the next permits are free; absent if only a release makes room. */
  readonly next: NextRoom | undefined
}

export type DescribeLimitResult =
  | {
      readonly kind: 'limit_described'
      readonly limit: Limit
      /** The busiest first, by powers of two. */
      readonly keys: KeyUsage[]
      readonly cursor: Position | undefined
      /** If one key was asked for: the first processes that hold permits of it. */
      readonly holders: Holder[]
      readonly at: Instant
    }
  | Refused<'limit_not_found'>

export function describeLimit(tx: Tx, input: DescribeLimitInput): DescribeLimitResult {
  const limit = tx.get('limit_definition', input.name)
  if (limit === undefined || limit.deletedAt !== undefined) return refused('limit_not_found', { name: input.name })
  if (input.key !== undefined) {
    const gauge = tx.get('gauge', gaugeId(input.name, input.key))
    const keys = gauge === undefined ? [] : [usageOf(limit, gauge, tx.now)]
    const holders = gauge === undefined ? [] : holdersOf(tx, gauge.id)
    return { kind: 'limit_described', limit, keys, cursor: undefined, holders, at: tx.now }
  }
  const range = keysRange(input)
  const gauges = tx.scan(range, 'gauge')
  const keys: KeyUsage[] = []
  for (const gauge of gauges) keys.push(usageOf(limit, gauge, tx.now))
  const last = gauges[gauges.length - 1]
  const isLast = gauges.length < range.limit || last === undefined
  const cursor = isLast ? undefined : { score: usageScore(last), id: last.id }
  return { kind: 'limit_described', limit, keys, cursor, holders: [], at: tx.now }
}

export function keysRange({ name, cursor, limit }: DescribeLimitInput): Range {
  return { index: keysIndex(name), from: cursor, limit: Math.max(1, Math.min(limit, LIMIT_PAGE_MAX)) }
}

function holdersOf(tx: Tx, id: string): Holder[] {
  const holders: Holder[] = []
  for (const { workerInstanceId, count, expiresAt } of tx.scan(namedHoldersRange(id), 'holding')) {
    // Others remember requests, and hold nothing.
    if (count > 0 && expiresAt > tx.now) holders.push({ workerInstanceId, count, expiresAt })
  }
  return holders
}

export function namedHoldersRange(id: string): Range {
  return { index: holdersIndex(id), limit: NAMED_HOLDER_MAX }
}

function usageOf(limit: Limit, gauge: Gauge, now: Instant): KeyUsage {
  const { key, heldCount, holderCount, heldUntil, heldBy, heldReason, waiting } = gauge
  const window = limit.rate === undefined ? [] : trimWindow(gauge.window, limit.rate.windowMs, now)
  return {
    key,
    held: heldCount,
    holders: holderCount,
    used: weightOf(window),
    hold: heldUntil !== undefined && heldUntil > now ? { until: heldUntil, by: heldBy, reason: heldReason } : undefined,
    waitingPartitions: waiting?.length ?? 0,
    next: nextRoom(limit, { ...gauge, window }, 1, now),
  }
}
