/** Permits that are lent to one claim, so that the work that they cover starts without another round. */
import type { LimitRef, PermitsAtHand } from '../../kernel/index.ts'
import type { Runtime } from '../../runtime/index.ts'
import type { KeyPermits, Permit } from './key-permits.ts'

/** Permits of one key and weight. */
interface Lent {
  readonly key: KeyPermits
  readonly weight: number
  readonly permits: Permit[]
  /** How many of them the claim has used. */
  used: number
}

export class Hand {
  readonly #lent: Lent[] = []
  /** Keys whose blocked work the claim may take. */
  readonly #takesBlocked = new Set<KeyPermits>()
  #admitsAt: number | undefined

  /** Takes up to so many free permits of a key. Returns how many kinds of permits that adds. */
  lend(key: KeyPermits, count: number, takesBlocked: boolean): number {
    if (takesBlocked) this.#takesBlocked.add(key)
    const first = this.#lent.length
    for (const permit of key.free.splice(0, count)) {
      key.lentCount += 1
      const lent = this.#lent.find((other, i) => i >= first && other.weight === permit.weight)
      if (lent === undefined) this.#lent.push({ key, weight: permit.weight, permits: [permit], used: 0 })
      else lent.permits.push(permit)
    }
    return this.#lent.length - first
  }

  /** When the answer to the claim arrived, on the monotonic clock: its executions are admitted in one turn. */
  admitsAt(runtime: Pick<Runtime, 'monotonic'>): number {
    return (this.#admitsAt ??= runtime.monotonic())
  }

  get isEmpty(): boolean {
    return this.#lent.length === 0
  }

  /** What the claim receives. */
  permits(): PermitsAtHand[] {
    return this.#lent.map(({ key, weight, permits }) => {
      const takesBlocked = this.#takesBlocked.has(key)
      return { limit: key.limit, key: key.key, weight, count: permits.length, takesBlocked }
    })
  }

  keys(): ReadonlySet<KeyPermits> {
    return new Set(this.#lent.map(({ key }) => key))
  }

  /** Returns the permit that the claim has used for a limit of an execution, if it is still valid and its key not held back. */
  take(need: LimitRef, now: number): Permit | undefined {
    const lent = this.#lentFor(need, now)
    const permit = lent?.permits[lent.used]
    if (lent === undefined || permit === undefined) return undefined
    lent.used += 1
    lent.key.lentCount -= 1
    return permit.generation === lent.key.generation ? permit : undefined
  }

  #lentFor({ limit, key, weight }: LimitRef, now: number): Lent | undefined {
    let other: Lent | undefined
    for (const lent of this.#lent) {
      if (lent.key.limit !== limit || lent.key.key !== key || lent.used === lent.permits.length) continue
      if (!lent.key.isUsable(now)) return undefined
      if (lent.weight === weight) return lent
      // As the claim does: what the rate has counted before uses any permit.
      if (weight === 0) other ??= lent
    }
    return other
  }

  /** Puts the permits back that the claim has not used. Returns the keys of which it found no more blocked work. */
  end(): KeyPermits[] {
    const spared = new Set<KeyPermits>()
    for (const lent of this.#lent) {
      const { key, permits } = lent
      for (let i = lent.used; i < permits.length; i++) {
        const permit = permits[i]
        if (permit?.generation === key.generation) key.putFree(permit)
      }
      if (lent.used < permits.length) spared.add(key)
      key.lentCount -= permits.length - lent.used
      lent.used = permits.length
    }
    return [...spared].filter((key) => this.#takesBlocked.has(key))
  }
}
