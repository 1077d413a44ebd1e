/** The stages that a system is put through: submitting alone, draining alone, both at once, and single starts. */
import { freshStore } from './bench-store.ts'
import type { BenchStore, StorePlace } from './bench-store.ts'
import { atRate, perSecond, timed, withInFlight } from './load.ts'
import type { Peer, PeerSession, WorkOrder } from './peers/peer.ts'
import { watchServers } from './server-watch.ts'
import type { ServerUse } from './server-watch.ts'
import { loadOf } from './workload.ts'

/** Pieces of work in one stage, rounds of all stages, and pieces of work before the first round. */
export const COUNT = 10_000
export const ROUNDS = 5
export const WARM_UP_COUNT = 3_000
export const SUBMITS_IN_FLIGHT = 64
export const CONCURRENCY = 16
/**
 * What a worker claims beyond what its handlers run, by the store that it asks. It sets how many rows one claim takes: on
 * Postgres that decides the rate, so that every peer that can claim ahead claims as much.
 */
export const PREFETCH: Readonly<Record<BenchStore, number>> = {
  memory: 16,
  sqlite: 16,
  valkey: 16,
  'valkey-cluster': 16,
  postgres: 112,
}
export const STARTS_PER_SECOND = 100
/** Three seconds of starts in each round. */
export const START_COUNT = 300

/** What one stage took. */
export interface Effort {
  readonly perSecond: number
  /** What the whole process spent on one piece of work, all its threads together. */
  readonly clientMicros: number
  /** What the store's servers did in all; nothing where the store lives in the process. */
  readonly servers: ServerUse
}

export interface StagedEffort {
  readonly submit: Effort
  readonly drain: Effort
}

/** First everything is submitted without a worker, then everything is worked off without a submitter. */
export async function measureStages(
  peer: Peer,
  store: BenchStore,
  count: number,
  delayMs?: number,
): Promise<StagedEffort> {
  await using place = await freshStore(store, delayMs)
  await using session = await peer.open(place)
  const submit = await measured(place, count, () => submitAll(session, count))
  const worker = await session.prepareWorker(orderOf(store, count, ignore))
  const drain = await measured(place, count, () => worker.start())
  await proveCompleted(session, count)
  return { submit, drain }
}

/** A worker waits; from the first submit to the moment when the last result is stored. */
export async function measureEndToEnd(peer: Peer, store: BenchStore, count: number, delayMs?: number): Promise<Effort> {
  await using place = await freshStore(store, delayMs)
  await using session = await peer.open(place)
  const worker = await session.prepareWorker(orderOf(store, count, ignore))
  const effort = await measured(place, count, () => Promise.all([worker.start(), submitAll(session, count)]))
  await proveCompleted(session, count)
  return effort
}

/** Milliseconds from the call of submit to the first line of the handler, one for each start on an idle worker. */
export async function measureStarts(peer: Peer, store: BenchStore, count: number, delayMs?: number): Promise<number[]> {
  await using place = await freshStore(store, delayMs)
  await using session = await peer.open(place)
  const submittedAt: number[] = []
  const startMs: number[] = []
  const onStart = (number: number) => {
    startMs.push(performance.now() - (submittedAt[number] ?? Number.NaN))
  }
  const worker = await session.prepareWorker(orderOf(store, count, onStart))
  const submits = () =>
    atRate(count, STARTS_PER_SECOND, async (number) => {
      submittedAt[number] = performance.now()
      await session.submit(loadOf(number))
    })
  await Promise.all([worker.start(), submits()])
  return startMs
}

function orderOf(store: BenchStore, count: number, onStart: (number: number) => void): WorkOrder {
  return { count, concurrency: CONCURRENCY, prefetch: PREFETCH[store], onStart }
}

async function submitAll(session: PeerSession, count: number): Promise<void> {
  await withInFlight(count, SUBMITS_IN_FLIGHT, (number) => session.submit(loadOf(number)))
}

/** Does the work and returns what it took for each piece. */
export async function measured(place: StorePlace, count: number, work: () => Promise<unknown>): Promise<Effort> {
  const watch = await watchServers(place.servers)
  const cpuBefore = process.cpuUsage()
  const elapsedMs = await timed(work)
  const { user, system } = process.cpuUsage(cpuBefore)
  return {
    perSecond: perSecond(count, elapsedMs),
    clientMicros: (user + system) / count,
    servers: await watch.end(),
  }
}

/** A rate counts only if all of the work was done, and is still there to be looked at where it can be kept. */
async function proveCompleted(session: PeerSession, count: number): Promise<void> {
  const completed = await session.completedCount()
  if (completed !== count) throw new Error(`The store has ${completed} completed pieces of work instead of ${count}.`)
}

function ignore(): void {
  // Only the measurement of starts looks at them.
}
