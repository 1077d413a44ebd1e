/** A list that is read page by page, as far as the person asks. */
import { useInfiniteQuery } from '@tanstack/react-query'

interface AnyPage {
  readonly cursor?: string
}

/** Every read of the list reads all of its pages that are shown. */
const PAGES_MAX = 20

export function useMorePages<Page extends AnyPage>(options: {
  readonly queryKey: readonly unknown[]
  readonly read: (cursor: string | undefined, signal: AbortSignal) => Promise<Page>
  readonly refetchInterval: number
}) {
  const { queryKey, read, refetchInterval } = options
  return useInfiniteQuery({
    queryKey,
    queryFn: ({ pageParam, signal }) => read(pageParam, signal),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page: Page, pages) => (pages.length < PAGES_MAX ? page.cursor : undefined),
    refetchInterval,
  })
}

export function MoreButton(props: {
  readonly query: {
    readonly hasNextPage: boolean
    readonly isFetchingNextPage: boolean
    readonly fetchNextPage: () => unknown
  }
  readonly label: string
}) {
  const { query, label } = props
  if (!query.hasNextPage) return null
  return (
    <p>
      <button type="button" disabled={query.isFetchingNextPage} onClick={() => void query.fetchNextPage()}>
        {label}
      </button>
    </p>
  )
}
