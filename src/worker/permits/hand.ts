/** Permits that are lent to one claim, so that the work that they cover starts without another round. */
import type { LimitRef, PermitsAtHand } from '../../kernel/index.ts'
import type { Permit } from './key-permits.ts'

export class Hand {
  readonly permits: readonly PermitsAtHand[]
  readonly keys: ReadonlySet<Permit['key']>
  readonly #lent: Permit[]
  /** Keys whose blocked work the claim may take. */
  readonly #takesBlocked: ReadonlySet<Permit['key']>

  constructor(lent: readonly Permit[], takesBlocked: ReadonlySet<Permit['key']>) {
    this.keys = new Set(lent.map(({ key }) => key))
    this.#lent = [...lent]
    this.#takesBlocked = takesBlocked
    for (const { key } of lent) key.lentCount += 1
    this.permits = atHand(lent, takesBlocked)
  }

  /** Returns the permit that the claim has used for a limit of an execution, if it is still valid and its key not held back. */
  take({ limit, key, weight }: LimitRef, now: number): Permit | undefined {
    const isOfKey = (permit: Permit) => permit.key.limit === limit && permit.key.key === key && permit.key.isUsable(now)
    let at = this.#lent.findIndex((permit) => isOfKey(permit) && permit.weight === weight)
    // As the claim does: what the rate has counted before uses any permit.
    if (at === -1 && weight === 0) at = this.#lent.findIndex(isOfKey)
    if (at === -1) return undefined
    const [permit] = this.#lent.splice(at, 1)
    if (permit === undefined) return undefined
    permit.key.lentCount -= 1
    return permit.generation === permit.key.generation ? permit : undefined
  }

  /** Puts the permits back that the claim has not used. Returns the keys of which it found no more blocked work. */
  end(): Permit['key'][] {
    const spared = new Set<Permit['key']>()
    for (const permit of this.#lent.splice(0)) {
      permit.key.lentCount -= 1
      spared.add(permit.key)
      if (permit.generation === permit.key.generation) permit.key.free.push(permit)
    }
    return [...spared].filter((key) => this.#takesBlocked.has(key))
  }
}

function atHand(lent: readonly Permit[], takesBlocked: ReadonlySet<Permit['key']>): PermitsAtHand[] {
  const groups = new Map<string, { -readonly [K in keyof PermitsAtHand]: PermitsAtHand[K] }>()
  for (const { key, weight } of lent) {
    const id = [key.limit, key.key, weight].join(' ')
    const group = groups.get(id)
    if (group !== undefined) group.count += 1
    else groups.set(id, { limit: key.limit, key: key.key, weight, count: 1, takesBlocked: takesBlocked.has(key) })
  }
  return [...groups.values()]
}
