/** What limits promise, kept by real workers that crash, stop, lose replies and are cut off. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { LimitedWorkers } from './limited-workers.ts'
import { holdsForAny } from './random-runs.ts'

const run = fc.record({
  seed: fc.integer({ min: 1, max: 1_000_000 }),
  processes: fc.integer({ min: 2, max: 3 }),
  jobs: fc.integer({ min: 5, max: 40 }),
  tenants: fc.integer({ min: 1, max: 3 }),
  cap: fc.integer({ min: 1, max: 3 }),
  rate: fc.option(fc.integer({ min: 15, max: 60 }), { nil: undefined }),
})

test('workers in turmoil never exceed a cap or a rate, end everything, and hold nothing afterwards', async () => {
  let disturbances = 0
  let mostAtOnce = 0
  await holdsForAny(
    [run],
    async (drawn) => {
      const outcome = await new LimitedWorkers(drawn).play()
      expect(outcome.problems).toEqual([])
      disturbances += outcome.disturbances
      mostAtOnce = Math.max(mostAtOnce, outcome.mostAtOnce)
    },
    { same: 12, newForMs: 4_000 },
  )
  if (process.env['FLOWFABRIC_TEST_SEED'] === undefined) {
    expect(disturbances).toBeGreaterThan(50)
    expect(mostAtOnce).toBe(3)
  }
})
