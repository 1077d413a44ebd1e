import { useQuery } from '@tanstack/react-query'
import { useParams, useSearch } from '@tanstack/react-router'
import { call } from '../api/call.ts'
import type { ConsumerDescription } from '../api/types.ts'
import { Text } from '../parts/text.tsx'
import { Loaded, Page, Panel } from '../parts/views.tsx'
import { ConsumerActions } from './consumers/actions.tsx'
import { ConsumerFacts } from './consumers/facts.tsx'

/** Positions move without an event. */
const POLL_MS = 3_000

export function ConsumerPage() {
  const { name } = useParams({ from: '/consumers/$name' })
  const { namespace } = useSearch({ from: '/consumers/$name' })
  const query = useQuery({
    queryKey: ['consumer', name, namespace],
    queryFn: ({ signal }) => call('describeConsumer', { params: { consumer: name }, query: { namespace }, signal }),
    refetchInterval: POLL_MS,
  })
  return (
    <Loaded query={query}>
      {(consumer) => (
        <Page title={<Text>{consumer.name}</Text>} actions={<ConsumerActions consumer={consumer} />}>
          <Panel title="Facts">
            <ConsumerFacts consumer={consumer} />
          </Panel>
          <Panel title="Partitions">
            <Partitions partitions={consumer.partitions} />
          </Panel>
        </Page>
      )}
    </Loaded>
  )
}

function Partitions({ partitions }: Pick<ConsumerDescription, 'partitions'>) {
  return (
    <table>
      <thead>
        <tr>
          <th scope="col" className="number">
            Partition
          </th>
          <th scope="col" className="number">
            Position
          </th>
          <th scope="col" className="number">
            Lag
          </th>
          <th scope="col">Process</th>
        </tr>
      </thead>
      <tbody>
        {partitions.map(({ partition, position, lagCount, memberId }) => (
          <tr key={partition}>
            <td className="number">{partition}</td>
            <td className="number">{position.toLocaleString('en')}</td>
            <td className="number">{lagCount.toLocaleString('en')}</td>
            <td>{memberId === undefined ? <span className="muted">none</span> : <Text>{memberId}</Text>}</td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}
