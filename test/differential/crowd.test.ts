/** So many executions that every bound is met: of an operation, of a call, of a page. */
import { test } from 'vitest'
import { anyCrowd } from '../properties/commands.ts'
import { holdsForAny } from '../properties/random-runs.ts'
import { SideBySide, together } from './side-by-side.ts'
import { everyStore, storeNames } from './sides.ts'

const RUNS = { same: 5, newForMs: 6_000 }

test(`what is too much for one call stops at the same place on all stores: ${storeNames}`, async () => {
  await using sides = await SideBySide.open(...everyStore(together))

  await holdsForAny([anyCrowd], (batches) => sides.compare(batches, { isWalked: true }), RUNS)
})
