/** Chance that replays: everything that a simulation decides is drawn from one seed, by streams that do not disturb each other. */
import { nextSeed } from '../../src/kernel/index.ts'

const MODULUS = 2_147_483_647
/** Neighbouring seeds begin alike; after these draws they no longer do. */
const WARM_UP_DRAWS = 4

export class Chance {
  readonly #seed: number
  #state: number

  constructor(seed: number) {
    this.#seed = seed
    this.#state = 1 + ((seed * 7_919 + 104_729) % (MODULUS - 2))
    for (let i = 0; i < WARM_UP_DRAWS; i++) this.fraction()
  }

  /** A fraction in [0, 1). */
  fraction(): number {
    this.#state = nextSeed(this.#state)
    return (this.#state - 1) / (MODULUS - 1)
  }

  /** A whole number from `low` to `high`, both included. */
  between(low: number, high: number): number {
    return low + Math.floor(this.fraction() * (high - low + 1))
  }

  happens(rate: number): boolean {
    return rate > 0 && this.fraction() < rate
  }

  pick<T>(items: readonly T[]): T {
    const item = items[this.between(0, items.length - 1)]
    if (item === undefined) throw new Error('There is nothing to pick from.')
    return item
  }

  /** A stream of its own: what is drawn from it changes nothing here. */
  fork(name: string): Chance {
    return new Chance(hashText(`${this.#seed}/${name}`))
  }
}

const HASH_PRIME = 16_777_619
const HASH_START = 2_166_136_261

/** A number below 2^31 that depends on the text alone. */
export function hashText(text: string, start = HASH_START): number {
  let hash = start
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), HASH_PRIME)
  return hash & 0x7fff_ffff
}

/** Ids that sort as they were made, with nothing in them that the seed does not decide. */
export function seededUuids(now: () => number, chance: Chance): () => string {
  let lastMs = 0
  let counter = 0
  return () => {
    const ms = now()
    counter = ms > lastMs ? 0 : counter + 1
    lastMs = Math.max(lastMs, ms)
    const time = lastMs.toString(16).padStart(12, '0')
    const count = counter.toString(16).padStart(3, '0')
    const tail = hex(chance, 3) + hex(chance, 6) + hex(chance, 6)
    return `${time.slice(0, 8)}-${time.slice(8)}-7${count}-8${tail.slice(0, 3)}-${tail.slice(3)}`
  }
}

function hex(chance: Chance, digits: number): string {
  return chance
    .between(0, 16 ** digits - 1)
    .toString(16)
    .padStart(digits, '0')
}
