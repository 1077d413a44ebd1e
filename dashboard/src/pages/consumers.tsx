import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { call } from '../api/call.ts'
import type { Consumer } from '../api/types.ts'
import { Text } from '../parts/text.tsx'
import { Empty, Loaded, Page, Panel } from '../parts/views.tsx'
import { ConsumerActions } from './consumers/actions.tsx'
import { ConsumerFacts } from './consumers/facts.tsx'

/** Positions move without an event. */
const POLL_MS = 3_000

export function ConsumersPage() {
  const query = useQuery({
    queryKey: ['consumers'],
    queryFn: ({ signal }) => call('listConsumers', { signal }),
    refetchInterval: POLL_MS,
  })
  return (
    <Page title="Consumers">
      <Loaded query={query}>
        {({ items }) =>
          items.length === 0 ? (
            <Empty title="There is no consumer">A program begins one with fabric.consume(name, filter, handle).</Empty>
          ) : (
            items.map((consumer) => (
              <ConsumerPanel key={`${consumer.namespace}/${consumer.name}`} consumer={consumer} />
            ))
          )
        }
      </Loaded>
    </Page>
  )
}

function ConsumerPanel({ consumer }: { readonly consumer: Consumer }) {
  const { name, namespace } = consumer
  return (
    <Panel
      title={
        <Link to="/consumers/$name" params={{ name }} search={{ namespace }}>
          <Text>{name}</Text>
        </Link>
      }
      aside={<ConsumerActions consumer={consumer} />}
    >
      <ConsumerFacts consumer={consumer} />
    </Panel>
  )
}
