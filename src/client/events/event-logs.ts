/** The logs of a store, which cursors and consumers number in the order of `logPartitions`, and which of them may have an event. */
import type { PartitionFamily } from '../../kernel/index.ts'
import { familyOf, logPartitions } from '../../stores/partitions.ts'
import { executionPartition } from '../../stores/store.ts'
import type { Partition, StoreSettings } from '../../stores/store.ts'
import { eventFamilies } from './event-families.ts'
import type { EventFilter } from './event-filter.ts'

/** Types that are in other logs than those of executions and flows. */
const typesElsewhere = new Map<string, PartitionFamily>([
  ...eventFamilies.budgets.map((type) => [type, 'q'] as const),
  ...[...eventFamilies.lanes, ...eventFamilies.workers].map((type) => [type, 'm'] as const),
])

/** Returns the log of a number. */
export function logPartition(settings: StoreSettings, number: number): Partition {
  const partition = logPartitions(settings)[number]
  if (partition === undefined) throw new RangeError(`The store has no log ${number}.`)
  return partition
}

/** Whether a log may have events that match a filter. */
export function mayHave(partition: Partition, filter: EventFilter): boolean {
  const { types, task, lane, tag, executionId, flowId } = filter
  for (const id of [executionId, flowId]) if (id !== undefined && partition !== partitionIn(id)) return false
  const family = familyOf(partition)
  if (family !== 'fp' && tag !== undefined) return false
  if (family === 'm' && task !== undefined) return false
  if (family === 'q' && lane !== undefined) return false
  return types === undefined || types.some((type) => (typesElsewhere.get(type) ?? 'fp') === family)
}

/** Returns the partition that the id of an execution or a flow names. */
function partitionIn(id: string): Partition {
  return executionPartition(Number(/^f?(\d+)-/.exec(id)?.[1]))
}
