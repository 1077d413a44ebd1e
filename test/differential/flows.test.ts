/** Random sequences with all operations of flows on every store at once: call by call, in batches, and under a clock that jumps. */
import { test } from 'vitest'
import { memory } from '../conformance/targets.ts'
import {
  WIDE,
  anyFlowBatches,
  anyFlowBatchesInJumpingTime,
  anyFlowSequence,
  anyWideFlowBatches,
} from '../properties/flow-sequences.ts'
import { holdsForAny } from '../properties/random-runs.ts'
import { anyLogReading } from './log-reading.ts'
import { SideBySide, oneByOne, together } from './side-by-side.ts'
import { everyStore, storeNames } from './sides.ts'

const CALL_RUNS = { same: 10, newForMs: 5_000 }
const BATCH_RUNS = { same: 24, newForMs: 5_000 }
const JUMPING_RUNS = { same: 16, newForMs: 5_000 }
const WIDE_RUNS = { same: 3, newForMs: 5_000 }

const everyCall = anyFlowSequence.map((commands) => commands.map((command) => ({ commands: [command], stepMs: 0 })))

test(`call by call, all stores move flows alike: ${storeNames}`, async () => {
  await using sides = await SideBySide.open(...everyStore(together))

  await holdsForAny(
    [everyCall, anyLogReading],
    (batches, reading) => sides.compare(batches, { reading, isWalked: true }),
    CALL_RUNS,
  )
})

test(`a batch moves flows on every store as its operations do one by one: ${storeNames}`, async () => {
  await using sides = await SideBySide.open({ target: memory, send: oneByOne }, ...everyStore(together))

  await holdsForAny(
    [anyFlowBatches, anyLogReading],
    (batches, reading) => sides.compare(batches, { reading }),
    BATCH_RUNS,
  )
})

test(`under a clock that jumps forth and back, flows move on all stores alike: ${storeNames}`, async () => {
  await using sides = await SideBySide.open(...everyStore(together))

  await holdsForAny([anyFlowBatchesInJumpingTime], (batches) => sides.compare(batches), JUMPING_RUNS)
})

test(`a flow that is too large for one call stops and continues at the same places on all stores: ${storeNames}`, async () => {
  await using sides = await SideBySide.open(...everyStore(together))

  await holdsForAny(
    [anyWideFlowBatches],
    (batches) => sides.compare(batches, { isWalked: true, scale: WIDE }),
    WIDE_RUNS,
  )
})
