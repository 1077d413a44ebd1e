/** What order per key costs: executions of many keys that run one after the other within their keys, beside the same without order. */
import { task } from '../../src/client/index.ts'
import { createFabric } from '../../src/fabric/fabric.ts'
import { freshStore, storeSettings } from '../bench-store.ts'
import type { BenchStore } from '../bench-store.ts'
import { withInFlight } from '../load.ts'
import { machineSettings } from '../machine.ts'
import type { Measurement } from '../measurement.ts'
import type { Scenario, ScenarioRequest } from '../scenario.ts'
import { CONCURRENCY, PREFETCH, SUBMITS_IN_FLIGHT } from '../stages.ts'
import { median, rounded } from '../statistics.ts'
import { LANE, loadOf } from '../workload.ts'
import type { Load } from '../workload.ts'

const COUNT = 10_000
const KEYS = 1_000
const ROUNDS = 5

const work = task<Load, undefined>('bench.ordered', { lane: LANE })

interface Round {
  readonly orderedPerSecond: number
  readonly plainPerSecond: number
}

async function run({ store, options, say, ...request }: ScenarioRequest): Promise<Measurement> {
  const machine = machineSettings()
  const count = request.count ?? COUNT
  const keys = options.n ?? KEYS
  const rounds: Round[] = []
  for (let number = 1; number <= (request.rounds ?? ROUNDS); number++) {
    // The one that is first in a round changes, because the machine may become slower meanwhile.
    const isOrderedFirst = number % 2 === 1
    const first = await runAll(store, count, isOrderedFirst ? keys : undefined)
    const second = await runAll(store, count, isOrderedFirst ? undefined : keys)
    const [orderedPerSecond, plainPerSecond] = isOrderedFirst ? [first, second] : [second, first]
    rounds.push({ orderedPerSecond, plainPerSecond })
    say(`round ${number}: ${Math.round(orderedPerSecond)} in a second in order, ${Math.round(plainPerSecond)} without`)
  }
  return {
    metrics: {
      orderedPerSecond: Math.round(median(rounds.map((round) => round.orderedPerSecond))),
      plainPerSecond: Math.round(median(rounds.map((round) => round.plainPerSecond))),
    },
    ratios: { plain: rounded(median(rounds.map((round) => round.orderedPerSecond / round.plainPerSecond))) },
    settings: {
      count,
      n: keys,
      rounds: rounds.length,
      concurrency: CONCURRENCY,
      prefetch: PREFETCH[store],
      ...storeSettings[store],
      ...machine,
    },
  }
}

/** How many executions in a second one worker runs that one client submits meanwhile. Checks the order of each key. */
async function runAll(store: BenchStore, count: number, keys: number | undefined): Promise<number> {
  await using place = await freshStore(store)
  await using fabric = await createFabric(place.url)
  const done = Promise.withResolvers<undefined>()
  const latest = new Map<number, number>()
  let left = count
  const handler = work.handle(({ number }) => {
    if (keys !== undefined) {
      const before = latest.get(number % keys) ?? -1
      if (before > number) done.reject(new Error(`${number} ran after ${before}`))
      latest.set(number % keys, number)
    }
    left -= 1
    if (left === 0) done.resolve(undefined)
    return undefined
  })
  await fabric.work([handler], { concurrency: CONCURRENCY, prefetch: PREFETCH[store] })
  const startedAt = performance.now()
  const submitting = withInFlight(count, SUBMITS_IN_FLIGHT, async (number) => {
    const options = keys === undefined ? {} : { order: { key: String(number % keys) } }
    await fabric.submit(work, loadOf(number), options)
  })
  await Promise.all([submitting, done.promise])
  return count / ((performance.now() - startedAt) / 1_000)
}

export const ordered: Scenario = {
  summary: 'what order per key costs beside the same work without order; --n is the number of keys',
  run,
}
