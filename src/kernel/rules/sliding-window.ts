/**
 * A sliding window of admissions. Entries are exact until there are too many. Then those of a short interval become one entry
 * at the latest of their instants: the window never admits more than its limit, and loses less than one percent of its rate.
 */
import { WINDOW_ENTRY_MAX } from '../limits.ts'
import type { Rate, WindowEntry } from '../model/limit-schema.ts'
import type { Instant } from '../model/records.ts'

/** Intervals into which a window is divided when its entries are merged. A window touches one more than it has. */
const INTERVAL_COUNT = WINDOW_ENTRY_MAX - 2

/** Returns the entries that count: an entry that is as old as the window is long counts no more. */
export function trimWindow(window: readonly WindowEntry[], windowMs: number, now: Instant): readonly WindowEntry[] {
  let first = 0
  for (const { at } of window) {
    if (at > now - windowMs) break
    first = first + 1
  }
  return first === 0 ? window : window.slice(first)
}

export function weightOf(window: readonly WindowEntry[]): number {
  let weight = 0
  for (const entry of window) weight = weight + entry.weight
  return weight
}

/** Adds an admission. The entries stay in order, also if the clock has gone back. */
export function addToWindow(
  window: readonly WindowEntry[],
  windowMs: number,
  now: Instant,
  weight: number,
): readonly WindowEntry[] {
  if (weight === 0) return window
  const last = window[window.length - 1]
  if (last !== undefined && last.at >= now) {
    return window.slice(0, -1).concat([{ at: last.at, weight: last.weight + weight }])
  }
  const added = window.concat([{ at: now, weight }])
  return added.length > WINDOW_ENTRY_MAX ? mergeWindow(added, windowMs) : added
}

/** Merges the entries of each interval. */
function mergeWindow(window: readonly WindowEntry[], windowMs: number): readonly WindowEntry[] {
  const intervalMs = Math.ceil(windowMs / INTERVAL_COUNT)
  const merged: WindowEntry[] = []
  for (const entry of window) {
    const last = merged[merged.length - 1]
    const isSame = last !== undefined && Math.floor(last.at / intervalMs) === Math.floor(entry.at / intervalMs)
    if (isSame) merged[merged.length - 1] = { at: entry.at, weight: last.weight + entry.weight }
    else merged.push(entry)
  }
  return merged
}

/**
 * Takes back the weight of an admission that was not used, from its own entry or the one that it was merged into. An admission
 * that counts no more has nothing to take back.
 */
export function refundWindow(
  window: readonly WindowEntry[],
  windowMs: number,
  now: Instant,
  takenAt: Instant,
  weight: number,
): readonly WindowEntry[] {
  if (takenAt <= now - windowMs) return window
  const kept: WindowEntry[] = []
  let left = weight
  for (const entry of window) {
    const isOwn = entry.at >= takenAt
    const rest = isOwn ? Math.max(0, entry.weight - left) : entry.weight
    if (isOwn) left = 0
    if (rest > 0) kept.push({ at: entry.at, weight: rest })
  }
  return kept
}

/** Returns the instant from which a weight fits into the window, if nothing else is admitted. */
export function fitsAt(window: readonly WindowEntry[], rate: Rate, weight: number, now: Instant): Instant {
  let excess = weightOf(window) + weight - rate.count
  if (excess <= 0) return now
  for (const entry of window) {
    excess = excess - entry.weight
    if (excess <= 0) return entry.at + rate.windowMs
  }
  return now + rate.windowMs
}
