/** The permits of one worker process: how many it holds of each key, which of them are spare, and when they were confirmed. */
import type { LimitRef } from '../../../src/kernel/index.ts'

interface Key {
  readonly limit: string
  readonly key: string
}

interface Held {
  readonly key: Key
  count: number
  /** When a call that took or renewed them was sent. They are valid for their ttl from then on at least. */
  confirmedAt: number
  /** Differs from that of permits of the key which lapsed before. */
  readonly generation: number
}

/** Permits of one key, as long as they have not lapsed. */
export interface Permit extends Key {
  readonly weight: number
  readonly generation: number
}

export interface Spare extends Permit {
  readonly count: number
}

export class Permits {
  readonly #ttlMs: number
  readonly #held = new Map<string, Held>()
  readonly #spares = new Map<string, { permit: Permit; count: number }>()
  #generation = 0

  constructor(ttlMs: number) {
    this.#ttlMs = ttlMs
  }

  keys(): Key[] {
    return [...this.#held.values()].map(({ key }) => key)
  }

  countOf(key: Key): number {
    return this.#held.get(nameOf(key))?.count ?? 0
  }

  /** Adds permits of which one is for the execution that asked; the others are spare. */
  take({ limit, key, weight }: LimitRef, count: number, sentAt: number): Permit {
    const name = nameOf({ limit, key })
    const held = this.#held.get(name) ?? {
      key: { limit, key },
      count: 0,
      confirmedAt: sentAt,
      generation: (this.#generation += 1),
    }
    held.count += count
    held.confirmedAt = Math.max(held.confirmedAt, sentAt)
    this.#held.set(name, held)
    const permit = { limit, key, weight, generation: held.generation }
    if (count > 1) this.spare(permit, count - 1)
    return permit
  }

  /** Takes permits out, to return them. False if they have lapsed. */
  remove(permit: Permit, count: number): boolean {
    const held = this.#held.get(nameOf(permit))
    if (held?.generation !== permit.generation) return false
    held.count -= count
    if (held.count === 0) this.#held.delete(nameOf(permit))
    return true
  }

  has(permit: Permit): boolean {
    return this.#held.get(nameOf(permit))?.generation === permit.generation
  }

  spare(permit: Permit, count = 1): void {
    if (!this.has(permit)) return
    const found = this.#spares.get(placeOf(permit)) ?? { permit, count: 0 }
    found.count += count
    this.#spares.set(placeOf(permit), found)
  }

  /** The spare permits, to be used by a claim: only those that stay valid for longer than its leases. */
  takeSpares(now: number, freshMs: number): Spare[] {
    const taken: Spare[] = []
    for (const [place, { permit, count }] of this.#spares) {
      if (!this.isFresh(permit, now, freshMs)) continue
      this.#spares.delete(place)
      taken.push({ ...permit, count })
    }
    return taken
  }

  /** Takes out all spare permits, to be returned. */
  spares(): Spare[] {
    const all = [...this.#spares.values()].map(({ permit, count }) => ({ ...permit, count }))
    this.#spares.clear()
    return all
  }

  isFresh(key: Key, now: number, freshMs: number): boolean {
    const held = this.#held.get(nameOf(key))
    return held === undefined || now - held.confirmedAt < freshMs
  }

  confirm(key: Key, sentAt: number): void {
    const held = this.#held.get(nameOf(key))
    if (held !== undefined) held.confirmedAt = Math.max(held.confirmedAt, sentAt)
  }

  /** Forgets permits that the process may not hold any more. */
  lapse(key: Key): void {
    const name = nameOf(key)
    this.#held.delete(name)
    for (const [place, { permit }] of this.#spares) if (nameOf(permit) === name) this.#spares.delete(place)
  }

  /** Forgets all that were confirmed longer ago than they are valid, with a margin. */
  lapseOld(now: number): void {
    const old = [...this.#held.values()].filter(({ confirmedAt }) => now - confirmedAt >= 0.9 * this.#ttlMs)
    for (const { key } of old) this.lapse(key)
  }
}

function nameOf({ limit, key }: Key): string {
  return `${limit}/${key}`
}

function placeOf({ limit, key, weight }: Permit): string {
  return `${limit}/${key}/${weight}`
}
