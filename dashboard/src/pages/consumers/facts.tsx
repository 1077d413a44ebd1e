import type { Consumer } from '../../api/types.ts'
import { filterWords } from '../../parts/event-filter.ts'
import { Text } from '../../parts/text.tsx'
import { Moment } from '../../parts/time.tsx'
import { Facts } from '../../parts/views.tsx'

export function ConsumerFacts({ consumer }: { readonly consumer: Consumer }) {
  const { namespace, lagCount, waitingSince, memberCount, handledCount, failure } = consumer
  return (
    <Facts
      facts={[
        ['Lag', `${lagCount.toLocaleString('en')} ${lagCount === 1 ? 'event' : 'events'}`],
        ['Oldest waiting', waitingSince !== undefined && <Moment at={waitingSince} />],
        ['Processes', memberCount === 0 ? 'none consumes' : memberCount],
        ['Handled', handledCount.toLocaleString('en')],
        ['Skipped', consumer.skippedCount > 0 && consumer.skippedCount.toLocaleString('en')],
        ['Missed', consumer.missedCount > 0 && consumer.missedCount.toLocaleString('en')],
        [
          'Fails',
          failure !== undefined && (
            <>
              <Moment at={failure.at} />, try {failure.tryCount}, event {failure.sequence} of partition{' '}
              {failure.partition}: <Text className="wide">{failure.error}</Text>
            </>
          ),
        ],
        ['Events', <Text key="events">{filterWords(consumer)}</Text>],
        ['Namespace', namespace !== 'default' && <Text>{namespace}</Text>],
        ['Began', <Moment at={consumer.createdAt} key="began" />],
        ['Changed', <Moment at={consumer.changedAt} key="changed" />],
      ]}
    />
  )
}
