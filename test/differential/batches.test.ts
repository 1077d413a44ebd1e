/** Random batches of all operations on every store at once, at a steady pace and under a clock that somebody sets. */
import fc from 'fast-check'
import { test } from 'vitest'
import { memory } from '../conformance/targets.ts'
import { anyBatches, anyBatchesInJumpingTime } from '../properties/commands.ts'
import { runs } from '../properties/random-runs.ts'
import { anyLogReading } from './log-reading.ts'
import { SideBySide, oneByOne, together } from './side-by-side.ts'
import { TIME_LIMIT_MS, everyStore, storeNames } from './sides.ts'

const STEADY_RUNS = 500
const JUMPING_RUNS = 250

test(`a batch does on every store what its operations do one by one: ${storeNames}`, async () => {
  await using sides = await SideBySide.open({ target: memory, send: oneByOne }, ...everyStore(together))

  await fc.assert(
    fc.asyncProperty(anyBatches, anyLogReading, (batches, reading) => sides.compare(batches, { reading })),
    runs(STEADY_RUNS, TIME_LIMIT_MS),
  )
})

test(`a clock that jumps forth and back is the same for all stores: ${storeNames}`, async () => {
  await using sides = await SideBySide.open(...everyStore(together))

  await fc.assert(
    fc.asyncProperty(anyBatchesInJumpingTime, (batches) => sides.compare(batches)),
    runs(JUMPING_RUNS, TIME_LIMIT_MS),
  )
})
