/** Random batches of all operations on every store at once, at a steady pace and under a clock that jumps. */
import { test } from 'vitest'
import { memory } from '../conformance/targets.ts'
import { anyBatches, anyBatchesInJumpingTime } from '../properties/commands.ts'
import { holdsForAny } from '../properties/random-runs.ts'
import { anyLogReading } from './log-reading.ts'
import { SideBySide, oneByOne, together } from './side-by-side.ts'
import { everyStore, storeNames } from './sides.ts'

const STEADY_RUNS = { same: 100, newForMs: 8_000 }
const JUMPING_RUNS = { same: 50, newForMs: 6_000 }

test(`a batch does on every store what its operations do one by one: ${storeNames}`, async () => {
  await using sides = await SideBySide.open({ target: memory, send: oneByOne }, ...everyStore(together))

  await holdsForAny([anyBatches, anyLogReading], (batches, reading) => sides.compare(batches, { reading }), STEADY_RUNS)
})

test(`a clock that jumps forth and back is the same for all stores: ${storeNames}`, async () => {
  await using sides = await SideBySide.open(...everyStore(together))

  await holdsForAny([anyBatchesInJumpingTime], (batches) => sides.compare(batches), JUMPING_RUNS)
})
