/** Gives the schedules that a due pass has handled their next boundaries, as far as they lack some. */
import { planSchedule } from '../../calendar/plan-schedule.ts'
import { SCHEDULE_READ_MAX } from '../../kernel/index.ts'
import type { DueResult } from '../../kernel/index.ts'
import { partitionNumber } from '../../stores/partitions.ts'
import type { ScannedPartition } from '../runner/scanner.ts'

export async function planSchedules(partition: ScannedPartition, handled: DueResult['handled']): Promise<void> {
  const lacking = handled.filter((item) => item.case === 'schedule_planning').map((item) => item.executionId)
  const ids = [...new Set(lacking)]
  const number = partitionNumber(partition.name)
  for (let from = 0; from < ids.length; from += SCHEDULE_READ_MAX) {
    const page = ids.slice(from, from + SCHEDULE_READ_MAX)
    const { schedules, at } = await partition.run('readUnplanned', { scheduleIds: page })
    await Promise.all(
      schedules.map((schedule) => planSchedule(schedule, number, at, (input) => partition.run('planSchedule', input))),
    )
  }
}
