/** The order between queues that cannot be compared: one is ordered by age, and each other one by turns of its own. */
import type { Execution } from '../model/records.ts'

/**
 * Merges the first executions of several lists. Priorities hold between the lists. Within one priority the lists alternate, beginning
 * with one that the seed decides.
 */
export function takeAlternately(lists: readonly (readonly Execution[])[], count: number, seed: number): Execution[] {
  const taken = lists.map(() => 0)
  const merged: Execution[] = []
  let first = lists.length === 0 ? 0 : seed % lists.length
  while (merged.length < count) {
    const best = bestOf(lists, taken, first)
    const next = best === undefined ? undefined : lists[best]?.[taken[best] ?? 0]
    if (best === undefined || next === undefined) break
    merged.push(next)
    taken[best] = (taken[best] ?? 0) + 1
    first = (best + 1) % lists.length
  }
  return merged
}

/** Returns the list whose next execution has the highest priority: the first such list from `first` on. */
function bestOf(lists: readonly (readonly Execution[])[], taken: readonly number[], first: number): number | undefined {
  let best: number | undefined = undefined
  let highest = -1
  for (let step = 0; step < lists.length; step++) {
    const i = (first + step) % lists.length
    const next = lists[i]?.[taken[i] ?? 0]
    if (next === undefined || next.priority <= highest) continue
    best = i
    highest = next.priority
  }
  return best
}
