import type { DependencyCursor } from '../../kernel/index.ts'
import { countCases, scanner } from '../runner/scanner.ts'
import type { Scanner } from '../runner/scanner.ts'

/** Pages that one pass looks at; the next pass goes on where this one stopped, so that nobody waits behind many others. */
const PAGES_PER_PASS = 100

/** Judges every blocked member of every lane again from its edges, sets right what waits in vain and says which. Expected to find nothing. */
export const dependencyReconciler: Scanner<'dependency_reconciler', DependencyCursor> = scanner({
  name: 'dependency_reconciler',
  everyMs: 30_000,
  goesOn: 'next_cycle',
  stepsPerPass: PAGES_PER_PASS,
  scan: async (partition, { filter, skip, from, log }) => {
    const page = await partition.run('reconcileDependencies', { filter, skip, cursor: from })
    for (const { problem, executionId } of page.repaired) {
      log.warn(
        { partition: partition.name, problem, executionId },
        'a member waited for what had happened already, and has been moved on',
      )
    }
    return {
      counts: countCases(page.repaired.map(({ problem }) => problem)),
      items: page.repaired.map(({ executionId }) => executionId),
      next: page.cursor,
    }
  },
})
