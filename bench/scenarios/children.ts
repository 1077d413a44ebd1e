/**
 * A handler that starts many children and waits for all of them, beside a flow of the same shape: one root, as many nodes after
 * it, and one join after all of them. One at a time, so that its time is that of its own executions alone.
 */
import { task } from '../../src/client/index.ts'
import { createFabric } from '../../src/fabric/fabric.ts'
import type { Fabric } from '../../src/fabric/fabric.ts'
import { freshStore, storeSettings } from '../bench-store.ts'
import type { BenchStore } from '../bench-store.ts'
import { fan, pieceHandler } from '../fanout/fan-flow.ts'
import { machineSettings } from '../machine.ts'
import type { Measurement } from '../measurement.ts'
import { rotated } from '../rotation.ts'
import type { Scenario, ScenarioRequest } from '../scenario.ts'
import { CONCURRENCY, PREFETCH } from '../stages.ts'
import { median, rounded } from '../statistics.ts'
import { LANE } from '../workload.ts'

const CHILDREN = 1_000
/** Fan-outs of each kind that a round has, one after the other. */
const COUNT = 3
const ROUNDS = 3
/** A fan-out before the clock starts makes the queues known and opens connections. */
const SETTLING_CHILDREN = 50

const child = task<{ readonly number: number }, number>('bench.child', { lane: LANE })
const parent = task<{ readonly childCount: number }, number>('bench.parent', { lane: LANE })

const childHandler = child.handle(({ number }) => number)
const parentHandler = parent.handle(async ({ childCount }, ctx) => {
  const started = Array.from({ length: childCount }, (_, number) => ctx.spawn(`child${number}`, child, { number }))
  const numbers = await ctx.all(started)
  return numbers.length
})

interface FanOut {
  readonly ms: number
  /** Calls of the store, each with a batch of operations. */
  readonly calls: number
}

interface Round {
  readonly children: FanOut[]
  readonly flow: FanOut[]
}

async function run({ store, options, say, ...request }: ScenarioRequest): Promise<Measurement> {
  const machine = machineSettings()
  const childCount = options.n ?? CHILDREN
  const count = request.count ?? COUNT
  const roundCount = request.rounds ?? ROUNDS
  say('warming up')
  await measureRound(store, childCount, 1, 0)
  const rounds: Round[] = []
  for (let number = 1; number <= roundCount; number++) {
    const round = await measureRound(store, childCount, count, number)
    rounds.push(round)
    say(`round ${number}: children ${timesOf(round.children)} ms, flow ${timesOf(round.flow)} ms`)
  }
  const children = rounds.flatMap((round) => round.children)
  const flow = rounds.flatMap((round) => round.flow)
  const perChildMs = perChild(children, childCount)
  const flowPerChildMs = perChild(flow, childCount)
  return {
    metrics: {
      perChildMs,
      calls: Math.round(median(children.map(({ calls }) => calls))),
      flowPerChildMs,
      flowCalls: Math.round(median(flow.map(({ calls }) => calls))),
    },
    ratios: { flow: rounded(median(rounds.map((round) => perChild(round.children, 1) / perChild(round.flow, 1)))) },
    settings: {
      n: childCount,
      count,
      rounds: roundCount,
      concurrency: CONCURRENCY,
      prefetch: PREFETCH[store],
      ...storeSettings[store],
      ...machine,
    },
  }
}

/** The two kinds take turns, and each round begins with the other one. */
async function measureRound(store: BenchStore, childCount: number, count: number, number: number): Promise<Round> {
  await using place = await freshStore(store)
  await using fabric = await createFabric(place.url)
  await fabric.work([parentHandler, childHandler, pieceHandler], {
    concurrency: CONCURRENCY,
    prefetch: PREFETCH[store],
  })
  const runChildren = async (n: number) => {
    const execution = await fabric.submit(parent, { childCount: n })
    await execution.result()
  }
  const runFlow = async (n: number) => {
    const handle = await fabric.submit(fan, { width: n })
    await handle.result()
  }
  const round: Round = { children: [], flow: [] }
  const kinds = [
    { run: runChildren, times: round.children },
    { run: runFlow, times: round.flow },
  ]
  for (const kind of kinds) await kind.run(Math.min(childCount, SETTLING_CHILDREN))
  for (let turn = 0; turn < count; turn++) {
    for (const kind of rotated(kinds, number + turn)) {
      kind.times.push(await timed(fabric, () => kind.run(childCount)))
    }
  }
  return round
}

async function timed(fabric: Fabric, fanOut: () => Promise<void>): Promise<FanOut> {
  const { store } = fabric.batcher
  const right = store.run.bind(store)
  let calls = 0
  store.run = (...call) => {
    calls += 1
    return right(...call)
  }
  const startedAt = performance.now()
  try {
    await fanOut()
    return { ms: performance.now() - startedAt, calls }
  } finally {
    store.run = right
  }
}

function perChild(fanOuts: readonly FanOut[], childCount: number): number {
  return Number((median(fanOuts.map(({ ms }) => ms)) / childCount).toFixed(3))
}

function timesOf(fanOuts: readonly FanOut[]): string {
  return fanOuts.map(({ ms }) => Math.round(ms)).join(', ')
}

export const childrenOfHandlers: Scenario = {
  summary: 'a handler that starts many children and waits for all of them, beside a flow of the same shape',
  run,
}
