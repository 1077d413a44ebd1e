/** Orders the reports of a call whose parts were applied by several runs. */
import type { Instant } from '../model/base-records.ts'

/** What was done to one record, and when it was due. */
interface Report {
  readonly dueAt: Instant | undefined
  /** The record, if several may be due at one time in any order. */
  readonly executionId?: string | undefined
}

/** Merges the reports of earlier runs of a call, earliest first, as if one run had done it all. */
export function inDueOrder<R extends Report>(reports: R[], applied: readonly R[] | undefined): R[] {
  if (applied === undefined) return reports
  return [...applied, ...reports].sort(
    (a, b) => (a.dueAt ?? 0) - (b.dueAt ?? 0) || compareIds(a.executionId ?? '', b.executionId ?? ''),
  )
}

function compareIds(a: string, b: string): number {
  if (a === b) return 0
  return a < b ? -1 : 1
}
