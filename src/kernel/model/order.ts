/** The order of every index: by score, then by id. Ids are ASCII, so all stores order them by bytes. */
export interface Keyed {
  readonly score: number
  readonly id: string
}

export function compareKeyed(a: Keyed, b: Keyed): number {
  return a.score - b.score || (a.id < b.id ? -1 : a.id > b.id ? 1 : 0)
}

/** Merges sorted lists into the first `limit` items of their union. */
export function mergeOrdered<T extends Keyed>(lists: readonly T[][], limit: number): T[] {
  /** How many items of each list are merged; none at first. */
  const heads: number[] = []
  const merged: T[] = []
  while (merged.length < limit) {
    let best: T | undefined = undefined
    let bestList = 0
    for (let i = 0; i < lists.length; i++) {
      const candidate = lists[i]?.[heads[i] ?? 0]
      if (candidate !== undefined && (best === undefined || compareKeyed(candidate, best) < 0)) {
        best = candidate
        bestList = i
      }
    }
    if (best === undefined) break
    merged.push(best)
    heads[bestList] = (heads[bestList] ?? 0) + 1
  }
  return merged
}

export interface IndexEntry {
  readonly index: string
  readonly score: number
  readonly id: string
}

/** A position in an index, ordered by score, then by id. With an id, a range begins just after that entry. */
export interface Position {
  readonly score: number
  readonly id?: string | undefined
}

export function idsOf(entries: readonly IndexEntry[]): string[] {
  const ids: string[] = []
  for (const entry of entries) ids.push(entry.id)
  return ids
}
