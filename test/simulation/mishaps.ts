/** What befalls whole processes and clocks between two steps: deaths, stops, pauses, jumps. */
import type { Chance } from './chance.ts'
import type { Actor } from './fleet.ts'
import type { FaultName } from './weather.ts'
import type { World } from './world.ts'

const RESTART_WITHIN_MS = 4_000
/** The longest pause, in leases. */
const PAUSE_MAX_LEASES = 3
/** Longer than a client repeats its calls, and than any lease. */
const OUTAGE_MAX_MS = 12_000
const JUMP_MAX_MS = 12_000
/** Jumps of the store's clock to the past are smaller: everything that waits for a time waits longer by as much. */
const JUMP_BACK_MAX_MS = 4_000

type Mishap = Extract<FaultName, 'crash' | 'graceful_stop' | 'pause' | 'store_clock_jump' | 'own_clock_jump' | 'outage'>

export class Mishaps {
  readonly #world: World
  readonly #acts: readonly { readonly name: Mishap; readonly chance: Chance; readonly act: (chance: Chance) => void }[]

  constructor(world: World, seeded: Chance) {
    this.#world = world
    const acts: Record<Mishap, (chance: Chance) => void> = {
      crash: (chance) => this.#crash(chance),
      graceful_stop: (chance) => this.#stop(chance),
      pause: (chance) => this.#pause(chance),
      store_clock_jump: (chance) => this.#jump(chance),
      own_clock_jump: (chance) => this.#jumpAlone(chance),
      outage: (chance) => this.#goDown(chance),
    }
    this.#acts = Object.entries(acts).map(([name, act]) => ({ name: name as Mishap, chance: seeded.fork(name), act }))
  }

  /** Before each step of the scheduler. */
  maybe(): void {
    const { rates } = this.#world.config
    for (const { name, chance, act } of this.#acts) if (chance.happens(rates[name])) act(chance)
  }

  #someone(chance: Chance): Actor | undefined {
    const living = this.#world.fleet.actors.filter(({ life }) => life !== undefined)
    return living.length === 0 ? undefined : chance.pick(living)
  }

  #crash(chance: Chance): void {
    const world = this.#world
    const actor = this.#someone(chance)
    if (actor === undefined) return
    world.kill(actor)
    world.clockwork.after(chance.between(0, RESTART_WITHIN_MS), () => world.startActor(actor))
  }

  /** A process that is asked to stop is started again when it has stopped. */
  #stop(chance: Chance): void {
    const world = this.#world
    const actor = this.#someone(chance)
    const life = actor?.life
    if (actor === undefined || life === undefined || life.isClosing) return
    world.noteFault('graceful_stop', life.process.name)
    world.restart(actor, RESTART_WITHIN_MS)
  }

  #pause(chance: Chance): void {
    const world = this.#world
    const process = this.#someone(chance)?.life?.process
    if (process === undefined) return
    const ms = chance.between(1, PAUSE_MAX_LEASES * world.config.leaseTtlMs)
    process.pausedUntil = world.clockwork.elapsedMs + ms
    world.noteFault('pause', `${process.name} for ${ms} ms`)
  }

  #jump(chance: Chance): void {
    const world = this.#world
    const ms = chance.happens(0.5) ? chance.between(1, JUMP_MAX_MS) : -chance.between(1, JUMP_BACK_MAX_MS)
    world.network.storeSkewMs += ms
    world.hasClockGoneBack ||= ms < 0
    world.noteFault('store_clock_jump', `by ${ms} ms`)
  }

  #goDown(chance: Chance): void {
    const ms = chance.between(1, OUTAGE_MAX_MS)
    this.#world.network.downUntil = this.#world.clockwork.elapsedMs + ms
    this.#world.noteFault('outage', `for ${ms} ms`)
  }

  #jumpAlone(chance: Chance): void {
    const process = this.#someone(chance)?.life?.process
    if (process === undefined) return
    const ms = chance.between(-JUMP_MAX_MS, JUMP_MAX_MS)
    process.skewMs += ms
    this.#world.noteFault('own_clock_jump', `${process.name} by ${ms} ms`)
  }
}
