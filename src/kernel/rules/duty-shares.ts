import type { EngineShare } from '../model/duties-schema.ts'

/**
 * Divides the partitions among the engines. The sizes of two shares differ by one at most, every partition is in one share, and
 * as few partitions as possible change their engine.
 */
export function dividePartitions(engines: readonly EngineShare[], partitions: readonly string[]): EngineShare[] {
  const free = new Set(partitions)
  const kept = engines.map((engine) => engine.partitions.filter((partition) => free.delete(partition)))
  const sizes = shareSizes(kept, partitions.length)
  kept.forEach((share, i) => {
    for (const partition of share.splice(sizes[i] ?? 0)) free.add(partition)
  })
  const waiting = partitions.filter((partition) => free.has(partition))
  return engines.map((engine, i) => {
    const share = kept[i] ?? []
    const added = waiting.splice(0, (sizes[i] ?? 0) - share.length)
    return { ...engine, partitions: [...share, ...added] }
  })
}

/** The engines with the most partitions get the larger shares, so that they give the fewest away. */
function shareSizes(kept: readonly (readonly string[])[], count: number): number[] {
  const size = Math.floor(count / kept.length)
  const larger = count % kept.length
  const byCount = kept.map((share, i) => ({ i, held: share.length })).sort((a, b) => b.held - a.held || a.i - b.i)
  const sizes: number[] = []
  byCount.forEach(({ i }, place) => (sizes[i] = place < larger ? size + 1 : size))
  return sizes
}
