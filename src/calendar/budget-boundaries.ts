/** The boundaries of budgets: the instants at which they begin anew. */
import { BUDGET_PERIOD_MIN_MS } from '../kernel/index.ts'
import type { BudgetPeriod, Instant, ScheduleTiming } from '../kernel/index.ts'
import { boundariesAfter } from './boundaries.ts'

/** Returns up to `count` boundaries after an instant. Throws if the expression is not valid, or has them too close together. */
export function budgetBoundaries({ cron, timeZone }: BudgetPeriod, after: Instant, count: number): Instant[] {
  const timing: ScheduleTiming = { ...EMPTY, cron, timeZone }
  const found = boundariesAfter(timing, after, count)
  for (const [i, at] of found.entries()) {
    if (i > 0 && at - (found[i - 1] ?? 0) < BUDGET_PERIOD_MIN_MS) {
      throw new RangeError(`a period is at least ${BUDGET_PERIOD_MIN_MS / 1_000} seconds long`)
    }
  }
  return found
}

const EMPTY: ScheduleTiming = {
  cron: undefined,
  timeZone: undefined,
  everyMs: undefined,
  originAt: undefined,
  jitterMs: 0,
  fromAt: undefined,
  untilAt: undefined,
}
