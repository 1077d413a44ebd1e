import { Link } from '@tanstack/react-router'
import { call } from '../../api/call.ts'
import type { Delivery, Webhook } from '../../api/types.ts'
import { MoreButton, useMorePages } from '../../parts/more-pages.tsx'
import { State } from '../../parts/state.tsx'
import { Text } from '../../parts/text.tsx'
import { Moment } from '../../parts/time.tsx'
import { Loaded, Panel } from '../../parts/views.tsx'
import { RedeliverButton } from './actions.tsx'
import { deliveryStates } from './delivery-states.ts'
import type { DeliveryState } from './delivery-states.ts'

const POLL_MS = 3_000
const DELIVERIES_READ = 50

export function Deliveries({
  webhook,
  state,
}: {
  readonly webhook: Webhook
  readonly state: DeliveryState | undefined
}) {
  const { name, namespace } = webhook
  const query = useMorePages({
    queryKey: ['deliveries', name, namespace, state],
    read: (cursor, signal) =>
      call('listDeliveries', {
        params: { webhook: name },
        query: { namespace, state, cursor, limit: DELIVERIES_READ },
        signal,
      }),
    refetchInterval: POLL_MS,
  })
  return (
    <Panel title="Deliveries">
      <div className="states" role="group" aria-label="State">
        {[undefined, ...deliveryStates].map((each) => (
          <Link
            key={each ?? 'all'}
            from="/webhooks/$name"
            search={({ state: _, ...before }) => (each === undefined ? before : { ...before, state: each })}
            className="chip"
            aria-current={state === each ? 'true' : undefined}
          >
            {each ?? 'All'}
          </Link>
        ))}
      </div>
      <Loaded query={query}>
        {({ pages }) => {
          const items = pages.flatMap((page) => page.items)
          return items.length === 0 ? (
            <p className="muted">There is no such delivery.</p>
          ) : (
            <>
              <DeliveryTable webhook={webhook} items={items} />
              <MoreButton query={query} label="Show earlier deliveries" />
            </>
          )
        }}
      </Loaded>
    </Panel>
  )
}

function DeliveryTable({ webhook, items }: { readonly webhook: Webhook; readonly items: readonly Delivery[] }) {
  return (
    <table>
      <thead>
        <tr>
          <th scope="col">Event</th>
          <th scope="col">State</th>
          <th scope="col" className="number">
            Tries
          </th>
          <th scope="col">Began</th>
          <th scope="col">Result</th>
          <th scope="col">
            <span className="visually-hidden">Actions</span>
          </th>
        </tr>
      </thead>
      <tbody>
        {items.map((delivery) => (
          <tr key={delivery.id}>
            <td>
              <Link to="/executions/$id" params={{ id: delivery.id }}>
                <Text>{delivery.eventType.replaceAll('_', ' ')}</Text>
              </Link>
            </td>
            <td>
              <State state={delivery.state} />
            </td>
            <td className="number">{delivery.attempt}</td>
            <td>
              <Moment at={delivery.createdAt} />
            </td>
            <td>
              <Result delivery={delivery} />
            </td>
            <td>
              <RedeliverButton webhook={webhook} delivery={delivery} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}

function Result({ delivery: { error, retryAt, endedAt } }: { readonly delivery: Delivery }) {
  return (
    <>
      {error !== undefined && <Text>{error}</Text>}
      {retryAt !== undefined && (
        <>
          {' '}
          Tried again <Moment at={retryAt} />
        </>
      )}
      {error === undefined && endedAt !== undefined && (
        <>
          ended <Moment at={endedAt} />
        </>
      )}
    </>
  )
}
