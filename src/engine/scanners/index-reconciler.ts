import { SEPARATOR } from '../../kernel/index.ts'
import type { ReconcileCursor } from '../../kernel/index.ts'
import { countCases, scanner } from '../runner/scanner.ts'
import type { Scanner } from '../runner/scanner.ts'

/** Pages that one pass looks at; the next pass goes on where this one stopped, so that any store is walked in the end. */
const PAGES_PER_PASS = 100
/** Entries that one pass looks at in one partition. Many more would take a noticeable share of a core from other work. */
const ENTRIES_PER_PASS = 2_000

/** Finds records whose index entries differ from what their state derives, repairs them and says which. Expected to find nothing. */
export const indexReconciler: Scanner<'index_reconciler', ReconcileCursor> = scanner({
  name: 'index_reconciler',
  everyMs: 45_000,
  goesOn: 'next_cycle',
  stepsPerPass: PAGES_PER_PASS,
  examinedPerPass: ENTRIES_PER_PASS,
  scan: async (partition, { filter, skip, from, log }) => {
    const page = await partition.run('reconcileIndexes', { filter, skip, cursor: from })
    for (const { problem, index, id } of page.repaired) {
      log.warn(
        { partition: partition.name, problem, index: index.replaceAll(SEPARATOR, '/'), id },
        'an index entry was wrong and has been repaired',
      )
    }
    const counts = countCases(page.repaired.map((entry) => entry.problem))
    return { counts, examined: page.examined, next: page.cursor }
  },
})
