import type { Parameters } from 'fast-check'

/** How often to run. A failure prints the seed it ran with; FLOWFABRIC_TEST_SEED set to it runs the same sequences again. */
export function runs<T>(numRuns: number): Parameters<T> {
  const seed = process.env['FLOWFABRIC_TEST_SEED']
  return seed === undefined ? { numRuns } : { numRuns, seed: Number(seed) }
}
