/** The order between lanes that have weights. */
import { fractionOf, nextSeed } from './seeded-random.ts'

/** A lane of a claim: what it offers, in the order in which it is served. */
export interface OfferingLane<T> {
  readonly weight: number
  readonly items: readonly T[]
}

/**
 * Merges up to `count` items of several lanes. Each next item comes from a lane that is drawn by weight among those that have any left,
 * so over many claims every lane gets its share, and a lane without work leaves its share to the others.
 */
export function drawByWeight<T>(lanes: readonly OfferingLane<T>[], count: number, seed: number): T[] {
  const taken = lanes.map(() => 0)
  const merged: T[] = []
  let drawn = seed
  while (merged.length < count) {
    const left = lanes.map(({ weight, items }, i) => (items.length > (taken[i] ?? 0) ? weight : 0))
    const total = left.reduce((sum, weight) => sum + weight, 0)
    if (total === 0) break
    drawn = nextSeed(drawn)
    const i = positionAt(left, fractionOf(drawn) * total)
    merged.push(lanes[i]?.items[taken[i] ?? 0] as T)
    taken[i] = (taken[i] ?? 0) + 1
  }
  return merged
}

/** Returns which of the weights a point lies in, if they stand one after the other. */
function positionAt(weights: readonly number[], point: number): number {
  let end = 0
  let last = 0
  for (let i = 0; i < weights.length; i++) {
    const weight = weights[i] ?? 0
    if (weight === 0) continue
    end = end + weight
    last = i
    if (point < end) return i
  }
  return last
}
