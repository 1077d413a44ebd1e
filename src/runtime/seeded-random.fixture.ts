/** Chance that can be repeated: the same seed gives the same numbers. */

export interface Random {
  /** A fraction in [0, 1). */
  fraction(): number
  /** A whole number from `low` to `high`, both included. */
  between(low: number, high: number): number
  pick<T>(items: readonly [T, ...T[]] | readonly T[]): T
}

const MODULUS = 2_147_483_647
const MULTIPLIER = 16_807

export function seededRandom(seed: number): Random {
  let state = 1 + (Math.abs(Math.floor(seed)) % (MODULUS - 1))
  const fraction = () => {
    state = (state * MULTIPLIER) % MODULUS
    return state / MODULUS
  }
  const between = (low: number, high: number) => low + Math.floor(fraction() * (high - low + 1))
  const pick = <T>(items: readonly T[]): T => {
    const item = items[between(0, items.length - 1)]
    if (item === undefined) throw new Error('There is nothing to pick from.')
    return item
  }
  return { fraction, between, pick }
}
