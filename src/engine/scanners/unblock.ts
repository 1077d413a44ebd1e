import type { BlockedCursor } from '../../kernel/index.ts'
import { RECONCILED_PER_SECOND, countCases, scanner } from '../runner/scanner.ts'
import type { Scanner } from '../runner/scanner.ts'

/** The most pages of one pass. The next pass continues at its cursor, so that no lane delays the others. */
const PAGES_PER_PASS = 100

/**
 * Checks that every execution which a limit blocks will be released, repairs those that would wait for ever and logs them.
 * Expected to find nothing: a release of permits opens the gate, or else the due pass does at its time.
 */
export const unblock: Scanner<'unblock', BlockedCursor> = scanner({
  name: 'unblock',
  isDivided: true,
  everyMs: 30_000,
  continues: 'next_cycle',
  stepsPerPass: PAGES_PER_PASS,
  examinedPerSecond: RECONCILED_PER_SECOND,
  scan: async (partition, { filter, skip, from, log }) => {
    const page = await partition.run('reconcileBlocked', { filter, skip, cursor: from })
    for (const { problem, executionId } of page.repaired) {
      log.warn(
        { partition: partition.name, problem, executionId },
        'repaired an execution that a limit blocked and nothing would have released',
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
