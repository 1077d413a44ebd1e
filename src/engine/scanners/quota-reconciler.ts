import type { LimitCursor, LimitProblem } from '../../kernel/index.ts'
import { countCases, scanner } from '../runner/scanner.ts'
import type { Scanner } from '../runner/scanner.ts'

/** The most pages of one pass. The next pass continues at its cursor, so that a limit with many keys delays no other. */
const PAGES_PER_PASS = 100

/** Repairs that mean a fault. The others are the end of what was used or deleted. */
const faults: readonly LimitProblem['problem'][] = ['wrong_count', 'lapsed_holding']

/** Counts the permits of every key of a limit again, corrects and logs counters that differ. Expected to find nothing. */
export const quotaReconciler: Scanner<'quota_reconciler', LimitCursor> = scanner({
  name: 'quota_reconciler',
  families: ['q'],
  isDivided: true,
  everyMs: 30_000,
  continues: 'next_cycle',
  stepsPerPass: PAGES_PER_PASS,
  scan: async (partition, { skip, from, log }) => {
    const page = await partition.run('reconcileLimits', { skip, cursor: from })
    for (const { problem, limit, key } of page.repaired) {
      if (!faults.includes(problem)) continue
      log.warn({ partition: partition.name, problem, limit, key }, 'corrected the usage of a limit')
    }
    return {
      counts: countCases(page.repaired.map(({ problem }) => problem)),
      examined: page.examined,
      next: page.cursor,
    }
  },
})
