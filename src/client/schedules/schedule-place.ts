/** Where a schedule is stored: in the execution partition that follows from its namespace and name. */
import { scheduleId } from '../../kernel/index.ts'
import { derivedUuid } from '../../runtime/index.ts'
import { ADMISSION_LEVEL, levelTooLow } from '../../stores/level/store-level.ts'
import { executionPartition } from '../../stores/store.ts'
import type { Partition } from '../../stores/store.ts'
import type { Session } from '../session.ts'

export interface SchedulePlace {
  readonly scheduleId: string
  /** The number of the partition. */
  readonly number: number
  readonly partition: Partition
}

export function placeOf(session: Session, name: string): SchedulePlace {
  refuseLowLevel(session)
  const id = scheduleId(session.namespace, name)
  const number = derivedUuid(id).number % session.settings.executionPartitions
  return { scheduleId: id, number, partition: executionPartition(number) }
}

export function refuseLowLevel({ batcher }: Session): void {
  const refusal = levelTooLow(batcher.store, ADMISSION_LEVEL, 'A schedule')
  if (refusal !== undefined) throw refusal
}
