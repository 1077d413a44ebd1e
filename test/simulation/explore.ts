/**
 * Explores small worlds exhaustively: two workers and two executions, one of them of a special kind, in every order in which
 * the store can serve their calls, with a death or a lost reply at every one of them, up to a depth. The search keeps no
 * states: a path is a list of choices, and each path is run from the beginning.
 *
 * What a process does on its own between two calls does not depend on the others, so it is done at once and in one order;
 * only what the store sees is chosen. Calls about the store as a whole (heartbeats of workers, shares of engines) touch no execution:
 * they are served at once too, and worlds of random faults show what becomes of them. Choices begin when the workers come, or with the first call that names the special
 * execution, when an engine is there too. From the depth on calls are served in the order in which they came.
 */
import type { WorldConfig } from './config.ts'
import { noFaults } from './config.ts'
import type { Actor } from './fleet.ts'
import { flowKinds } from './flow-kinds.ts'
import { guarded } from './guard.ts'
import { kinds } from './kinds.ts'
import { shortId } from './network.ts'
import type { Request } from './network.ts'
import type { Plant } from './plant.ts'
import { comeToRest } from './rest.ts'
import { isThrough } from './through.ts'
import { calm } from './weather.ts'
import type { Fate, Weather } from './weather.ts'
import { World } from './world.ts'
import type { Step } from './world.ts'
import { STORE_PARTITION } from '../../src/stores/partitions.ts'

export interface Bounds {
  /** Where choices begin. */
  readonly from: 'opening' | 'special_execution'
  /** Choices that are explored on each path. */
  readonly depth: number
  /** Deaths and lost replies on one path. */
  readonly faults: number
  /** Paths after which the search gives up. */
  readonly paths: number
}

const DEFAULT_BOUNDS: Bounds = { from: 'opening', depth: 3, faults: 1, paths: 100_000 }

export interface ExploreReport {
  readonly kind: string
  readonly from: Bounds['from']
  readonly pathCount: number
  readonly stepCount: number
  /** Whether every path within the depth was taken. */
  readonly isComplete: boolean
  /** Labels of the calls that met a fault on some path. */
  readonly faulted: ReadonlySet<string>
  readonly failures: readonly { readonly path: readonly number[]; readonly problems: readonly string[] }[]
}

/** A process that died is back after this time. */
const RESTART_MS = 300
/** One fault is soon forgotten. */
const AFTERMATH_MS = 1_500
/** Failures after which a search ends. */
const FAILURES_MAX = 3
const STEPS_MAX = 20_000

export async function* exploreAll(bounds: Partial<Bounds> = {}): AsyncGenerator<ExploreReport> {
  for (const { name } of kinds) {
    yield await explore(name, { ...bounds, from: 'opening' })
    yield await explore(name, { ...bounds, from: 'special_execution' })
  }
  for (const { name } of flowKinds) yield await explore(name, { ...bounds, from: 'opening' })
}

export async function explore(kind: string, bounds: Partial<Bounds> = {}, plant?: Plant): Promise<ExploreReport> {
  const whole = { ...DEFAULT_BOUNDS, ...bounds }
  const restore = plant?.plant?.()
  try {
    return await search(kind, whole, plant)
  } finally {
    restore?.()
  }
}

async function search(kind: string, bounds: Bounds, plant: Plant | undefined): Promise<ExploreReport> {
  const failures: { path: readonly number[]; problems: readonly string[] }[] = []
  const faulted = new Set<string>()
  let pathCount = 0
  let stepCount = 0
  let next: readonly number[] | undefined = []
  while (next !== undefined && pathCount < bounds.paths && failures.length < FAILURES_MAX) {
    const path: Path = new Path(next, bounds, faulted)
    const world: World = await path.run(smallWorld(kind), plant)
    pathCount += 1
    stepCount += world.stepCount
    if (world.problems.length > 0) failures.push({ path: path.taken, problems: world.problems })
    next = path.next()
  }
  return { kind, from: bounds.from, pathCount, stepCount, isComplete: next === undefined, faulted, failures }
}

