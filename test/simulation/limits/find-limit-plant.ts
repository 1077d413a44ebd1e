/** Finds planted faults of limits by the traffic of seeds. */
import type { LimitPlant } from './limit-plants.ts'
import { traffic } from './limit-world.ts'

/** Seeds within which every planted fault has to be found. */
const SEEDS_MAX = 60

/** The seed that found a fault last, unless that is the first. One that no longer finds it only costs time. */
const lastFound: Readonly<Record<string, number>> = { take_not_recognised: 2, pause_ignored: 4 }

export interface LimitFind {
  /** A seed that finds it; undefined if none does. */
  readonly seed: number | undefined
  readonly problem: string | undefined
}

export async function findLimitPlant({ name, plant }: LimitPlant): Promise<LimitFind> {
  const seeds = [lastFound[name] ?? 1, ...Array.from({ length: SEEDS_MAX }, (_, i) => i + 1)]
  for (const seed of seeds) {
    const restore = plant()
    try {
      const [problem] = (await traffic({ seed })).problems
      if (problem !== undefined) return { seed, problem }
    } finally {
      restore()
    }
  }
  return { seed: undefined, problem: undefined }
}
