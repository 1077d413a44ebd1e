/**
 * A list of any length in pages of the server. Only the cursors of all pages are kept; the rows of pages that are out of sight are
 * forgotten and read again when they come back, so scrolling takes a bounded amount of memory.
 */
import { useQueries } from '@tanstack/react-query'
import { useCallback, useEffect, useState } from 'react'

export interface RowPage<Row> {
  readonly items: readonly Row[]
  readonly cursor?: string
}

interface PagePlace {
  readonly cursor: string | undefined
  /** How many rows it had when it was read. */
  readonly count: number
  readonly next: string | undefined
}

export interface PagedRows<Row> {
  readonly count: number
  readonly isWhole: boolean
  readonly error: Error | null
  /** Nothing was read yet. */
  readonly isLoading: boolean
  readonly rowAt: (index: number) => Row | undefined
  /** Reads what is in sight again; from the beginning of the list if that is in sight. */
  readonly refresh: () => void
}

/** Pages that are out of sight stay for a while, for scrolling to and fro. */
const KEPT_MS = 15_000
/** Rows that are assumed for a page before it is read. */
const UNKNOWN_ROWS = 1

export function usePagedRows<Row>(options: {
  readonly key: readonly unknown[]
  readonly read: (cursor: string | undefined, signal: AbortSignal) => Promise<RowPage<Row>>
  /** The first and the last row in sight. */
  readonly range: readonly [first: number, last: number]
}): PagedRows<Row> {
  const { key, read, range } = options
  const listKey = JSON.stringify(key)
  const [list, setList] = useState<{ readonly key: string; readonly places: readonly PagePlace[] }>({
    key: listKey,
    places: [],
  })
  const places = list.key === listKey ? list.places : []
  const starts: number[] = []
  let count = 0
  for (const place of places) {
    starts.push(count)
    count += place.count
  }
  const last = places.at(-1)
  const isWhole = last !== undefined && last.next === undefined
  const wanted = places.flatMap((place, i) => {
    const start = starts[i] ?? 0
    return start <= range[1] && start + Math.max(place.count, 1) > range[0] ? [i] : []
  })
  if (!isWhole && range[1] >= count - 1) wanted.push(places.length)

  const cursorOf = (page: number) => (page === 0 ? undefined : (places[page]?.cursor ?? places[page - 1]?.next))
  const pages = useQueries({
    queries: wanted.map((page) => ({
      queryKey: [...key, 'page', cursorOf(page) ?? 'first'],
      queryFn: ({ signal }: { signal: AbortSignal }) => read(cursorOf(page), signal),
      gcTime: KEPT_MS,
    })),
  })

  const readPages = wanted.map((page, i) => ({ page, data: pages[i]?.data }))
  const summary = readPages.map(({ page, data }) => `${page}:${data?.items.length}:${data?.cursor}`).join('|')
  useEffect(() => {
    setList((before) => {
      const known = before.key === listKey ? [...before.places] : []
      let isChanged = before.key !== listKey
      for (const { page, data } of readPages) {
        if (data === undefined || page > known.length) continue
        const place = { cursor: cursorOf(page), count: data.items.length, next: data.cursor }
        const old = known[page]
        if (old?.count === place.count && old.next === place.next) continue
        known[page] = place
        // The pages after one that has moved would leave a gap or repeat rows.
        if (old !== undefined && old.next !== place.next) known.length = page + 1
        isChanged = true
      }
      return isChanged ? { key: listKey, places: known } : before
    })
    // The summary stands for the pages that were read.
  }, [summary, listKey])

  const rowAt = (index: number): Row | undefined => {
    for (const { page, data } of readPages) {
      const start = starts[page] ?? count
      const row = data?.items[index - start]
      if (row !== undefined && index >= start) return row
    }
    return undefined
  }
  const refresh = useCallback(() => {
    for (const page of pages) void page.refetch()
  }, [pages])
  return {
    count: isWhole ? count : count + UNKNOWN_ROWS,
    isWhole,
    error: pages.find((page) => page.error !== null)?.error ?? null,
    isLoading: places.length === 0 && pages.every((page) => page.data === undefined),
    rowAt,
    refresh,
  }
}
