import { DUE_SCAN_COUNT } from '../../kernel/index.ts'
import type { Position } from '../../kernel/index.ts'
import { siblingCancelsDispatched } from './flow-metrics.ts'
import { countCases, scanner } from '../runner/scanner.ts'
import type { Scanner } from '../runner/scanner.ts'

/**
 * Does what time alone brings about: delays, sleeps and waits end, leases and attempts run out, deadlines and graces pass.
 * What a flow or a replay was left to do by an operation that had no room for more is due at once. Each case is counted
 * under its own name. The interval is only the net for wake-ups that were missed.
 */
export const due: Scanner<'due', Position> = scanner({
  name: 'due',
  everyMs: 5_000,
  followsTimers: true,
  counters: { edge_cancel_dispatcher: { counter: siblingCancelsDispatched, labels: {} } },
  scan: async (partition, { filter, skip, from, seed }) => {
    const pass = await partition.run('runDue', { limit: DUE_SCAN_COUNT, filter, skip, from, seed })
    return {
      counts: countCases(pass.handled.map((item) => item.case)),
      items: pass.handled.map((item) => item.executionId),
      next: pass.next,
      nextDueAt: pass.nextDueAt,
      at: pass.at,
      lagMs: pass.oldestDueAt === undefined ? 0 : pass.at - pass.oldestDueAt,
    }
  },
})
