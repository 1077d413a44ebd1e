import type { Parameters } from 'fast-check'

/** Within the time that a test has, unless it says that it has more. A run that fails is shrunk for as long as there is time, then told. */
const TIME_LIMIT_MS = 220_000

/** How often to run. A failure prints the seed it ran with; FLOWFABRIC_TEST_SEED set to it runs the same sequences again. */
export function runs<T>(numRuns: number, timeLimitMs = TIME_LIMIT_MS): Parameters<T> {
  const seed = process.env['FLOWFABRIC_TEST_SEED']
  const limited = { numRuns, interruptAfterTimeLimit: timeLimitMs, markInterruptAsFailure: true }
  return seed === undefined ? limited : { ...limited, seed: Number(seed) }
}
