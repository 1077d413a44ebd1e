/** Orders the reports of a call whose parts were applied by several runs. */
import type { Instant } from '../model/base-records.ts'

/** Merges the reports of earlier runs of a call, earliest first, as if one run had done it all. */
export function inDueOrder<R extends { readonly dueAt: Instant | undefined }>(
  reports: R[],
  applied: readonly R[] | undefined,
): R[] {
  if (applied === undefined) return reports
  return [...applied, ...reports].sort((a, b) => (a.dueAt ?? 0) - (b.dueAt ?? 0))
}
