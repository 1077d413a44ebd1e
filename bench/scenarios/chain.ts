/**
 * Flows in which every node comes after the one before it: how many one process takes through in a second, and how long
 * one takes with nothing else to do. Beside the peers of the store, each stage is run by all before the next begins, and
 * each round begins with another; beside SQLite runs a bare loop that writes the same rows.
 */
import path from 'node:path'
import { BATCH_OPERATION_LIMIT } from '../../src/kernel/index.ts'
import { systemRuntime } from '../../src/runtime/index.ts'
import { SYNCHRONOUS, storeSettings } from '../bench-store.ts'
import type { BenchStore } from '../bench-store.ts'
import type { ChainPeer } from '../chains/chain-peer.ts'
import { chainRows } from '../chains/chain-rows.ts'
import { flowfabricChains } from '../chains/flowfabric.ts'
import { chainPeersOn } from '../chains/index.ts'
import { CHAINS_IN_FLIGHT, measureLoneChains, measureManyChains } from '../chains/measure-chains.ts'
import type { ChainsEffort } from '../chains/measure-chains.ts'
import { serverMicros, wireBytes, wireMetrics } from '../effort.ts'
import { freshFolder } from '../folder.ts'
import { eachInTurn, measuredOf } from '../in-turn.ts'
import type { ByName } from '../in-turn.ts'
import type { LifeRows } from '../life-rows.ts'
import { machineSettings } from '../machine.ts'
import type { Measurement, Settings } from '../measurement.ts'
import { prefixed } from '../metric-name.ts'
import { rawStorePerSecond } from '../raw-store.ts'
import { rotated } from '../rotation.ts'
import type { Scenario, ScenarioRequest } from '../scenario.ts'
import { serverMetrics } from '../server-metrics.ts'
import { CONCURRENCY, PREFETCH } from '../stages.ts'
import { median, percentile, rounded } from '../statistics.ts'

const LENGTH = 10
/** Chains that a round runs with many under way at once, and one at a time. */
const FLOWS = 200
const LONE_COUNT = 50
const ROUNDS = 5

interface ChainRound {
  readonly many: ChainsEffort
  readonly loneMs: readonly number[]
}

interface Round {
  readonly chains: ByName<ChainRound>
  /** Only where there is a store beneath that can be used without the engine. */
  readonly rawPerSecond: number | undefined
}

/** How much of everything a round has. */
interface RoundSize {
  readonly store: BenchStore
  readonly length: number
  readonly flows: number
  readonly loneCount: number
  /** Added each way by a proxy; undefined for none. */
  readonly delayMs: number | undefined
  /** What the bare loop writes, where there is one. */
  readonly rows: LifeRows | undefined
}

async function run({ store, options, say, ...request }: ScenarioRequest): Promise<Measurement> {
  const machine = machineSettings()
  const length = options.length ?? LENGTH
  const size: RoundSize = {
    store,
    length,
    flows: options.flows ?? FLOWS,
    loneCount: request.count ?? LONE_COUNT,
    delayMs: options.delay,
    rows: store === 'sqlite' ? await chainRows(length) : undefined,
  }
  const others = await chainPeersOn(store)
  const peers = [flowfabricChains, ...others]
  say('warming up')
  await measureRound(peers, size)

  const rounds: Round[] = []
  for (let number = 0; number < (request.rounds ?? ROUNDS); number++) {
    const round = await measureRound(rotated(peers, number), size)
    rounds.push(round)
    for (const { name } of peers) say(`round ${number + 1}: ${describe(name, measuredOf(round.chains, name))}`)
    if (round.rawPerSecond !== undefined) say(`round ${number + 1}: raw store ${Math.round(round.rawPerSecond)}/s`)
  }
  return {
    metrics: Object.assign({}, ...peers.map((peer) => metricsOf(peer, size, rounds))) as Record<string, number>,
    ratios: Object.assign(rawRatio(rounds), ...others.map(({ name }) => ratiosTo(name, size, rounds))) as Record<
      string,
      number
    >,
    settings: { ...settingsOf(peers, size, rounds.length), ...storeSettings[store], ...machine },
  }
}

async function measureRound(peers: readonly ChainPeer[], size: RoundSize): Promise<Round> {
  const { store, length, flows, loneCount, delayMs } = size
  const many = await eachInTurn(peers, (peer) => measureManyChains(peer, store, length, flows, delayMs))
  const rawPerSecond = size.rows === undefined ? undefined : await measureRaw(flows, size.rows)
  const lone = await eachInTurn(peers, (peer) => measureLoneChains(peer, store, length, loneCount, delayMs))
  const chains = peers.map(
    ({ name }) => [name, { many: measuredOf(many, name), loneMs: measuredOf(lone, name) }] as const,
  )
  return { chains: new Map(chains), rawPerSecond }
}

