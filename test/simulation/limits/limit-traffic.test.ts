import { describe, expect, test } from 'vitest'
import { findLimitPlant } from './find-limit-plant.ts'
import { limitPlants } from './limit-plants.ts'
import { traffic } from './limit-world.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 3_600_000

describe('the permits of limits, in traffic with crashes, pauses and lost replies', () => {
  test.each([1, 2, 3, 4])('are never exceeded and never leak, with seed %i', async (seed) => {
    const { problems, crashes, lostReplies, blocked } = await traffic({ seed, ms: MINUTE_MS })

    expect(problems).toEqual([])
    expect(lostReplies).toBeGreaterThan(10)
    expect(crashes + (blocked['concurrency'] ?? 0) + (blocked['rate'] ?? 0)).toBeGreaterThan(10)
  })

  test('show no drift after two hours', async () => {
    const report = await traffic({ seed: 1, ms: 2 * HOUR_MS, pace: 24, checkEvery: 500 })

    expect(report.problems).toEqual([])
    // Reconcilers ran all the time, and had nothing to correct.
    expect(report.repaired).toEqual([])
    expect(report.crashes).toBeGreaterThan(20)
    expect(Object.keys(report.blocked).sort()).toEqual(['concurrency', 'held', 'rate'])
  })
})

describe('a planted fault is found', () => {
  test.each(limitPlants)('$name: $mistake', async (plant) => {
    const { seed, problem } = await findLimitPlant(plant)

    expect(seed, 'the seed that found it').toBeDefined()
    console.log(`${plant.name}: seed ${seed ?? 0}, ${problem ?? ''}`)
  })

  test('and gone afterwards', async () => {
    for (const { plant } of limitPlants) plant()()

    expect((await traffic({ seed: 1, ms: 5_000 })).problems).toEqual([])
  })
})
