import type { DependencyCursor } from '../../kernel/index.ts'
import { RECONCILED_PER_SECOND, countCases, scanner } from '../runner/scanner.ts'
import type { Scanner } from '../runner/scanner.ts'

/** The most pages of one pass. The next pass continues at its cursor, so that no partition delays the others. */
const PAGES_PER_PASS = 100

/** Re-evaluates every blocked member from its edges, repairs members that wait in vain and logs them. Expected to find nothing. */
export const dependencyReconciler: Scanner<'dependency_reconciler', DependencyCursor> = scanner({
  name: 'dependency_reconciler',
  isDivided: true,
  everyMs: 30_000,
  continues: 'next_cycle',
  stepsPerPass: PAGES_PER_PASS,
  examinedPerSecond: RECONCILED_PER_SECOND,
  scan: async (partition, { filter, skip, from, log }) => {
    const page = await partition.run('reconcileDependencies', { filter, skip, cursor: from })
    for (const { problem, executionId } of page.repaired) {
      log.warn(
        { partition: partition.name, problem, executionId },
        'repaired a blocked member whose dependencies were already resolved',
      )
    }
    return {
      counts: countCases(page.repaired.map(({ problem }) => problem)),
      items: page.repaired.map(({ executionId }) => executionId),
      examined: page.examined,
      next: page.cursor,
    }
  },
})
