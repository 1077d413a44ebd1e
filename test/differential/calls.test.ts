/**
 * Random sequences of all operations, call by call, on every store at once. A sequence that sets two stores apart is
 * shrunk to a short one and printed with its seed.
 */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { anySequence } from '../properties/commands.ts'
import { holdsForAny, runs } from '../properties/random-runs.ts'
import { anyLogReading } from './log-reading.ts'
import { SideBySide, together } from './side-by-side.ts'
import { everyStore, storeNames } from './sides.ts'

const CALL_RUNS = { same: 50, newForMs: 6_000 }
/** Enough to find a store that differs. */
const RUNS = 250

const everyCall = anySequence.map((commands) => commands.map((command) => ({ commands: [command], stepMs: 0 })))

test(`call by call, all stores answer alike and keep alike: ${storeNames}`, async () => {
  await using sides = await SideBySide.open(...everyStore(together))

  await holdsForAny([everyCall, anyLogReading], (batches, reading) => sides.compare(batches, { reading }), CALL_RUNS)
})

test('stores that differ are distinguished', async () => {
  const [first, second] = everyStore(together)
  const forgetful = { ...second!, target: { ...second!.target, name: 'a store that purges before each call' } }
  await using sides = await SideBySide.open(first, {
    ...forgetful,
    send: async (store, partition, calls) => {
      await store.run(partition, [{ operation: 'purgeExecutions', input: {}, blobs: [] }])
      return store.run(partition, calls)
    },
  })

  const failure = await fc
    .assert(
      fc.asyncProperty(everyCall, (batches) => sides.compare(batches)),
      runs(RUNS),
    )
    .catch((error: unknown) => error)

  expect(String(failure)).toMatch(/seed: .*Counterexample: .*Shrunk /s)
  expect(String((failure as Error).cause)).toContain('on a store that purges before each call, as on memory')
})
