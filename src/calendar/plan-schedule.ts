/** Gives schedules that lack boundaries their next ones. Any process may do it at any time: an outdated plan is refused. */
import { lacksBoundaries } from '../kernel/index.ts'
import type { Instant, OperationInput, OperationResult, Schedule } from '../kernel/index.ts'
import { planOf } from './plan.ts'

type PlanCall = (input: OperationInput<'planSchedule'>) => Promise<OperationResult<'planSchedule'>>

/** Plans one schedule, as it was read at `now`. Returns it as it is stored afterwards; undefined if it was deleted. */
export async function planSchedule(
  schedule: Schedule,
  partition: number,
  now: Instant,
  run: PlanCall,
): Promise<Schedule | undefined> {
  if (!lacksBoundaries(schedule)) return schedule
  const result = await run(planOf(schedule, partition, now))
  return result.kind === 'refused' ? undefined : result.schedule
}
