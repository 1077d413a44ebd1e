/** The order between queues that cannot be compared: one is ordered by age, and each other one by turns of its own. */
import type { Execution } from '../model/records.ts'

/** One of the lists, and how many of its executions were taken. */
interface Turns {
  readonly place: number
  readonly list: readonly Execution[]
  taken: number
}

/** The execution that is next, and its list. */
interface Next {
  readonly turns: Turns
  readonly execution: Execution
}

/**
 * Merges the first executions of several lists. Priorities hold between the lists. Within one priority the lists alternate, beginning
 * with one that the seed decides.
 */
export function takeAlternately(lists: readonly (readonly Execution[])[], count: number, seed: number): Execution[] {
  const all = lists.map((list, place): Turns => ({ place, list, taken: 0 }))
  const merged: Execution[] = []
  let first = seed % lists.length
  while (merged.length < count) {
    const next = nextOf(all, first)
    if (next === undefined) break
    merged.push(next.execution)
    next.turns.taken += 1
    first = next.turns.place + 1
  }
  return merged
}

/** Returns the next execution of the highest priority, from the first list that has one, beginning with `first`. */
function nextOf(all: readonly Turns[], first: number): Next | undefined {
  let best: Next | undefined = undefined
  for (const turns of [...all.slice(first), ...all.slice(0, first)]) {
    const execution = turns.list[turns.taken]
    if (execution === undefined || (best !== undefined && execution.priority <= best.execution.priority)) continue
    best = { turns, execution }
  }
  return best
}
