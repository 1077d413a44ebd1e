/** Pseudo-random numbers from a seed in the input: the kernel has no source of its own. */

const MODULUS = 2_147_483_647
const MULTIPLIER = 16_807

/** Returns the next seed of a sequence; seeds are integers from 1 to 2^31 - 2. */
export function nextSeed(seed: number): number {
  const start = seed >= 1 && seed < MODULUS ? Math.floor(seed) : 1
  return (start * MULTIPLIER) % MODULUS
}

/** Returns a fraction in [0, 1) that depends on the seed alone. */
export function fractionOf(seed: number): number {
  return nextSeed(nextSeed(seed)) / MODULUS
}
