/**
 * How soon a race is over for those who lost it: many executions run at once, one of them completes, and the node that
 * waited for the first of them needs the others no more. They are all running when the first one completes.
 */
import { anyOf, flow, task } from '../../src/client/index.ts'
import { createFabric } from '../../src/fabric/fabric.ts'
import type { Fabric } from '../../src/fabric/fabric.ts'
import { freshStore, storeSettings } from '../bench-store.ts'
import type { BenchStore } from '../bench-store.ts'
import { machineSettings } from '../machine.ts'
import type { Measurement } from '../measurement.ts'
import { Race } from '../races/race.ts'
import type { RaceTime } from '../races/race.ts'
import type { Scenario, ScenarioRequest } from '../scenario.ts'
import { percentile, rounded } from '../statistics.ts'
import { LANE } from '../workload.ts'

const RUNNERS = 100
/** Races that a round has, one after the other. */
const COUNT = 20
const ROUNDS = 3
/** Without a second one there is no loser. */
const RUNNERS_MIN = 2
/** For the node that waits for the winner. */
const SPARE_SLOTS = 1

interface RaceInput {
  readonly runnerCount: number
}

const runner = task<{ readonly number: number }, number>('bench.runner', { lane: LANE })
const prize = task<{ readonly number: number }, number>('bench.prize', { lane: LANE })

const race = flow('bench.race', (f, { runnerCount }: RaceInput) => {
  const runners = Array.from({ length: runnerCount }, (_, i) => f.node(`runner${i}`, runner, { input: { number: i } }))
  f.node('prize', prize, { after: anyOf(runners, { losers: 'cancel' }), input: { number: runnerCount } })
})

async function run({ store, options, say, ...request }: ScenarioRequest): Promise<Measurement> {
  const machine = machineSettings()
  const runnerCount = options.n ?? RUNNERS
  if (runnerCount < RUNNERS_MIN) throw new Error(`--n is ${runnerCount}, but must be at least ${RUNNERS_MIN}.`)
  const count = request.count ?? COUNT
  say('warming up')
  await measureRound(store, runnerCount, 2)

  const times: RaceTime[] = []
  const roundCount = request.rounds ?? ROUNDS
  for (let number = 1; number <= roundCount; number++) {
    const round = await measureRound(store, runnerCount, count)
    times.push(...round)
    say(`round ${number}: ${round.map(({ cancelledMs }) => rounded(cancelledMs)).join(', ')} ms`)
  }
  const cancelled = times.map(({ cancelledMs }) => cancelledMs)
  const told = times.map(({ toldMs }) => toldMs)
  return {
    metrics: {
      p50Ms: rounded(percentile(cancelled, 0.5)),
      p99Ms: rounded(percentile(cancelled, 0.99)),
      toldP50Ms: rounded(percentile(told, 0.5)),
      toldP99Ms: rounded(percentile(told, 0.99)),
    },
    ratios: {},
    settings: { n: runnerCount, count, rounds: roundCount, ...storeSettings[store], ...machine },
  }
}

async function measureRound(store: BenchStore, runnerCount: number, count: number): Promise<RaceTime[]> {
  await using place = await freshStore(store)
  await using fabric = await createFabric(place.url)
  const course = new Course(fabric)
  await course.open(runnerCount)
  const times: RaceTime[] = []
  for (let number = 0; number < count; number++) times.push(await course.hold(runnerCount))
  await course.close()
  return times
}

/** Where races are held, one at a time: the worker that runs them, and the watcher of the store for their ends. */
class Course {
  readonly #fabric: Fabric
  readonly #over = new AbortController()
  #race: Race | undefined
  #watching: Promise<void> | undefined

  constructor(fabric: Fabric) {
    this.#fabric = fabric
  }

  async open(runnerCount: number): Promise<void> {
    const handlers = [
      runner.handle(async ({ number }, { executionId, signal }) => {
        await this.#race?.run(executionId, signal)
        return number
      }),
      prize.handle(({ number }) => number),
    ]
    this.#watching = this.#watch()
    await this.#fabric.work(handlers, { concurrency: runnerCount + SPARE_SLOTS, prefetch: 0 })
  }

  async hold(runnerCount: number): Promise<RaceTime> {
    this.#race = new Race(runnerCount)
    const handle = await this.#fabric.submit(race, { runnerCount })
    const time = await this.#race.finish()
    await handle.wait()
    return time
  }

  async close(): Promise<void> {
    this.#over.abort()
    await this.#watching
  }

  async #watch(): Promise<void> {
    const ends = this.#fabric.subscribe({ types: ['execution_ended'], signal: this.#over.signal })
    for await (const item of ends) {
      if (item.kind !== 'event') throw new Error('The ends of a race were lost.')
      if (item.event.outcome === 'cancelled') this.#race?.cancelled(item.event.executionId)
    }
  }
}

export const quorumCancel: Scenario = {
  summary:
    'executions of which the first to complete makes the others superfluous: until the last of them is cancelled',
  run,
}
