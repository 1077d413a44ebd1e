import { describe, expect, test } from 'vitest'
import { drawConfig } from './config.ts'
import { findPlant } from './find-plants.ts'
import { plantNamed, plants } from './plants.ts'
import { shorten } from './shorten.ts'
import { simulate } from './simulation.ts'
import { ruleOf } from './step-check.ts'

describe('a planted fault is found', () => {
  test.each(plants)('$name: $mistake', async (plant) => {
    const { seed, rule } = await findPlant(plant)

    expect(seed, 'the seed that found it').toBeDefined()
    console.log(`${plant.name}: seed ${seed ?? 0}, ${rule ?? ''}`)
  })
})

test('a fault that was planted is gone afterwards', async () => {
  for (const plant of plants) await simulate({ ...drawConfig(1), steps: 1, works: [] }, { plant })

  const { problems } = await simulate(drawConfig(1))

  expect(problems).toEqual([])
})

test('a failing world is made smaller and still breaks the same rule', async () => {
  const plant = plantNamed('index_entry_forgotten')
  const { seed, rule } = await findPlant(plant)
  const config = drawConfig(seed!)

  const shortened = await shorten(config, rule!, plant)

  const { problems } = await simulate(shortened.config, { plant })
  expect(ruleOf(problems[0]!)).toBe(rule)
  expect(shortened.config.works).toHaveLength(1)
  expect(Object.values(shortened.config.rates).every((rate) => rate === 0)).toBe(true)
})
