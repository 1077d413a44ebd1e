/** Deterministic random numbers: the same seed yields the same sequence. */

export interface Random {
  /** A fraction in [0, 1). */
  fraction(): number
  /** An integer from `low` to `high`, both inclusive. */
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
    if (item === undefined) throw new Error('Cannot pick from an empty list.')
    return item
  }
  return { fraction, between, pick }
}