async function measureRaw(flows: number, rows: LifeRows): Promise<number> {
  await using folder = await freshFolder()
  return await rawStorePerSecond(systemRuntime(), {
    file: path.join(folder.path, 'raw.db'),
    synchronous: SYNCHRONOUS,
    count: flows,
    batchSize: BATCH_OPERATION_LIMIT,
    rows,
  })
}

/** FlowFabric's own have no name before them. */
function metricsOf(peer: ChainPeer, { length, flows }: RoundSize, rounds: readonly Round[]): Record<string, number> {
  const own = rounds.map(({ chains }) => measuredOf(chains, peer.name))
  const middle = (value: (effort: ChainsEffort) => number) => median(own.map(({ many }) => value(many)))
  const chainMs = own.flatMap(({ many }) => many.chainMs)
  const loneMs = own.flatMap((round) => round.loneMs)
  const efforts = own.map(({ many }) => many)
  const uses = efforts.map(({ servers }) => servers)
  const hasServers = uses.some(({ kind }) => kind !== 'none')
  const metrics = {
    flowsPerSecond: rounded(middle(({ perSecond }) => perSecond)),
    p50Ms: rounded(percentile(chainMs, 0.5)),
    p99Ms: rounded(percentile(chainMs, 0.99)),
    loneP50Ms: rounded(percentile(loneMs, 0.5)),
    loneP99Ms: rounded(percentile(loneMs, 0.99)),
    cpuMicrosPerFlow: Math.round(middle(({ clientMicros }) => clientMicros)),
    ...(hasServers && { serverCpuMicrosPerFlow: Math.round(middle((effort) => serverMicros(effort, flows))) }),
    ...wireMetrics(efforts, flows),
  }
  if (peer === flowfabricChains) return { ...metrics, ...serverMetrics(uses, flows * length) }
  return prefixed(peer.name, metrics)
}

/** Above one, FlowFabric is the faster of the two; of CPU time and bytes, below one, FlowFabric needs less. */
function ratiosTo(name: string, { store, flows }: RoundSize, rounds: readonly Round[]): Record<string, number> {
  const middle = (ratio: (ours: ChainRound, theirs: ChainRound) => number) =>
    rounded(
      median(rounds.map(({ chains }) => ratio(measuredOf(chains, flowfabricChains.name), measuredOf(chains, name)))),
    )
  return {
    [name]: middle((ours, theirs) => ours.many.perSecond / theirs.many.perSecond),
    [`${name}LoneP50`]: middle((ours, theirs) => percentile(theirs.loneMs, 0.5) / percentile(ours.loneMs, 0.5)),
    [`${name}ServerCpu`]: middle((ours, theirs) => serverMicros(ours.many, flows) / serverMicros(theirs.many, flows)),
    ...(store === 'valkey' && {
      [`${name}WireBytes`]: middle(
        (ours, theirs) => (wireBytes(ours.many, flows) ?? NaN) / (wireBytes(theirs.many, flows) ?? NaN),
      ),
    }),
  }
}

function rawRatio(rounds: readonly Round[]): Record<string, number> {
  const ratios = rounds.flatMap(({ chains, rawPerSecond }) =>
    rawPerSecond === undefined ? [] : [measuredOf(chains, flowfabricChains.name).many.perSecond / rawPerSecond],
  )
  return ratios.length === 0 ? {} : { rawStore: rounded(median(ratios)) }
}

function settingsOf(peers: readonly ChainPeer[], size: RoundSize, rounds: number): Settings {
  const own = Object.assign({}, ...peers.map((peer) => peer.settings)) as Settings
  return {
    length: size.length,
    flows: size.flows,
    loneFlows: size.loneCount,
    rounds,
    flowsInFlight: CHAINS_IN_FLIGHT,
    concurrency: CONCURRENCY,
    prefetch: PREFETCH[size.store],
    ...(size.delayMs !== undefined && { delayMs: size.delayMs }),
    ...own,
  }
}

function describe(name: string, { many, loneMs }: ChainRound): string {
  const [p50, p99, lone] = [percentile(many.chainMs, 0.5), percentile(many.chainMs, 0.99), percentile(loneMs, 0.5)].map(
    rounded,
  )
  return `${name}: ${Math.round(many.perSecond)} flows/s, p50 ${p50} ms, p99 ${p99} ms, alone p50 ${lone} ms`
}

export const chain: Scenario = {
  summary: 'flows whose nodes run one after the other, through FlowFabric and its peers, in turn',
  run,
}
