/** Random sequences of steps, waits, waitpoints and signals on every store at once: call by call, in batches, under a clock that jumps. */
import { test } from 'vitest'
import { memory } from '../conformance/targets.ts'
import {
  anyDeepJournalBatches,
  anyJournalBatches,
  anyJournalBatchesInJumpingTime,
  anyJournalSequence,
} from '../properties/journal-sequences.ts'
import { holdsForAny } from '../properties/random-runs.ts'
import { anyLogReading } from './log-reading.ts'
import { SideBySide, oneByOne, together } from './side-by-side.ts'
import { everyStore, storeNames } from './sides.ts'

const CALL_RUNS = { same: 12, newForMs: 5_000 }
const BATCH_RUNS = { same: 30, newForMs: 5_000 }
const JUMPING_RUNS = { same: 16, newForMs: 5_000 }
const DEEP_RUNS = { same: 3, newForMs: 5_000 }

const everyCall = anyJournalSequence.map((commands) => commands.map((command) => ({ commands: [command], stepMs: 0 })))

test(`call by call, all stores remember and wait alike: ${storeNames}`, async () => {
  await using sides = await SideBySide.open(...everyStore(together))

  await holdsForAny(
    [everyCall, anyLogReading],
    (batches, reading) => sides.compare(batches, { reading, isWalked: true }),
    CALL_RUNS,
  )
})

test(`a batch is remembered on every store as its operations are one by one: ${storeNames}`, async () => {
  await using sides = await SideBySide.open({ target: memory, send: oneByOne }, ...everyStore(together))

  await holdsForAny(
    [anyJournalBatches, anyLogReading],
    (batches, reading) => sides.compare(batches, { reading }),
    BATCH_RUNS,
  )
})

test(`under a clock that jumps forth and back, waits end on all stores alike: ${storeNames}`, async () => {
  await using sides = await SideBySide.open(...everyStore(together))

  await holdsForAny([anyJournalBatchesInJumpingTime], (batches) => sides.compare(batches), JUMPING_RUNS)
})

test(`a journal that is too large for one call is read, swept and removed at the same places on all stores: ${storeNames}`, async () => {
  await using sides = await SideBySide.open(...everyStore(together))

  await holdsForAny([anyDeepJournalBatches], (batches) => sides.compare(batches, { isWalked: true }), DEEP_RUNS)
})
