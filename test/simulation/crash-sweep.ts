/**
 * Kills the worker of one execution at every call that it makes, one after the other: before the store has seen the call, and
 * after the store has served it but before the worker has the reply. Everything else happens in one order. A worker that died is
 * back after a while, and the execution has to come to its end as if nothing had happened.
 */
import { noFaults } from './config.ts'
import type { WorldConfig } from './config.ts'
import { guarded } from './guard.ts'
import { comeToRest } from './rest.ts'
import { isThrough } from './through.ts'
import { calm } from './weather.ts'
import { World } from './world.ts'

export type Moment = 'before' | 'after'

export interface SweptCrash {
  readonly moment: Moment
  /** The call at which the worker died. */
  readonly label: string
  readonly problems: readonly string[]
  readonly world: World
}

const RESTART_MS = 300
const AFTERMATH_MS = 1_500
const STEPS_MAX = 20_000

/** All crashes at one moment, until the work is done before the worker makes that many calls. */
export async function* sweepCrashes(kind: string, moment: Moment): AsyncGenerator<SweptCrash> {
  for (let number = 1; ; number++) {
    const crash = await crashAt(kind, moment, number)
    if (crash === undefined) return
    yield crash
  }
}

async function crashAt(kind: string, moment: Moment, number: number): Promise<SweptCrash | undefined> {
  const world = new World(worldOf(kind), { weather: calm })
  let label: string | undefined
  await guarded(world, async () => {
    label = await dieAt(world, moment, number)
    if (label !== undefined && world.problems.length === 0) await comeToRest(world, (steps) => steps[0]!)
  })
  return label === undefined ? undefined : { moment, label, problems: world.problems, world }
}

/** Lets everything go its way until the worker makes its call of this number, and kills it there. */
async function dieAt(world: World, moment: Moment, number: number): Promise<string | undefined> {
  let callCount = 0
  world.start()
  while (world.stepCount < STEPS_MAX && !(world.plan.every(({ isDone }) => isDone) && isThrough(world))) {
    const local = world.steps().find(({ kind }) => kind !== 'serve' && kind !== 'look')
    const request = world.network.requests[0]
    if (local !== undefined) {
      await world.take(local)
      continue
    }
    if (request === undefined) {
      world.advance()
      continue
    }
    const worker = world.fleet.actors.find(({ role, life }) => role === 'worker' && life?.process === request.process)
    if (worker !== undefined) callCount += 1
    if (worker === undefined || callCount < number) {
      await world.take(world.serving(request))
      continue
    }
    if (moment === 'after') await world.take(world.serving(request))
    world.kill(worker)
    world.clockwork.after(RESTART_MS, () => world.startActor(worker))
    return request.label
  }
  return undefined
}

function worldOf(kind: string): WorldConfig {
  return {
    seed: 1,
    clients: 1,
    workers: 1,
    engines: 1,
    areClientsWorkers: false,
    partitions: 1,
    works: [{ number: 0, kind }],
    submitWithinMs: 0,
    rates: noFaults,
    deployAtMs: undefined,
    steps: STEPS_MAX,
    aftermathMs: AFTERMATH_MS,
    leaseTtlMs: 1_000,
    concurrency: 1,
    prefetch: 0,
  }
}
