/** Estimates what a key of a budget will have spent at the end of its period. */
import type { Instant } from '../../kernel/index.ts'

/** The most that spending is multiplied by: before a twentieth of the period has passed, no rate is known. */
const FACTOR_MAX = 20
/** How much each report adds to the factor that is believed: the error of a rate falls with the number of reports. */
const FACTOR_PER_REPORT = 2

interface Period {
  readonly since: Instant
  readonly at: Instant
  readonly until: Instant
}

/** Continues the rate since the period began. Undefined while so little is known that a single report would decide. */
export function forecastOf(spent: number, reportCount: number, { since, at, until }: Period): number | undefined {
  const passed = at - since
  const factor = Math.max(1, (until - since) / Math.max(1, passed))
  if (factor > Math.min(FACTOR_MAX, FACTOR_PER_REPORT * Math.max(1, reportCount))) return undefined
  return Math.round(spent * factor)
}
