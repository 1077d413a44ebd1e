import type { Parameters } from 'fast-check'

/** Within the time that a test of these suites has. A run that fails is shrunk for as long as there is time, then told. */
const TIME_LIMIT_MS = 100_000

/** How often to run. A failure prints the seed it ran with; FLOWFABRIC_TEST_SEED set to it runs the same sequences again. */
export function runs<T>(numRuns: number): Parameters<T> {
  const seed = process.env['FLOWFABRIC_TEST_SEED']
  const limited = { numRuns, interruptAfterTimeLimit: TIME_LIMIT_MS, markInterruptAsFailure: true }
  return seed === undefined ? limited : { ...limited, seed: Number(seed) }
}
