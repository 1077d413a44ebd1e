import { DUE_SCAN_COUNT } from '../../kernel/index.ts'
import type { Position } from '../../kernel/index.ts'
import { siblingCancelsDispatched } from './flow-metrics.ts'
import { planBudgets } from './budget-planner.ts'
import { wakeBudgets } from './budget-waker.ts'
import { planSchedules } from './schedule-planner.ts'
import { countCases, scanner } from '../runner/scanner.ts'
import type { Scanner } from '../runner/scanner.ts'

/**
 * Runs the timers: ends delays, sleeps and waits, expires leases, attempts, deadlines and graces. Work of a flow or a
 * replay that exceeded the bound of an operation is due immediately. Each case is counted under its own name. The
 * interval is only a safety net for missed wake-ups.
 */
export const due: Scanner<'due', Position> = scanner({
  name: 'due',
  families: ['fp', 'q', 'm'],
  isDivided: true,
  everyMs: 5_000,
  followsTimers: true,
  counters: { edge_cancel_dispatcher: { counter: siblingCancelsDispatched, labels: {} } },
  scan: async (partition, { filter, skip, from, seed }) => {
    const pass = await partition.run('runDue', {
      limit: DUE_SCAN_COUNT,
      family: partition.family,
      filter,
      skip,
      from,
      seed,
    })
    return {
      counts: countCases(pass.handled.map((item) => item.case)),
      items: pass.handled.map((item) => item.executionId),
      next: pass.next,
      nextDueAt: pass.nextDueAt,
      at: pass.at,
      lagMs: pass.oldestDueAt === undefined ? 0 : pass.at - pass.oldestDueAt,
      afterwards: async () => {
        await planSchedules(partition, pass.handled)
        await planBudgets(partition, pass.handled)
        await wakeBudgets(partition, pass.handled)
      },
    }
  },
})
