import type { AccountName, BudgetCursor } from '../../kernel/index.ts'
import { SPENDER_ACCOUNT_MAX } from '../../kernel/index.ts'
import { countCases, scanner } from '../runner/scanner.ts'
import type { Scanner } from '../runner/scanner.ts'
import { beginWalk, retireSome, walkOn } from './account-retirement.ts'
import type { SpenderWalk } from './account-retirement.ts'

/** The most pages of one pass. The next pass continues at its cursor, so that a budget with many keys delays no other. */
const PAGES_PER_PASS = 200

/** The progress of a pass over the accounts, with idle ones of executions that were found, until they are looked for. */
export interface ReconcilerCursor {
  readonly page: BudgetCursor | undefined
  readonly idle: readonly AccountName[]
  readonly walk?: SpenderWalk | undefined
}

/** Adds up the ledger and the reservations of every key of a budget again, corrects and logs sums that differ. Expected to find nothing. */
export const budgetReconciler: Scanner<'budget_reconciler', ReconcilerCursor> = scanner({
  name: 'budget_reconciler',
  families: ['q'],
  isDivided: true,
  everyMs: 30_000,
  continues: 'next_cycle',
  stepsPerPass: PAGES_PER_PASS,
  scan: async (partition, { skip, from, log }) => {
    if (from?.walk !== undefined) {
      const { walk, examined } = await walkOn(partition, from.walk)
      if (walk.left.length > 0) return { counts: {}, examined, next: { ...from, walk } }
      const removed = await retireSome(partition, walk)
      const next = from.page === undefined ? undefined : { page: from.page, idle: [] }
      return { counts: countCases(removed.map(() => 'account_retired')), examined, next }
    }
    const page = await partition.run('reconcileBudgets', { skip, cursor: from?.page })
    for (const { problem, name, key } of page.repaired) {
      log.warn({ partition: partition.name, problem, budget: name, key }, 'corrected the sums of a budget')
    }
    const counts = countCases(page.repaired.map(({ problem }) => problem))
    const idle = [...(from?.idle ?? []), ...page.idle]
    const isLast = page.cursor === undefined
    const looks = idle.length >= SPENDER_ACCOUNT_MAX || (isLast && idle.length > 0)
    const walk = looks ? beginWalk(partition, idle) : undefined
    const next = isLast && walk === undefined ? undefined : { page: page.cursor, idle, walk }
    return { counts, examined: page.examined, next }
  },
})
