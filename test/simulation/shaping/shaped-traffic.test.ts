import { describe, expect, test } from 'vitest'
import { shapingPlants } from './shaping-plants.ts'
import type { ShapingPlant } from './shaping-plants.ts'
import { shapedTraffic } from './shaping-world.ts'

/** Seeds within which every planted fault has to be found. */
const SEEDS_MAX = 40

async function find({ plant }: ShapingPlant): Promise<{ readonly seed: number; readonly problem: string } | undefined> {
  for (let seed = 1; seed <= SEEDS_MAX; seed++) {
    const restore = plant()
    try {
      const [problem] = (await shapedTraffic(seed)).problems
      if (problem !== undefined) return { seed, problem }
    } finally {
      restore()
    }
  }
  return undefined
}

describe('shaped submits, in traffic with crashes, cancels, retries and lost replies', () => {
  test.each([1, 2, 3, 4, 5, 6, 7, 8])('combine and stand in line as they say, with seed %i', async (seed) => {
    const { problems, submits, repeated, crashes } = await shapedTraffic(seed)

    expect(problems).toEqual([])
    expect(submits).toBeGreaterThan(80)
    expect(repeated).toBeGreaterThan(5)
    expect(crashes).toBeGreaterThan(2)
  })
})

describe('a planted fault is found', () => {
  test.each(shapingPlants)('$name: $mistake', async (plant) => {
    const found = await find(plant)

    expect(found, 'a seed that finds it').toBeDefined()
    console.log(`${plant.name}: seed ${found?.seed ?? 0}, ${found?.problem ?? ''}`)
  })
})
