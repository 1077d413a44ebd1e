/** Random sequences of steps, waits, waitpoints and signals on every store at once: call by call, in batches, under a clock that jumps. */
import fc from 'fast-check'
import { test } from 'vitest'
import { memory } from '../conformance/targets.ts'
import {
  anyDeepJournalBatches,
  anyJournalBatches,
  anyJournalBatchesInJumpingTime,
  anyJournalSequence,
} from '../properties/journal-sequences.ts'
import { runs } from '../properties/random-runs.ts'
import { anyLogReading } from './log-reading.ts'
import { SideBySide, oneByOne, together } from './side-by-side.ts'
import { TIME_LIMIT_MS, everyStore, storeNames } from './sides.ts'

const CALL_RUNS = 60
const BATCH_RUNS = 150
const JUMPING_RUNS = 80
const DEEP_RUNS = 12

const everyCall = anyJournalSequence.map((commands) => commands.map((command) => ({ commands: [command], stepMs: 0 })))

test(`call by call, all stores remember and wait alike: ${storeNames}`, async () => {
  await using sides = await SideBySide.open(...everyStore(together))

  await fc.assert(
    fc.asyncProperty(everyCall, anyLogReading, (batches, reading) =>
      sides.compare(batches, { reading, isWalked: true }),
    ),
    runs(CALL_RUNS, TIME_LIMIT_MS),
  )
})

test(`a batch is remembered on every store as its operations are one by one: ${storeNames}`, async () => {
  await using sides = await SideBySide.open({ target: memory, send: oneByOne }, ...everyStore(together))

  await fc.assert(
    fc.asyncProperty(anyJournalBatches, anyLogReading, (batches, reading) => sides.compare(batches, { reading })),
    runs(BATCH_RUNS, TIME_LIMIT_MS),
  )
})

test(`under a clock that jumps forth and back, waits end on all stores alike: ${storeNames}`, async () => {
  await using sides = await SideBySide.open(...everyStore(together))

  await fc.assert(
    fc.asyncProperty(anyJournalBatchesInJumpingTime, (batches) => sides.compare(batches)),
    runs(JUMPING_RUNS, TIME_LIMIT_MS),
  )
})

test(`a journal that is too large for one call is read, swept and removed at the same places on all stores: ${storeNames}`, async () => {
  await using sides = await SideBySide.open(...everyStore(together))

  await fc.assert(
    fc.asyncProperty(anyDeepJournalBatches, (batches) => sides.compare(batches, { isWalked: true })),
    runs(DEEP_RUNS, TIME_LIMIT_MS),
  )
})
