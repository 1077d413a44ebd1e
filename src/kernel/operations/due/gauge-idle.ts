import { WAKE_DELIVERY_MS } from '../../limits.ts'
import { gaugeDueAt } from '../../rules/limit-usage.ts'
import type { NamedDueCase } from './due-case.ts'

/**
 * Removes the gauge of a key of which nothing is held and nothing counts. The report of one with wakes that no process has confirmed asks
 * the engine to deliver them.
 */
export const gaugeIdle: NamedDueCase<'gauge'> = {
  name: 'gauge_idle',
  dueAt: gaugeDueAt,
  run: (tx, gauge) => {
    if (gauge.wakeAt === undefined) {
      tx.remove('gauge', gauge.id)
      return
    }
    gauge.wakeAt = tx.now + WAKE_DELIVERY_MS
    tx.put(gauge)
  },
  outcomeOf: ({ wakeAt }) => ({ name: wakeAt === undefined ? 'gauge_idle' : 'wake_delivery', isStillDue: false }),
}
