import type { Position } from '../../kernel/index.ts'
import { scanner } from '../runner/scanner.ts'
import type { Scanner } from '../runner/scanner.ts'

/** Events of a partition are kept this long … */
export const EVENT_RETENTION_MS = 86_400_000
/** … and at most this many of them. */
export const EVENT_COUNT_MAX = 100_000

/**
 * Removes executions and flows whose retention is over, and events that are too old or too many. Follows no timers: a
 * removal is not urgent, and a page a minute is cheaper than one call for every execution that ends.
 */
export const retentionTrimmer: Scanner<'retention_trimmer', Position> = scanner({
  name: 'retention_trimmer',
  families: ['fp', 'q', 'm'],
  isDivided: true,
  everyMs: 60_000,
  scan: async (partition, { filter, skip, from }) => {
    const purge = await partition.run('purgeExecutions', { filter, skip, from })
    // Tenants share the event log, so it is trimmed regardless of the filter: once, after the last page.
    const trimmed =
      purge.next === undefined ? await partition.trimEvents(purge.at - EVENT_RETENTION_MS, EVENT_COUNT_MAX) : 0
    return {
      counts: {
        execution_purged: purge.purged.length,
        flow_purged: purge.purgedFlows.length,
        event_trimmed: trimmed,
      },
      items: [...purge.purged, ...purge.purgedFlows],
      next: purge.next,
      at: purge.at,
      lagMs: purge.oldestDueAt === undefined ? 0 : purge.at - purge.oldestDueAt,
    }
  },
})
