/**
 * Processes around a store on a server that are killed at any moment and started again, until all the work they were
 * given has ended. Then their records are compared with the store.
 */
import { expect } from 'vitest'
import { silentLog } from '../../src/runtime/index.ts'
import { createFabric } from '../../src/fabric/index.ts'
import type { Fabric } from '../../src/fabric/index.ts'
import { problemsOf } from '../conformance/invariants.ts'
import { findDisagreements } from '../crash/agreement.ts'
import { Fleet } from '../crash/fleet.ts'
import { executionsOf, findFaults } from '../crash/history.ts'
import { seededRandom } from '../../src/runtime/seeded-random.fixture.ts'
import type { Site } from '../crash/site.ts'
import { keyOf } from '../crash/work.ts'
import { until } from '../servers/until.ts'
import { SHORT_LEASE_MS, onePerPartition, plain } from './load.ts'
import { ServerSite } from './server-site.ts'
import { dumpsOf, mergedDump, say, untilAllEnded } from './verdict.ts'

/** Given, it repeats the kills of an earlier run, as far as the machine lets them repeat. */
const SEED = Number(process.env['FLOWFABRIC_CRASH_SEED'] ?? Math.floor(Math.random() * 1_000_000_000))

/** What is acknowledged between two kills, at least. */
const BETWEEN_KILLS = 15
/** Kills of workers beyond those of the plan, until one of them held a lease. */
const EXTRA_KILLS_MAX = 20
const PROGRESS_LIMIT_MS = 90_000
const PROBE_LIMIT_MS = 60_000
/** What a killed worker held comes back soon. */
export const LEASE_MS = SHORT_LEASE_MS
const SUBMITS_PER_SECOND = 60

/** The answers to a caller that has lost its lease. */
const leaseLosses = ['lease_expired', 'stale_lease', 'execution_not_active']

/** Prints its seed, so that the run can be repeated. */
export function newFleet(ahead?: URL): Fleet {
  console.log(`FLOWFABRIC_CRASH_SEED=${SEED}`)
  return new Fleet(seededRandom(SEED), ahead)
}

/** Two engines, three workers and a submitter. */
function startAll(fleet: Fleet, site: Site): void {
  for (const number of [1, 2]) fleet.start(site.engine(`engine-${number}`))
  for (const number of [1, 2, 3]) fleet.start(site.worker(`worker-${number}`, LEASE_MS))
  fleet.start(site.submitter('submitter-1', SUBMITS_PER_SECOND))
}

/** Waits until this many more pieces of work were acknowledged. */
export async function untilAcknowledged(site: Site, count: number): Promise<void> {
  const enough = site.acknowledged().size + count
  const hasProgress = async (): Promise<true | undefined> => site.acknowledged().size >= enough || undefined
  await until('work progresses', PROGRESS_LIMIT_MS, hasProgress)
}

/** Has the processes do a new piece of work in every partition. */
export async function seeAllPartitions(fabric: Fabric): Promise<void> {
  const signal = AbortSignal.timeout(PROBE_LIMIT_MS)
  const probes = onePerPartition(fabric, 'probe').map(async (work) => {
    const execution = await fabric.submit(plain.task, work, { id: keyOf(work) })
    await execution.result({ signal })
  })
  await Promise.all(probes)
}

/**
 * Kills processes one after the other, lets the others finish the work and judges the store. `ahead` is a module that each
 * process loads before its program.
 */
export async function killProcesses(what: string, location: string, kills: number, ahead?: URL): Promise<void> {
  using site = new ServerSite(location)
  await using fleet = newFleet(ahead)

  startAll(fleet, site)
  fleet.start(site.rogue('rogue', LEASE_MS))
  for (let kill = 0; kill < kills; kill++) {
    await untilAcknowledged(site, BETWEEN_KILLS)
    await fleet.killAny()
  }
  await killUntilReclaimed(site, fleet)
  await fleet.stop('submitter')
  await fleet.stop('rogue')
  const numbers = await judgeSite(site, fleet)
  say(what, { kills: fleet.killCount, ...numbers })
  expect(site.forgeries().filter((answer) => !leaseLosses.includes(answer))).toEqual([])
  expect(numbers.reclaimed).toBeGreaterThan(0)
}

/** Kills workers until a lease has expired: the kills so far may all have hit other processes, or workers without a lease. */
async function killUntilReclaimed(site: Site, fleet: Fleet): Promise<void> {
  await using fabric = await createFabric(site.location, { log: silentLog })
  for (let kill = 0; kill < EXTRA_KILLS_MAX; kill++) {
    if (countReclaimed(mergedDump(await dumpsOf(fabric))) > 0) return
    await untilAcknowledged(site, BETWEEN_KILLS)
    await fleet.killAny('worker')
  }
}

function countReclaimed({ events }: ReturnType<typeof mergedDump>): number {
  return events.filter(({ type }) => type === 'lease_expired').length
}

export interface SiteVerdict {
  readonly acknowledged: number
  readonly ended: number
  readonly reclaimed: number
  readonly lost: number
  readonly [what: string]: number
}

/** Waits for all work to end, stops the processes and judges the store. The submitters have stopped. */
export async function judgeSite(site: Site, fleet: Fleet): Promise<SiteVerdict> {
  await using fabric = await createFabric(site.location, { log: silentLog })
  await untilAllEnded(fabric)
  await seeAllPartitions(fabric)
  await fleet.stop('')

  const dumps = await dumpsOf(fabric)
  const whole = mergedDump(dumps)
  for (const dump of dumps) expect([...problemsOf(dump), ...findFaults(dump)]).toEqual([])
  expect(await findDisagreements(site, fabric, whole)).toEqual([])
  expect(fleet.complaints).toEqual([])
  const acknowledged = [...site.acknowledged().values()]
  const found = new Set<string>(executionsOf(whole).map(({ id }) => id))
  return {
    acknowledged: acknowledged.length,
    ended: found.size,
    reclaimed: countReclaimed(whole),
    lost: acknowledged.filter((id) => !found.has(id)).length,
  }
}
