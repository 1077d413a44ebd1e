import type { EngineShare } from '../model/duties-schema.ts'

/**
 * Divides the partitions among the engines. The sizes of two shares differ by one at most, every partition is in one share, and
 * as few partitions as possible change their engine.
 */
export function dividePartitions(engines: readonly EngineShare[], partitions: readonly string[]): EngineShare[] {
  const free = new Set(partitions)
  const shares = engines.map((engine) => ({
    engine,
    kept: engine.partitions.filter((partition) => free.delete(partition)),
    size: 0,
  }))
  giveSizes(shares, partitions.length)
  for (const { kept, size } of shares) for (const partition of kept.splice(size)) free.add(partition)
  const waiting = partitions.filter((partition) => free.has(partition))
  return shares.map(({ engine, kept, size }) => {
    return { ...engine, partitions: [...kept, ...waiting.splice(0, size - kept.length)] }
  })
}

interface Share {
  readonly kept: readonly string[]
  size: number
}

/** The engines with the most partitions get the larger shares, so that they give the fewest away. */
function giveSizes(shares: readonly Share[], count: number): void {
  const least = Math.floor(count / shares.length)
  const byCount = shares.toSorted((a, b) => b.kept.length - a.kept.length)
  for (const [place, share] of byCount.entries()) share.size = place < count % shares.length ? least + 1 : least
}
