/** So many executions that every bound is met: of an operation, of a call, of a page. */
import fc from 'fast-check'
import { test } from 'vitest'
import { anyCrowd } from '../properties/commands.ts'
import { runs } from '../properties/random-runs.ts'
import { SideBySide, together } from './side-by-side.ts'
import { TIME_LIMIT_MS, everyStore, storeNames } from './sides.ts'

const RUNS = 40

test(`what is too much for one call stops at the same place on all stores: ${storeNames}`, async () => {
  await using sides = await SideBySide.open(...everyStore(together))

  await fc.assert(
    fc.asyncProperty(anyCrowd, (batches) => sides.compare(batches, { isWalked: true })),
    runs(RUNS, TIME_LIMIT_MS),
  )
})
