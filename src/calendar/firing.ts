/** What follows from a schedule and a boundary: the id of the execution and the jitter. The same in every process. */
import { SEPARATOR } from '../kernel/index.ts'
import type { ExecutionId, Instant, PlannedFiring, ScheduleTiming } from '../kernel/index.ts'
import { derivedUuid } from '../runtime/index.ts'

const FIRING_WORD = 'firing'

/** Distinguishes executions from others with the same partition: no key contains the separator. */
function seed(scheduleId: string, at: Instant): string {
  return [scheduleId, FIRING_WORD, String(at)].join(SEPARATOR)
}

/** Returns the firing of a boundary. Its execution is in the partition of the schedule. */
export function firingAt(
  { id, timing }: { readonly id: string; readonly timing: ScheduleTiming },
  at: Instant,
  partition: number,
): PlannedFiring {
  const { uuid, number } = derivedUuid(seed(id, at))
  const executionId: string = `${partition}-${uuid}`
  return { at, fireAt: at + (number % (timing.jitterMs + 1)), executionId: executionId as ExecutionId }
}