function smallWorld(kind: string): WorldConfig {
  return {
    seed: 1,
    clients: 1,
    workers: 2,
    engines: 1,
    areClientsWorkers: false,
    partitions: 1,
    works: [
      { number: 0, kind },
      { number: 1, kind: 'quick' },
    ],
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

type Choice =
  | { readonly kind: 'serve' | 'lose_reply' | 'die_before' | 'die_after'; readonly request: Request }
  /** Time passes while calls are on their way. */
  | { readonly kind: 'wait' }

class Path {
  /** What is chosen at each place; behind the end it is the first choice. */
  readonly taken: number[] = []
  readonly #given: readonly number[]
  readonly #bounds: Bounds
  readonly #optionCounts: number[] = []
  readonly #faulted: Set<string>
  #faultCount = 0
  #fate: Fate = { kind: 'served' }

  constructor(given: readonly number[], bounds: Bounds, faulted: Set<string>) {
    this.#given = given
    this.#faulted = faulted
    this.#bounds = bounds
  }

  /** The path behind this one in the order of the search; undefined if this was the last. */
  next(): number[] | undefined {
    for (let at = this.taken.length - 1; at >= 0; at--) {
      const chosen = this.taken[at] ?? 0
      if (chosen + 1 < (this.#optionCounts[at] ?? 0)) return [...this.taken.slice(0, at), chosen + 1]
    }
    return undefined
  }

  async run(config: WorldConfig, plant: Plant | undefined): Promise<World> {
    const weather: Weather = { ...calm, fateOf: () => this.#fate }
    const world = new World(config, { weather, plant })
    await guarded(world, () => this.#walk(world))
    return world
  }

  async #walk(world: World): Promise<void> {
    const { config } = world
    await begin(world)
    if (this.#bounds.from === 'special_execution') await untilNamed(world)
    while (world.problems.length === 0 && world.stepCount < config.steps && this.taken.length < this.#bounds.depth) {
      if (isThrough(world)) break
      await this.#go(world)
    }
    if (world.problems.length === 0) await comeToRest(world, (steps) => steps[0]!)
  }

  async #go(world: World): Promise<void> {
    const local = world.steps().find(({ kind }) => kind !== 'serve') ?? storeWideStep(world)
    if (local !== undefined) {
      await world.take(local)
      return
    }
    const choices = this.#choices(world)
    if (choices.length === 0) {
      world.advance()
      return
    }
    const choice = choices[this.#choose(choices.length)]
    if (choice !== undefined) await this.#take(world, choice)
  }

  #choose(count: number): number {
    if (count === 1) return 0
    const chosen = this.#given[this.taken.length] ?? 0
    this.taken.push(chosen)
    this.#optionCounts.push(count)
    return chosen
  }

  #choices({ network, clockwork }: World): Choice[] {
    const requests = network.requests.filter(({ isRead }) => !isRead)
    const choices: Choice[] = requests.map((request) => ({ kind: 'serve', request }))
    if (requests.length > 0 && clockwork.nextAt() !== undefined) choices.push({ kind: 'wait' })
    if (this.#faultCount >= this.#bounds.faults) return choices
    for (const request of requests) {
      for (const kind of ['lose_reply', 'die_before', 'die_after'] as const) choices.push({ kind, request })
    }
    return choices
  }

  async #take(world: World, choice: Choice): Promise<void> {
    if (choice.kind === 'wait') {
      world.advance()
      return
    }
    const { request } = choice
    if (choice.kind !== 'serve') {
      this.#faultCount += 1
      this.#faulted.add(request.label)
    }
    const actor = world.fleet.actors.find(({ life }) => life?.process === request.process)
    if (choice.kind === 'die_before') {
      world.network.requests.splice(world.network.requests.indexOf(request), 1)
      kill(world, actor)
      return
    }
    const step = world.serving(request)
    this.#fate = choice.kind === 'lose_reply' ? { kind: 'reply_lost' } : { kind: 'served' }
    await world.take(step)
    this.#fate = { kind: 'served' }
    if (choice.kind === 'die_after') kill(world, actor)
  }
}

function storeWideStep(world: World): Step | undefined {
  const request = world.network.requests.find(({ partition }) => partition === STORE_PARTITION)
  return request === undefined ? undefined : world.serving(request)
}

/** The work is submitted before any worker can claim it. */
async function begin(world: World): Promise<void> {
  const { fleet, config, witness } = world
  for (const actor of fleet.actors) if (actor.role === 'client') world.startActor(actor)
  const acceptedCount = () => witness.acceptances.length + witness.flowAcceptances.length
  while (acceptedCount() < config.works.length && world.stepCount < config.steps) {
    const [step] = world.steps()
    if (step === undefined) world.advance()
    else await world.take(step)
  }
  for (const actor of fleet.actors) if (actor.role === 'worker') world.startActor(actor)
}

/** Lets an engine come too, and everything go its way until a call is about to do something to the special execution. */
async function untilNamed(world: World): Promise<void> {
  const { fleet, config, witness, network } = world
  const [special] = config.works
  const accepted = witness.acceptances.find(({ task }) => task === special?.kind)
  const name = shortId(accepted?.executionId ?? '')
  for (const actor of fleet.actors) world.startActor(actor)
  while (world.problems.length === 0 && world.stepCount < config.steps && !isThrough(world)) {
    const steps = world.steps()
    const step = steps.find(({ kind }) => kind !== 'serve') ?? storeWideStep(world) ?? steps[0]
    if (step?.kind === 'serve' && network.requests.some((request) => isAbout(request, name))) return
    if (step !== undefined) await world.take(step)
    else if (!world.advance()) return
  }
}

/** Renewals only keep things as they are. */
function isAbout({ label, isRead }: Request, name: string): boolean {
  return !isRead && label.replaceAll(/renewLease \S+/g, '').includes(name)
}

function kill(world: World, actor: Actor | undefined): void {
  if (actor === undefined) return
  world.kill(actor)
  world.clockwork.after(RESTART_MS, () => world.startActor(actor))
}
