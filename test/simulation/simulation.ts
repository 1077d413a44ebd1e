/**
 * Runs a world from its seed: a stormy part, in which every fault of its configuration can happen, and a calm part, in which
 * everything is started again and has to come to its end. What was promised is checked on the way and at the end.
 */
import { Chance } from './chance.ts'
import type { WorldConfig } from './config.ts'
import { guarded } from './guard.ts'
import { Mishaps } from './mishaps.ts'
import type { Plant } from './plant.ts'
import { comeToRest } from './rest.ts'
import { isThrough } from './through.ts'
import { stormy } from './weather.ts'
import { World } from './world.ts'
import type { Step } from './world.ts'

/** How often time passes although something else could happen. */
const HURRY_RATE = 0.04

export interface SimulationOptions {
  /** Keep every line of what happened. */
  readonly isRecorded?: boolean
  readonly plant?: Plant | undefined
}

export interface Outcome {
  readonly world: World
  /** Sentences of what was broken; none if all is well. */
  readonly problems: readonly string[]
}

export async function simulate(config: WorldConfig, options: SimulationOptions = {}): Promise<Outcome> {
  const restore = options.plant?.plant?.()
  try {
    const seeded = new Chance(config.seed)
    const world = new World(config, { ...options, weather: stormy(config.rates, seeded.fork('weather')) })
    await guarded(world, () => run(world, seeded))
    return { world, problems: world.problems }
  } finally {
    restore?.()
  }
}

async function run(world: World, seeded: Chance): Promise<void> {
  const { config } = world
  const chance = seeded.fork('schedule')
  const mishaps = new Mishaps(world, seeded.fork('mishaps'))
  const pick = (steps: readonly Step[]): Step => chance.pick(steps)
  world.start()
  while (world.problems.length === 0 && world.stepCount < config.steps && !isStormOver(world)) {
    mishaps.maybe()
    const steps = world.steps()
    const isHurried = steps.length === 0 || chance.happens(HURRY_RATE)
    if (isHurried && world.advance()) continue
    if (steps.length === 0) break
    await world.take(pick(steps))
  }
  if (world.problems.length === 0) await comeToRest(world, pick)
}

function isStormOver(world: World): boolean {
  return world.clockwork.elapsedMs > world.config.submitWithinMs && isThrough(world)
}
