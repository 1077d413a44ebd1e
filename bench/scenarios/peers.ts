/**
 * FlowFabric and the peers of its store, put through the same stages in one run. Each stage is run by all of them before
 * the next begins, and each round begins with another, so that a disturbance of the machine affects all of them.
 */
import { storeSettings } from '../bench-store.ts'
import type { BenchStore } from '../bench-store.ts'
import { busierShare, coresUsed, serverMicros, wireBytes, wireMetrics } from '../effort.ts'
import { eachInTurn, measuredOf } from '../in-turn.ts'
import type { ByName } from '../in-turn.ts'
import { machineSettings } from '../machine.ts'
import { prefixed } from '../metric-name.ts'
import { flowfabric } from '../peers/flowfabric.ts'
import { peersOn } from '../peers/index.ts'
import type { Peer } from '../peers/peer.ts'
import { rotated } from '../rotation.ts'
import type { Measurement, Settings } from '../measurement.ts'
import type { Scenario, ScenarioRequest } from '../scenario.ts'
import {
  CONCURRENCY,
  COUNT,
  PREFETCH,
  ROUNDS,
  STARTS_PER_SECOND,
  START_COUNT,
  SUBMITS_IN_FLIGHT,
  WARM_UP_COUNT,
  measureEndToEnd,
  measureStages,
  measureStarts,
} from '../stages.ts'
import type { Effort, StagedEffort } from '../stages.ts'
import { median, percentile, rounded } from '../statistics.ts'
import { PAYLOAD_BYTES } from '../workload.ts'

interface PeerRound extends StagedEffort {
  readonly endToEnd: Effort
  readonly startMs: readonly number[]
}

/** How much of everything a round has, and where. */
interface RoundSize {
  readonly store: BenchStore
  readonly count: number
  readonly startCount: number
  /** Added each way by a proxy; undefined for none. */
  readonly delayMs: number | undefined
}

/** What one round measured. */
type Round = ByName<PeerRound>

async function run({ store, options, say, ...request }: ScenarioRequest): Promise<Measurement> {
  const machine = machineSettings()
  const count = request.count ?? COUNT
  const others = peersOn[store] ?? []
  const peers = [flowfabric, ...others]
  say('warming up')
  const size: RoundSize = { store, count, startCount: START_COUNT, delayMs: options.delay }
  await measureRound(peers, { ...size, count: Math.min(count, WARM_UP_COUNT), startCount: START_COUNT / 3 })

  const rounds: Round[] = []
  for (let number = 0; number < (request.rounds ?? ROUNDS); number++) {
    const round = await measureRound(rotated(peers, number), size)
    rounds.push(round)
    for (const { name } of peers) say(`round ${number + 1}: ${describe(name, measuredOf(round, name))}`)
  }
  return {
    metrics: Object.assign({}, ...peers.map((peer) => metricsOf(peer.name, count, rounds))) as Record<string, number>,
    ratios: Object.assign({}, ...others.map((peer) => ratiosTo(peer.name, size, rounds))) as Record<string, number>,
    settings: { ...settingsOf(peers, size, rounds.length), ...storeSettings[store], ...machine },
  }
}

async function measureRound(peers: readonly Peer[], size: RoundSize): Promise<Round> {
  const { store, count, startCount, delayMs } = size
  const stages = await eachInTurn(peers, (peer) => measureStages(peer, store, count, delayMs))
  const endToEnds = await eachInTurn(peers, (peer) => measureEndToEnd(peer, store, count, delayMs))
  const starts = await eachInTurn(peers, (peer) => measureStarts(peer, store, startCount, delayMs))
  return new Map(
    peers.map(({ name }) => [
      name,
      {
        ...measuredOf(stages, name),
        endToEnd: measuredOf(endToEnds, name),
        startMs: measuredOf(starts, name),
      },
    ]),
  )
}

