/** What every system is put through that can run chains: many at once, and one at a time. */
import { freshStore } from '../bench-store.ts'
import type { BenchStore } from '../bench-store.ts'
import { timed, withInFlight } from '../load.ts'
import { CONCURRENCY, PREFETCH, measured } from '../stages.ts'
import type { Effort } from '../stages.ts'
import type { ChainPeer, ChainSession } from './chain-peer.ts'

/** Chains under way at once: each caller waits for the end of its chain before it begins the next. */
export const CHAINS_IN_FLIGHT = 64
/** Chains before the clock starts, so that queues are known and connections are open: as many as are under way at once. */
const SETTLING_COUNT = CHAINS_IN_FLIGHT

export interface ChainsEffort extends Effort {
  /** One for each chain, from its submit to its end. */
  readonly chainMs: readonly number[]
}

/** So many chains with many under way at once. Its numbers for one piece are those for one chain. */
export async function measureManyChains(
  peer: ChainPeer,
  store: BenchStore,
  length: number,
  count: number,
  delayMs?: number,
): Promise<ChainsEffort> {
  await using place = await freshStore(store, delayMs)
  await using session = await peer.open(place, { length, concurrency: CONCURRENCY, prefetch: PREFETCH[store] })
  await runChains(session, length, SETTLING_COUNT, CHAINS_IN_FLIGHT)
  let chainMs: number[] = []
  const effort = await measured(place, count, async () => {
    chainMs = await runChains(session, length, count, CHAINS_IN_FLIGHT)
  })
  await proveCompleted(session, length * (SETTLING_COUNT + count))
  return { ...effort, chainMs }
}

/** Milliseconds that each chain took from its submit to its end with nothing else to do. */
export async function measureLoneChains(
  peer: ChainPeer,
  store: BenchStore,
  length: number,
  count: number,
  delayMs?: number,
): Promise<number[]> {
  await using place = await freshStore(store, delayMs)
  await using session = await peer.open(place, { length, concurrency: CONCURRENCY, prefetch: PREFETCH[store] })
  await runChains(session, length, SETTLING_COUNT, CHAINS_IN_FLIGHT)
  const chainMs = await runChains(session, length, count, 1)
  await proveCompleted(session, length * (SETTLING_COUNT + count))
  return chainMs
}

async function runChains(session: ChainSession, length: number, count: number, inFlight: number): Promise<number[]> {
  const chainMs: number[] = []
  await withInFlight(count, inFlight, async (number) => {
    chainMs.push(await timed(() => runChain(session, length, number)))
  })
  return chainMs
}

/** Every link has added one to what it was given, or a chain has not passed on its values. */
async function runChain(session: ChainSession, length: number, number: number): Promise<void> {
  const answered = await session.run(number)
  if (answered !== number + length) throw new Error(`Chain ${number} answered ${answered} after ${length} links.`)
}

async function proveCompleted(session: ChainSession, count: number): Promise<void> {
  const completed = await session.completedLinkCount()
  if (completed !== count) throw new Error(`The store has ${completed} completed links instead of ${count}.`)
}
