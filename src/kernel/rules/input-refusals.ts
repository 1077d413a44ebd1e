/** Decides what follows if a worker refuses the input of an execution. */
import { REFUSAL_DELAY_FIRST_MS, REFUSAL_DELAY_MAX_MS } from '../limits.ts'
import type { InputRefusals } from '../model/execution-schema.ts'
import type { Instant } from '../model/base-records.ts'

/** Adds a refusal to those before it. A build is listed once. */
export function addRefusal(
  before: InputRefusals | undefined,
  build: string,
  reason: string,
  at: Instant,
): InputRefusals {
  const builds = before?.builds ?? []
  return {
    count: (before?.count ?? 0) + 1,
    builds: builds.includes(build) ? builds : [...builds, build],
    reason,
    at,
  }
}

/** The delay before the execution is offered again. It grows, so that a deploy has time to replace the workers. */
export function refusalDelayMs(count: number): number {
  let delay = REFUSAL_DELAY_FIRST_MS
  for (let i = 1; i < count && delay < REFUSAL_DELAY_MAX_MS; i++) delay = delay * 2
  return Math.min(delay, REFUSAL_DELAY_MAX_MS)
}
