import { gaugeDueAt } from '../../rules/limit-usage.ts'
import type { NamedDueCase } from './due-case.ts'

/** Removes the gauge of a key of which nothing is held and nothing counts. */
export const gaugeIdle: NamedDueCase<'gauge'> = {
  name: 'gauge_idle',
  dueAt: gaugeDueAt,
  run: (tx, gauge) => {
    tx.remove('gauge', gauge.id)
  },
}
