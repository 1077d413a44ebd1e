import { useInfiniteQuery } from '@tanstack/react-query'
import { call } from '../api/call.ts'
import { isOfWaitpoint } from '../api/events.ts'
import { useLive } from '../api/live.ts'
import { Empty, Loaded, Page } from '../parts/views.tsx'
import { WaitpointCard } from '../parts/waitpoint.tsx'

export function ApprovalsPage() {
  const query = useInfiniteQuery({
    queryKey: ['waitpoints'],
    queryFn: ({ pageParam, signal }) => call('listWaitpoints', { query: { cursor: pageParam, limit: 50 }, signal }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (last) => last.cursor,
  })
  useLive(isOfWaitpoint, () => void query.refetch())
  return (
    <Page title="Approvals">
      <p className="lead">What waits for an answer, the longest open first.</p>
      <Loaded query={query}>
        {({ pages }) => {
          const items = pages.flatMap((page) => page.items)
          if (items.length === 0) return <Empty title="Nothing waits for an answer" />
          return (
            <ul className="cards">
              {items.map((each) => (
                <li key={`${each.executionId} ${each.key}`} className="panel">
                  <WaitpointCard waitpoint={each} isLinked />
                </li>
              ))}
            </ul>
          )
        }}
      </Loaded>
      {query.hasNextPage && (
        <button type="button" onClick={() => void query.fetchNextPage()} disabled={query.isFetching}>
          Show more
        </button>
      )}
    </Page>
  )
}
