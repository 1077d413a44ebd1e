import { SEPARATOR } from '../../kernel/index.ts'
import type { ReconcileCursor } from '../../kernel/index.ts'
import { RECONCILED_PER_SECOND, countCases, scanner } from '../runner/scanner.ts'
import type { Scanner } from '../runner/scanner.ts'

/** The most pages of one pass. The next pass continues at its cursor, so that a store of any size is covered. */
const PAGES_PER_PASS = 100
/** The most entries that one pass examines in one partition. More would take a noticeable share of a core. */
const ENTRIES_PER_PASS = 2_000

/** Finds records whose index entries differ from the derived ones, repairs and logs them. Expected to find nothing. */
export const indexReconciler: Scanner<'index_reconciler', ReconcileCursor> = scanner({
  name: 'index_reconciler',
  families: ['fp', 'q', 'm'],
  isDivided: true,
  everyMs: 45_000,
  continues: 'next_cycle',
  stepsPerPass: PAGES_PER_PASS,
  examinedPerPass: ENTRIES_PER_PASS,
  examinedPerSecond: RECONCILED_PER_SECOND,
  scan: async (partition, { filter, skip, from, log }) => {
    const page = await partition.run('reconcileIndexes', { family: partition.family, filter, skip, cursor: from })
    for (const { problem, index, id } of page.repaired) {
      log.warn(
        { partition: partition.name, problem, index: index.replaceAll(SEPARATOR, '/'), id },
        'repaired a wrong index entry',
      )
    }
    const counts = countCases(page.repaired.map((entry) => entry.problem))
    return { counts, examined: page.examined, next: page.cursor }
  },
})
