import { useQuery } from '@tanstack/react-query'
import { call } from '../../api/call.ts'
import type { Execution } from '../../api/types.ts'
import { Loaded, Panel, Empty } from '../../parts/views.tsx'
import { WaitpointCard } from '../../parts/waitpoint.tsx'

export function Waits({ execution }: { readonly execution: Execution }) {
  const { id, changedAt, journal } = execution
  const query = useQuery({
    queryKey: ['waitpoints', id, changedAt, journal.signalCount],
    queryFn: ({ signal }) => call('listExecutionWaitpoints', { params: { id }, query: { all: true }, signal }),
    placeholderData: (before) => before,
  })
  return (
    <Panel title="Waitpoints">
      <Loaded query={query}>
        {({ items }) =>
          items.length === 0 ? (
            <Empty title="It has no waitpoint">A handler opens one when it waits for a signal or an approval.</Empty>
          ) : (
            <ul className="cards">
              {items.map((each) => (
                <li key={each.key}>
                  <WaitpointCard waitpoint={each} />
                </li>
              ))}
            </ul>
          )
        }
      </Loaded>
    </Panel>
  )
}
