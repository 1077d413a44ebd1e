import type { Runtime } from './runtime.ts'

const FIRST_MS = 50
const MAX_MS = 2_000

/** Returns the delay before the next try: doubles with each failure in a row up to `maxMs`, with jitter of up to half of it. */
export function backoffMs(runtime: Pick<Runtime, 'random'>, failureCount: number, maxMs = MAX_MS): number {
  const delayMs = Math.min(maxMs, FIRST_MS * 2 ** Math.min(failureCount - 1, 16))
  return Math.ceil(delayMs * (0.5 + runtime.random() / 2))
}
