/**
 * A whole fleet in one process: clients, workers and engines on one store, with virtual time. Nothing makes progress but by
 * a step of the scheduler, one at a time, so that a seed decides everything that happens.
 */
import { STORE_PARTITION } from '../../src/stores/partitions.ts'
import { Chance } from './chance.ts'
import { Clockwork } from './clockwork.ts'
import type { WorldConfig } from './config.ts'
import { deployedAtMs } from './deploy.ts'
import { Fleet } from './fleet.ts'
import type { Actor } from './fleet.ts'
import { Network } from './network.ts'
import type { Effect, Request } from './network.ts'
import { makePlan } from './plan.ts'
import type { Action } from './plan.ts'
import type { Plant } from './plant.ts'
import type { Process } from './process.ts'
import { SubmitOrder } from './submit-order.ts'
import { RepetitionCheck } from './repetition-check.ts'
import { effectProblems, isTimeless } from './step-check.ts'
import { Trace } from './trace.ts'
import type { Weather } from './weather.ts'
import { Witness } from './witness.ts'
import { registryProblems } from './registry-check.ts'

/** One thing that can happen next. */
export interface Step {
  /** A read of the store changes nothing for any process. */
  readonly kind: 'serve' | 'look' | 'message' | 'turn' | 'timer'
  readonly owner: string
  readonly label: string
  readonly run: () => void | Promise<void>
}

/** How often a deploy looks whether a process has stopped. */
const DEPLOY_LOOK_MS = 500

export interface WorldOptions {
  readonly weather: Weather
  readonly isRecorded?: boolean
  readonly plant?: Plant | undefined
}

export class World {
  readonly config: WorldConfig
  readonly clockwork = new Clockwork()
  readonly witness = new Witness()
  readonly chance: Chance
  readonly network: Network
  readonly plan: readonly Action[]
  readonly fleet: Fleet
  readonly trace: Trace
  readonly problems: string[] = []
  readonly submits = new SubmitOrder()
  readonly #repetitions = new RepetitionCheck()
  readonly faultCounts: Record<string, number> = {}
  stepCount = 0
  hasClockGoneBack = false
  /** When the storm was over, by the store's clock. */
  calmSince = Infinity
  /** No process is restarted any more. */
  isEnding = false

  constructor(config: WorldConfig, { weather, isRecorded = false, plant }: WorldOptions) {
    this.config = config
    this.trace = new Trace(isRecorded)
    this.chance = new Chance(config.seed)
    const settings = { executionPartitions: config.partitions, limitPartitions: 1, indexedTags: ['team'] }
    this.network = new Network(this.clockwork, settings, weather, {
      onEffect: (effect) => this.#judge(effect),
      onFault: (fault, label) => this.noteFault(fault, label),
    })
    plant?.changeStore?.(this.network.store)
    this.plan = makePlan(config, this.chance.fork('plan'), this.witness)
    this.fleet = new Fleet({
      config,
      clockwork: this.clockwork,
      network: this.network,
      witness: this.witness,
      plan: this.plan,
      chance: this.chance.fork('fleet'),
      workerOptions: plant?.workerOptions,
    })
  }

  start(): void {
    for (const [position, actor] of this.fleet.actors.entries()) {
      this.startActor(actor)
      const atMs = deployedAtMs(this.config, position)
      if (atMs !== undefined && this.fleet.works(actor)) this.clockwork.after(atMs, () => this.#deploy(actor))
    }
  }

  /** Everything that can happen now without time passing. */
  steps(): Step[] {
    const steps: Step[] = []
    for (const process of this.fleet.processes) {
      if (!process.isRunning) continue
      const turn = process.turns[0]
      if (turn !== undefined) {
        steps.push({ kind: 'turn', owner: process.name, label: 'turn', run: () => process.turns.shift()?.() })
      }
      for (const message of process.inbox) {
        const run = () => {
          process.inbox.splice(process.inbox.indexOf(message), 1)
          message.deliver()
        }
        steps.push({ kind: 'message', owner: process.name, label: message.label, run })
      }
    }
    steps.push(...this.network.requests.map((request) => this.serving(request)))
    for (const timer of this.clockwork.due()) {
      const owner = timer.owner?.name ?? 'world'
      steps.push({ kind: 'timer', owner, label: 'timer', run: () => this.clockwork.fire(timer) })
    }
    return steps
  }

  /** The step that serves one call. */
  serving(request: Request): Step {
    const { process, label, isRead } = request
    const run = () => this.network.serve(request)
    return { kind: isRead ? 'look' : 'serve', owner: process.name, label: `served ${label}`, run }
  }

  async take(step: Step): Promise<void> {
    this.stepCount += 1
    this.note(`${step.owner}: ${step.label}`)
    await step.run()
    await settled()
  }

  /** Lets time pass until the next timer, or until a paused process resumes. False if there is nothing to wait for. */
  advance(): boolean {
    const wakings = this.fleet.processes.filter(isHeldUp).map(({ pausedUntil }) => pausedUntil)
    const moments = [this.clockwork.nextAt(), ...wakings].filter((moment) => moment !== undefined)
    if (moments.length === 0) return false
    this.clockwork.advanceTo(Math.min(...moments))
    return true
  }

  kill(actor: Actor): void {
    this.noteFault('crash', actor.life?.process.name ?? actor.name)
    this.fleet.kill(actor)
  }

  startActor(actor: Actor): void {
    if (actor.life !== undefined || this.isEnding) return
    this.fleet.start(actor)
    this.note(`${actor.name}: started for the ${actor.lives}. time`)
  }

  /** Asks a process to stop, and starts it again when it has stopped. */
  restart(actor: Actor, withinMs: number): void {
    const { life } = actor
    if (life === undefined || life.isClosing || this.isEnding) return
    this.fleet.close(actor)
    const look = () => {
      if (actor.life !== life || this.isEnding) return
      if (!life.isClosed) {
        this.clockwork.after(withinMs, look)
        return
      }
      this.fleet.kill(actor)
      this.startActor(actor)
    }
    this.clockwork.after(withinMs, look)
  }

  noteFault(fault: string, label: string): void {
    this.faultCounts[fault] = (this.faultCounts[fault] ?? 0) + 1
    this.note(`FAULT ${fault}: ${label}`)
  }

  note(text: string): void {
    this.trace.note(this.clockwork.elapsedMs, text)
  }

  #deploy(actor: Actor): void {
    this.note(`${actor.name}: gets the new program`)
    this.restart(actor, DEPLOY_LOOK_MS)
  }

  #judge(effect: Effect): void {
    if (effect.partition === STORE_PARTITION) {
      const found = registryProblems(effect)
      this.problems.push(...(this.hasClockGoneBack ? found.filter(isTimeless) : found))
      return
    }
    for (const event of effect.after.events.slice(effect.before.events.length)) {
      this.note(`event ${event.type} ${event.executionId} ${event.epoch ?? ''} ${event.outcome ?? ''}`)
    }
    this.problems.push(...effectProblems(effect, { hasClockGoneBack: this.hasClockGoneBack }))
    this.problems.push(...this.#repetitions.problemsOf(effect))
    this.submits.note(effect)
  }
}

/** Whether it stands still although it has something to do. */
function isHeldUp({ isAlive, isRunning, turns, inbox }: Process): boolean {
  return isAlive && !isRunning && turns.length + inbox.length > 0
}

/** Every settled promise has run its callbacks by the next turn of the event loop. */
function settled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}