function metricsOf(name: string, count: number, rounds: readonly Round[]): Record<string, number> {
  const own = rounds.map((round) => measuredOf(round, name))
  const middle = (value: (round: PeerRound) => number) => median(own.map(value))
  const starts = own.flatMap((round) => round.startMs)
  const endToEnds = own.map(({ endToEnd }) => endToEnd)
  return {
    [`${name}EndToEndPerSecond`]: Math.round(middle((round) => round.endToEnd.perSecond)),
    [`${name}SubmitPerSecond`]: Math.round(middle((round) => round.submit.perSecond)),
    [`${name}DrainPerSecond`]: Math.round(middle((round) => round.drain.perSecond)),
    [`${name}StartP50Ms`]: rounded(percentile(starts, 0.5)),
    [`${name}StartP99Ms`]: rounded(percentile(starts, 0.99)),
    [`${name}ClientCpuMicros`]: rounded(middle((round) => round.endToEnd.clientMicros)),
    [`${name}ServerCpuMicros`]: rounded(middle((round) => serverMicros(round.endToEnd, count))),
    [`${name}CoresUsed`]: rounded(middle((round) => coresUsed(round.endToEnd, count))),
    [`${name}EndToEndBusy`]: rounded(middle((round) => busierShare(round.endToEnd, count))),
    [`${name}SubmitBusy`]: rounded(middle((round) => busierShare(round.submit, count))),
    [`${name}DrainBusy`]: rounded(middle((round) => busierShare(round.drain, count))),
    ...prefixed(name, wireMetrics(endToEnds, count)),
    ...postgresMetricsOf(name, count, own),
  }
}

/** What only a PostgreSQL server counts. */
function postgresMetricsOf(name: string, count: number, rounds: readonly PeerRound[]): Record<string, number> {
  const uses = rounds.map(({ endToEnd }) => endToEnd.servers).filter((use) => use.kind === 'postgres')
  if (uses.length === 0) return {}
  return {
    [`${name}Commits`]: rounded(median(uses.map(({ commits }) => commits / count))),
    [`${name}WalBytes`]: Math.round(median(uses.map(({ walBytes }) => walBytes / count))),
  }
}

/** Above one, FlowFabric is the faster of the two; of CPU time and bytes, below one, FlowFabric needs less. */
function ratiosTo(name: string, { store, count }: RoundSize, rounds: readonly Round[]): Record<string, number> {
  const middle = (ratio: (ours: PeerRound, theirs: PeerRound) => number) =>
    rounded(median(rounds.map((round) => ratio(measuredOf(round, flowfabric.name), measuredOf(round, name)))))
  return {
    [name]: middle((ours, theirs) => ours.endToEnd.perSecond / theirs.endToEnd.perSecond),
    [`${name}Drain`]: middle((ours, theirs) => ours.drain.perSecond / theirs.drain.perSecond),
    [`${name}Submit`]: middle((ours, theirs) => ours.submit.perSecond / theirs.submit.perSecond),
    [`${name}StartP50`]: middle((ours, theirs) => percentile(theirs.startMs, 0.5) / percentile(ours.startMs, 0.5)),
    [`${name}ServerCpu`]: middle(
      (ours, theirs) => serverMicros(ours.endToEnd, count) / serverMicros(theirs.endToEnd, count),
    ),
    [`${name}ClientCpu`]: middle((ours, theirs) => ours.endToEnd.clientMicros / theirs.endToEnd.clientMicros),
    ...(store === 'valkey' && {
      [`${name}WireBytes`]: middle(
        (ours, theirs) => (wireBytes(ours.endToEnd, count) ?? NaN) / (wireBytes(theirs.endToEnd, count) ?? NaN),
      ),
    }),
  }
}

function settingsOf(peers: readonly Peer[], size: RoundSize, rounds: number): Settings {
  const { store, count, delayMs } = size
  const own = Object.assign({}, ...peers.map((peer) => peer.settings)) as Settings
  return {
    count,
    rounds,
    payloadBytes: PAYLOAD_BYTES,
    submitsInFlight: SUBMITS_IN_FLIGHT,
    concurrency: CONCURRENCY,
    prefetch: PREFETCH[store],
    startsPerSecond: STARTS_PER_SECOND,
    startsPerRound: START_COUNT,
    ...(delayMs !== undefined && { delayMs }),
    ...own,
  }
}

function describe(name: string, { endToEnd, submit, drain, startMs }: PeerRound): string {
  const rates = [
    ['end to end', endToEnd],
    ['submit', submit],
    ['drain', drain],
  ] as const
  const texts = rates.map(([stage, effort]) => `${stage} ${Math.round(effort.perSecond)}/s`)
  const percentiles = [0.5, 0.99].map((fraction) => rounded(percentile(startMs, fraction)))
  return `${name}: ${texts.join(', ')}, start p50 ${percentiles[0]} ms, p99 ${percentiles[1]} ms`
}

export const peers: Scenario = {
  summary: `the same ${PAYLOAD_BYTES}-byte work through FlowFabric and its peers, in turn`,
  run,
}
