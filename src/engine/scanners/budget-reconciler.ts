import type { BudgetCursor } from '../../kernel/index.ts'
import { countCases, scanner } from '../runner/scanner.ts'
import type { Scanner } from '../runner/scanner.ts'

/** The most pages of one pass. The next pass continues at its cursor, so that a budget with many keys delays no other. */
const PAGES_PER_PASS = 200

/** Adds up the ledger and the reservations of every key of a budget again, corrects and logs sums that differ. Expected to find nothing. */
export const budgetReconciler: Scanner<'budget_reconciler', BudgetCursor> = scanner({
  name: 'budget_reconciler',
  families: ['q'],
  isDivided: true,
  everyMs: 30_000,
  continues: 'next_cycle',
  stepsPerPass: PAGES_PER_PASS,
  scan: async (partition, { skip, from, log }) => {
    const page = await partition.run('reconcileBudgets', { skip, cursor: from })
    for (const { problem, name, key } of page.repaired) {
      log.warn({ partition: partition.name, problem, budget: name, key }, 'corrected the sums of a budget')
    }
    return {
      counts: countCases(page.repaired.map(({ problem }) => problem)),
      examined: page.examined,
      next: page.cursor,
    }
  },
})
