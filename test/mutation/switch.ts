/** The switch of the mutants in this process: which of them is on, which were reached, and how much work may still be done. */

/** Work with a mutant ends with an error when it takes so much more than without. */
const TICKS_FACTOR = 20
const TICKS_MIN = 20_000

interface Switch {
  /** Whether a mutant is on. Instrumented code asks wherever it has a mutant. */
  readonly is: (number: number) => boolean
  /** Instrumented code calls it in every pass of a loop. */
  readonly tick: () => void
}

let active = -1
let seen = new Uint8Array(0)
let ticks = 0
let ticksMax = Infinity

const instance: Switch = {
  is: (number) => {
    seen[number] = 1
    return number === active
  },
  tick: () => {
    ticks += 1
    if (ticks > ticksMax) throw new Error('A loop with a mutant does not end.')
  },
}

/** Instrumented modules find the switch here when they are loaded. */
;(globalThis as unknown as Record<string, Switch>)['flowfabricMutation'] = instance

export function prepareSwitch(mutantCount: number): void {
  seen = new Uint8Array(mutantCount)
}

/** Switches all mutants off, and notes which ones are reached from now on. */
export function switchOff(): void {
  active = -1
  seen.fill(0)
  ticks = 0
  ticksMax = Infinity
}

/** Switches one mutant on. `usualTicks` were needed without it. */
export function switchOn(number: number, usualTicks: number): void {
  active = number
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
  return [...numbers].filter((number) => seen[number] === 1)
}
