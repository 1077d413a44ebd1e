/** Numbers that look random, from a seed that the caller brings: the kernel itself never draws one. */

const MODULUS = 2_147_483_647
const MULTIPLIER = 16_807

/** The next seed of a sequence; seeds are integers from 1 to 2^31 - 2. */
export function nextSeed(seed: number): number {
  const start = seed >= 1 && seed < MODULUS ? Math.floor(seed) : 1
  return (start * MULTIPLIER) % MODULUS
}

/** A fraction in [0, 1) that depends on the seed alone. */
export function fractionOf(seed: number): number {
  return nextSeed(nextSeed(seed)) / MODULUS
}
