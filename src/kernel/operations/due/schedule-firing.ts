import { runSchedule } from '../../lifecycle/schedules/run-schedule.ts'
import { lacksBoundaries, scheduleDueAt } from '../../rules/schedule-state.ts'
import type { NamedDueCase } from './due-case.ts'

/** Fires a schedule at its boundary. The report of one that lacks boundaries asks the engine for more. */
export const scheduleFiring: NamedDueCase<'schedule'> = {
  name: 'schedule_firing',
  dueAt: scheduleDueAt,
  run: runSchedule,
  outcomeOf: (schedule, now) => {
    const nextAt = scheduleDueAt(schedule)
    return {
      name: lacksBoundaries(schedule) ? 'schedule_planning' : 'schedule_firing',
      isStillDue: nextAt !== undefined && nextAt <= now,
    }
  },
}
