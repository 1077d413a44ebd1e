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
  const all = lanes.map(({ weight, items }) => ({ weight, items: [...items] }))
  const merged: T[] = []
  let drawn = seed
  while (merged.length < count) {
    drawn = nextSeed(drawn)
    const lane = laneAt(
      all.filter(({ items }) => items.length > 0),
      fractionOf(drawn),
    )
    if (lane === undefined) break
    merged.push(...lane.items.splice(0, 1))
  }
  return merged
}

/** Returns the lane in which a fraction of all weights lies, if they stand one after the other. */
function laneAt<L extends { readonly weight: number }>(lanes: readonly L[], fraction: number): L | undefined {
  const point = fraction * lanes.reduce((sum, { weight }) => sum + weight, 0)
  let end = 0
  for (const lane of lanes) {
    end = end + lane.weight
    if (point < end) return lane
  }
  return undefined
}
