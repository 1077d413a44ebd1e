/** The calm after the storm: all processes are restarted, no faults happen, and all work has to end. */
import { finalProblems } from './final-check.ts'
import { isThrough } from './through.ts'
import { calm } from './weather.ts'
import type { Step, World } from './world.ts'

/** How long it may take, by the world's clock, and in steps. */
const CALM_LIMIT_MS = 600_000
const CALM_STEPS_MAX = 60_000

export async function comeToRest(world: World, pick: (steps: readonly Step[]) => Step): Promise<void> {
  calmDown(world)
  const goOnUntil = async (isDone: () => boolean): Promise<boolean> => {
    const lastStep = world.stepCount + CALM_STEPS_MAX
    const endAt = world.clockwork.elapsedMs + CALM_LIMIT_MS
    while (
      world.problems.length === 0 &&
      !isDone() &&
      world.stepCount < lastStep &&
      world.clockwork.elapsedMs < endAt
    ) {
      const steps = world.steps()
      if (steps.length > 0) await world.take(pick(steps))
      else if (!world.advance()) break
    }
    return isDone()
  }
  await goOnUntil(() => world.steps().length === 0 && isThrough(world))
  if (world.problems.length === 0) world.problems.push(...(await finalProblems(world, goOnUntil)))
}

function calmDown(world: World): void {
  world.note('the storm is over')
  world.network.weather = calm
  world.network.downUntil = 0
  world.calmSince = world.network.storeNow
  for (const actor of world.fleet.actors) {
    world.startActor(actor)
    if (actor.life !== undefined) actor.life.process.pausedUntil = 0
  }
}
