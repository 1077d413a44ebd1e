/** Consumers of events as text. */
import type { ConsumerDescription, ConsumerSummary } from '../../client/index.ts'
import { firstLine, printable } from './printable.ts'
import { table } from './table.ts'
import { isoTime } from './time-text.ts'

/** Which events it gets. */
export function filterText({ filter }: Pick<ConsumerSummary, 'filter'>): string {
  const { types, namespace, task, lane, tag } = filter
  const parts = [
    types === undefined ? undefined : `type=${types.join(',')}`,
    namespace === undefined ? undefined : `namespace=${namespace}`,
    task === undefined ? undefined : `task=${task}`,
    lane === undefined ? undefined : `lane=${lane}`,
    tag === undefined ? undefined : `tag=${tag.name}:${tag.value}`,
  ].filter((part) => part !== undefined)
  return parts.length === 0 ? 'all events' : firstLine(parts.join(' '))
}

export function consumerText(consumer: ConsumerDescription): string {
  const { failure, waitingSince, partitions } = consumer
  const rows: (readonly [string, string | undefined])[] = [
    ['consumer', consumer.name],
    ['filter', filterText(consumer)],
    ['lag', `${consumer.lagCount} events`],
    ['waiting since', waitingSince === undefined ? undefined : isoTime(waitingSince)],
    ['processes', String(consumer.memberCount)],
    ['handled', String(consumer.handledCount)],
    ['skipped', String(consumer.skippedCount)],
    ['missed', String(consumer.missedCount)],
    ['failing', failure && `event ${failure.sequence} of partition ${failure.partition}, try ${failure.tryCount}`],
    ['error', failure && firstLine(failure.error)],
  ]
  const facts = rows.flatMap(([name, value]) => (value === undefined ? [] : [[name, printable(value)]]))
  const places = partitions.map(({ partition, position, lagCount, memberId }) => [
    String(partition),
    String(position),
    String(lagCount),
    memberId ?? '',
  ])
  return [
    table(facts),
    '',
    table([['PARTITION', 'POSITION', 'LAG', 'PROCESS'], ...places], { alignRight: [0, 1, 2] }),
  ].join('\n')
}
