/** Pending cancels of children: which part of the journal is still to be searched for them. */
import type { ChildCancels, Journal } from '../model/journal-schema.ts'
import type { Instant } from '../model/records.ts'

/** Marks all children that were started so far to be cancelled. */
export function oweAllCancels(journal: Journal | undefined, now: Instant): void {
  if ((journal?.childCount ?? 0) === 0 || journal === undefined) return
  journal.childCancels = {
    from: 0,
    allTo: journal.nextPosition,
    to: journal.nextPosition,
    at: journal.childCancels?.at ?? now,
  }
}

/** Marks the losers of decided joins to be cancelled. Pending cancels of other children stay pending. */
export function oweLoserCancels(journal: Journal, now: Instant): void {
  const pending: ChildCancels | undefined = journal.childCancels
  journal.childCancels = {
    from: 0,
    allTo: pending?.allTo ?? 0,
    to: journal.nextPosition,
    at: pending?.at ?? now,
  }
}

/** Returns one search that covers both. */
export function mergeCancels(a: ChildCancels | undefined, b: ChildCancels | undefined): ChildCancels | undefined {
  if (a === undefined || b === undefined) return a ?? b
  return {
    from: Math.min(a.from, b.from),
    allTo: Math.max(a.allTo, b.allTo),
    to: Math.max(a.to, b.to),
    at: Math.min(a.at, b.at),
  }
}
