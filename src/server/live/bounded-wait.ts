import { parseDuration } from '../../client/index.ts'
import type { Duration } from '../../client/index.ts'
import { invalidInput } from '../../options/invalid-input.ts'

/** Returns the milliseconds of a wait. Refuses one that is longer than a request may wait. */
export function boundedWait(wait: Duration, maximumMs: number): number {
  const ms = parseDuration(wait, 'wait')
  if (ms <= maximumMs) return ms
  throw invalidInput('wait', `wait is ${ms} ms, but one request waits at most ${maximumMs} ms.`)
}
