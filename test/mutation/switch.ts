/** The switch of the mutants in this process: which of them is on, which were reached, and how much work may still be done. */

/** Work with a mutant ends with an error when it takes so much more than without. */
const TICKS_FACTOR = 20
const TICKS_MIN = 20_000

interface Switch {
  /** Whether a mutant is on. Instrumented code asks wherever it has a mutant that makes a difference. */
  readonly is: (number: number) => boolean
  /** Whether a mutant is on that `same` compares. */
  readonly on: (number: number) => boolean
  /** Returns the value of an expression. Compares it with the values that some of its mutants, each after its number, would have. */
  readonly same: (value: unknown, ...mutants: readonly unknown[]) => unknown
  /** Instrumented code calls it in every pass of a loop. */
  readonly tick: () => void
}

/** How far a mutant was reached: its code ran, or it also made a difference there. */
const REACHED = 1
const DIFFERED = 2

let active = -1
/** Whether mutants are compared with the original: while all of them are off. */
let isComparing = false
let seen = new Uint8Array(0)
let ticks = 0
let ticksMax = Infinity

const instance: Switch = {
  is: (number) => {
    seen[number] = DIFFERED
    // A loop of a test has no ticks of its own.
    instance.tick()
    return number === active
  },
  on: (number) => number === active,
  same: (value, ...mutants) => {
    if (isComparing) {
      for (let index = 0; index < mutants.length; index += 2) {
        const number = mutants[index] as number
        if (seen[number] !== DIFFERED)
          seen[number] = isSame(value, mutants[index + 1] as () => unknown) ? REACHED : DIFFERED
      }
    }
    return value
  },
  tick: () => {
    ticks += 1
    if (ticks > ticksMax) throw new Error('A loop with a mutant does not end.')
  },
}

/** A replacement that throws makes a difference. */
function isSame(value: unknown, replacement: () => unknown): boolean {
  try {
    return Object.is(value, replacement())
  } catch {
    return false
  }
}

/** Instrumented modules find the switch here when they are loaded. */
;(globalThis as unknown as Record<string, Switch>)['flowfabricMutation'] = instance

export function prepareSwitch(mutantCount: number): void {
  seen = new Uint8Array(mutantCount)
}

/** Switches all mutants off, and notes which ones are reached from now on. */
export function switchOff(): void {
  active = -1
  isComparing = true
  seen.fill(0)
  ticks = 0
  ticksMax = Infinity
}

/** Switches one mutant on. `usualTicks` were needed without it. */
export function switchOn(number: number, usualTicks: number): void {
  active = number
  isComparing = false
  ticks = 0
  ticksMax = Math.max(TICKS_MIN, usualTicks * TICKS_FACTOR)
}

export function tickCount(): number {
  return ticks
}

export function isLoopEnded(): boolean {
  return ticks > ticksMax
}

/** Those of the given mutants that were reached since all were switched off. */
export function reachedOf(numbers: Iterable<number>): number[] {
  return [...numbers].filter((number) => seen[number] !== 0)
}

/** Those of the given mutants that would have made a difference since all were switched off. The others cannot be noticed. */
export function differedOf(numbers: Iterable<number>): number[] {
  return [...numbers].filter((number) => seen[number] === DIFFERED)
}
