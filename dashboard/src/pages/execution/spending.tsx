/** What an execution has spent of its budgets, line by line. */
import { useQuery } from '@tanstack/react-query'
import { call } from '../../api/call.ts'
import { Empty, Loaded, Panel } from '../../parts/views.tsx'
import { Ledger } from '../budgets/ledger.tsx'

/** Amounts are spent without an event. */
const POLL_MS = 3_000

export function Spending({ id }: { readonly id: string }) {
  const query = useQuery({
    queryKey: ['spending', id],
    queryFn: ({ signal }) => call('listSpending', { params: { id }, signal }),
    refetchInterval: POLL_MS,
  })
  return (
    <Panel title="Spent of its budgets">
      <Loaded query={query}>
        {({ items }) =>
          items.length === 0 ? (
            <Empty title="It has spent nothing">A handler reports what it takes with ctx.spend or ctx.reserve.</Empty>
          ) : (
            <Ledger lines={items} />
          )
        }
      </Loaded>
    </Panel>
  )
}
