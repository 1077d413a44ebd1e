/** Random sequences with all operations of flows on every store at once: call by call, in batches, and under a clock that jumps. */
import fc from 'fast-check'
import { test } from 'vitest'
import { memory } from '../conformance/targets.ts'
import {
  WIDE,
  anyFlowBatches,
  anyFlowBatchesInJumpingTime,
  anyFlowSequence,
  anyWideFlowBatches,
} from '../properties/flow-sequences.ts'
import { runs } from '../properties/random-runs.ts'
import { anyLogReading } from './log-reading.ts'
import { SideBySide, oneByOne, together } from './side-by-side.ts'
import { TIME_LIMIT_MS, everyStore, storeNames } from './sides.ts'

const CALL_RUNS = 50
const BATCH_RUNS = 120
const JUMPING_RUNS = 80
const WIDE_RUNS = 15

const everyCall = anyFlowSequence.map((commands) => commands.map((command) => ({ commands: [command], stepMs: 0 })))

test(`call by call, all stores move flows alike: ${storeNames}`, async () => {
  await using sides = await SideBySide.open(...everyStore(together))

  await fc.assert(
    fc.asyncProperty(everyCall, anyLogReading, (batches, reading) =>
      sides.compare(batches, { reading, isWalked: true }),
    ),
    runs(CALL_RUNS, TIME_LIMIT_MS),
  )
})

test(`a batch moves flows on every store as its operations do one by one: ${storeNames}`, async () => {
  await using sides = await SideBySide.open({ target: memory, send: oneByOne }, ...everyStore(together))

  await fc.assert(
    fc.asyncProperty(anyFlowBatches, anyLogReading, (batches, reading) => sides.compare(batches, { reading })),
    runs(BATCH_RUNS, TIME_LIMIT_MS),
  )
})

test(`under a clock that jumps forth and back, flows move on all stores alike: ${storeNames}`, async () => {
  await using sides = await SideBySide.open(...everyStore(together))

  await fc.assert(
    fc.asyncProperty(anyFlowBatchesInJumpingTime, (batches) => sides.compare(batches)),
    runs(JUMPING_RUNS, TIME_LIMIT_MS),
  )
})

test(`a flow that is too large for one call stops and goes on at the same places on all stores: ${storeNames}`, async () => {
  await using sides = await SideBySide.open(...everyStore(together))

  await fc.assert(
    fc.asyncProperty(anyWideFlowBatches, (batches) => sides.compare(batches, { isWalked: true, scale: WIDE })),
    runs(WIDE_RUNS, TIME_LIMIT_MS),
  )
})
