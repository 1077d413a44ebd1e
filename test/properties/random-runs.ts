/** How often random values are drawn: the same ones in every run of the tests, then new ones for as long as there is time. */
import fc from 'fast-check'
import type { Arbitrary, Parameters } from 'fast-check'

/** Draws the values that every run of the tests begins with. */
const SAME_SEED = 1
/** New values at most, where a check takes no time. */
const NEW_RUNS_MAX = 300
/** A failure is shrunk for so long, then reported. The same seed alone is shrunk for longer. */
const SHRINK_MS = 30_000
const SEED_MS = 220_000

export interface Amount {
  /** Values that are the same in every run of the tests. */
  readonly same: number
  /** How long new ones are drawn. */
  readonly newForMs: number
}

/**
 * Checks random values. A failure prints the seed that it was found with; with FLOWFABRIC_TEST_SEED set to it, the same values
 * are checked again and nothing else.
 */
export async function holdsForAny<T extends [unknown, ...unknown[]]>(
  values: { [K in keyof T]: Arbitrary<T[K]> },
  check: (...drawn: T) => Promise<void>,
  { same, newForMs }: Amount,
): Promise<void> {
  const seed = process.env['FLOWFABRIC_TEST_SEED']
  const drawn = fc.tuple(...values) as unknown as Arbitrary<T>
  if (seed === undefined) {
    await fc.assert(limited(drawn, check, Infinity, SHRINK_MS), { seed: SAME_SEED, numRuns: same })
    await fc.assert(limited(drawn, check, newForMs, SHRINK_MS), { numRuns: NEW_RUNS_MAX })
  } else {
    const numRuns = Math.max(same, NEW_RUNS_MAX)
    await fc.assert(limited(drawn, check, Infinity, SEED_MS), { seed: Number(seed), numRuns })
  }
}

/** A check that lets everything pass once its time is over: fast-check would leave one that is under way behind. */
function limited<T extends [unknown, ...unknown[]]>(
  values: Arbitrary<T>,
  check: (...drawn: T) => Promise<void>,
  limitMs: number,
  shrinkMs: number,
): fc.IAsyncPropertyWithHooks<[T]> {
  let end = performance.now() + limitMs
  let hasFailed = false
  return fc.asyncProperty(values, async (drawn) => {
    if (performance.now() > end) return
    try {
      await check(...drawn)
    } catch (error) {
      if (!hasFailed) end = performance.now() + shrinkMs
      hasFailed = true
      throw error
    }
  })
}

/** For checks that take no time. */
export function runs<T>(numRuns: number): Parameters<T> {
  const seed = process.env['FLOWFABRIC_TEST_SEED']
  return seed === undefined ? { numRuns } : { numRuns, seed: Number(seed) }
}
