/** What a limit must do, kept as simply as possible: all admissions and all holdings, without windows or counters. */
import { expect } from 'vitest'
import type { Rate } from '../../src/kernel/index.ts'

interface Admission {
  readonly at: number
  weight: number
}

interface Held {
  count: number
  expiresAt: number
}

export interface Terms {
  readonly rate: Rate | undefined
  readonly concurrency: number | undefined
}

/** One key of a limit. */
export class KeyOracle {
  readonly #terms: Terms
  readonly #admissions: Admission[] = []
  readonly #held = new Map<string, Held>()
  heldUntil = 0

  constructor(terms: Terms) {
    this.#terms = terms
  }

  weighed(weight: number): number {
    return Math.min(weight, this.#terms.rate?.count ?? weight)
  }

  /** How many permits of a weight may be granted now. */
  room(weight: number, now: number): number {
    if (this.heldUntil > now) return 0
    const { rate, concurrency } = this.#terms
    const byRate = rate === undefined ? Infinity : Math.floor((rate.count - this.#usedAt(now)) / this.weighed(weight))
    const byCap = concurrency === undefined ? Infinity : concurrency - this.heldAt(now)
    return Math.max(0, Math.min(byRate, byCap))
  }

  take(process: string, count: number, weight: number, now: number, ttlMs: number): void {
    if (count === 0) return
    const held = this.#liveOf(process, now) ?? { count: 0, expiresAt: 0 }
    held.count += count
    held.expiresAt = Math.max(held.expiresAt, now + ttlMs)
    this.#held.set(process, held)
    this.#admissions.push({ at: now, weight: count * this.weighed(weight) })
    this.check(now)
  }

  /** Returns how many were taken back. */
  giveBack(process: string, count: number, now: number): number {
    const held = this.#liveOf(process, now)
    const returned = Math.min(count, held?.count ?? 0)
    if (held !== undefined) held.count -= returned
    return returned
  }

  refund(takenAt: number, weight: number, now: number): void {
    const windowMs = this.#terms.rate?.windowMs ?? 0
    if (takenAt <= now - windowMs) return
    for (const admission of this.#admissions.filter(({ at }) => at === takenAt)) {
      const taken = Math.min(weight, admission.weight)
      admission.weight -= taken
      weight -= taken
    }
  }

  renew(process: string, now: number, ttlMs: number): number {
    const held = this.#liveOf(process, now)
    if (held !== undefined && held.count > 0) held.expiresAt = Math.max(held.expiresAt, now + ttlMs)
    return held?.count ?? 0
  }

  heldBy(process: string, now: number): number {
    return this.#liveOf(process, now)?.count ?? 0
  }

  heldAt(now: number): number {
    return [...this.#held.keys()].reduce((sum, process) => sum + this.heldBy(process, now), 0)
  }

  /** No interval of the window's length holds more than the rate, and no more is held than the cap. */
  check(now: number): void {
    const { rate, concurrency } = this.#terms
    if (rate !== undefined) expect(this.#usedAt(now)).toBeLessThanOrEqual(rate.count)
    if (concurrency !== undefined) expect(this.heldAt(now)).toBeLessThanOrEqual(concurrency)
  }

  #usedAt(now: number): number {
    const from = now - (this.#terms.rate?.windowMs ?? 0)
    return this.#admissions.filter(({ at }) => at > from && at <= now).reduce((sum, { weight }) => sum + weight, 0)
  }

  #liveOf(process: string, now: number): Held | undefined {
    const held = this.#held.get(process)
    return held !== undefined && held.expiresAt > now ? held : undefined
  }
}
