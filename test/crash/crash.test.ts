import { copyFileSync, existsSync } from 'node:fs'
import { DatabaseSync, backup } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { silentLog } from '../../src/runtime/index.ts'
import { executionPartition } from '../../src/stores/store.ts'
import type { PartitionDump } from '../../src/stores/store.ts'
import { createFabric } from '../../src/fabric/index.ts'
import type { Fabric } from '../../src/fabric/index.ts'
import { findDisagreements } from './agreement.ts'
import { Fleet } from './fleet.ts'
import { executionsOf, findFaults } from './history.ts'
import { seededRandom } from '../../src/runtime/seeded-random.fixture.ts'
import type { Random } from '../../src/runtime/seeded-random.fixture.ts'
import { Site, integrityOf } from './site.ts'
import { atThisPace } from './slowness.ts'

/** Given, it repeats the kills of an earlier run, as far as the machine lets them repeat. */
const SEED = Number(process.env['FLOWFABRIC_CRASH_SEED'] ?? Math.floor(Math.random() * 1_000_000_000))

const STRIKING_MS = 30_000
/** How much longer the fleet is struck when the machine was so slow that what the test is about has not happened yet. */
const STRIKING_LIMIT_MS = 120_000
const ACKNOWLEDGED_LEAST = 500
/** The time between two kills or pauses is drawn from here. */
const BETWEEN_BLOWS_MS = { least: 100, most: 500 }
/** The share of blows that are pauses: a dead worker is silent, a paused one resumes with a lost lease. */
const PAUSED_SHARE = 0.25
/** Longer than a lease. */
const PAUSE_MS = { least: atThisPace(1_200), most: atThisPace(2_000) }
/** The shortest that there is, on an idle machine, so that what a dead worker held comes back while the test still runs. */
const SHORT_LEASE_MS = atThisPace(1_000)
const ORDINARY_LEASE_MS = 30_000
/** How long everything may take to end once nothing is killed any more. */
const END_LIMIT_MS = 90_000
const LOOK_EVERY_MS = 100
/** More than the store ever has here. */
const BACKUP_PAGES_MAX = 1_000_000
/** A process that was killed in the middle of a write leaves a file that the next one repairs, while others wait. */
const REPAIR_LIMIT_MS = 30_000
const OPENING_ROUNDS = 5
const OPENERS = 6
/** About as long as it takes that many processes to open one file. */
const OPENING_MS = 150

function openFabric(location: string): Promise<Fabric> {
  return createFabric(location, { log: silentLog })
}

function dumpOf(fabric: Fabric): Promise<PartitionDump> {
  return fabric.store.dump(executionPartition(0))
}

/** The answers to a caller that has lost its lease. */
const leaseLosses = ['lease_expired', 'stale_lease', 'execution_not_active']
const endStates = ['completed', 'failed', 'cancelled', 'expired']

async function untilAllEnded(fabric: Fabric): Promise<void> {
  const limitAt = performance.now() + END_LIMIT_MS
  for (;;) {
    const states = (await fabric.lanes()).flatMap(({ counts }) => Object.keys(counts))
    const unfinished = states.filter((state) => !endStates.includes(state))
    if (unfinished.length === 0) return
    if (performance.now() > limitAt)
      throw new Error(`Some are still ${unfinished.join(', ')} after ${END_LIMIT_MS} ms.`)
    await sleep(LOOK_EVERY_MS)
  }
}

/** Two engines, three workers and two submitters. */
function startAll(fleet: Fleet, site: Site, leaseTtlMs: number, submitsPerSecond: number): void {
  for (const number of [1, 2]) fleet.start(site.engine(`engine-${number}`))
  for (const number of [1, 2, 3]) fleet.start(site.worker(`worker-${number}`, leaseTtlMs))
  for (const number of [1, 2]) fleet.start(site.submitter(`submitter-${number}`, submitsPerSecond))
}

/** Kills processes and pauses workers, one after the other, for a while and until the work has come far enough. */
async function strike(
  fleet: Fleet,
  random: Random,
  ms: number,
  isFarEnough = () => Promise.resolve(true),
): Promise<void> {
  const startedAt = performance.now()
  const elapsed = () => performance.now() - startedAt
  while (elapsed() < ms || (elapsed() < STRIKING_LIMIT_MS && !(await isFarEnough()))) {
    await sleep(random.between(BETWEEN_BLOWS_MS.least, BETWEEN_BLOWS_MS.most))
    if (random.fraction() < PAUSED_SHARE) fleet.pauseAny('worker', random.between(PAUSE_MS.least, PAUSE_MS.most))
    else await fleet.killAny()
  }
}

/** Copies a store that others are writing, the way SQLite wants it done. */
async function backUp(from: string, to: string): Promise<void> {
  const source = new DatabaseSync(from, { readOnly: true, timeout: REPAIR_LIMIT_MS })
  try {
    // In one step: a copy in several steps starts over whenever another process writes in between.
    await backup(source, to, { rate: BACKUP_PAGES_MAX })
  } finally {
    source.close()
  }
}

/** Copies a store that no process has open, with its write-ahead log. */
function copyStore(from: string, to: string): void {
  for (const suffix of ['', '-wal']) if (existsSync(from + suffix)) copyFileSync(from + suffix, to + suffix)
}

async function expectConsistent(file: string): Promise<PartitionDump> {
  expect(integrityOf(file)).toBe('ok')
  await using fabric = await openFabric(`sqlite:${file}`)
  const dump = await dumpOf(fabric)
  expect(findFaults(dump)).toEqual([])
  return dump
}

interface Tally {
  readonly executions: number
  readonly [what: string]: number
}

/** How often each thing happened, by the event log. */
function tallyOf({ events, ...dump }: PartitionDump): Tally {
  const count = (isCounted: (event: (typeof events)[number]) => boolean) => events.filter(isCounted).length
  return {
    executions: executionsOf({ events, ...dump }).length,
    events: events.length,
    promoted: count(({ type }) => type === 'execution_promoted'),
    reclaimed: count(({ type }) => type === 'lease_expired'),
    retried: count(({ type }) => type === 'attempt_failed'),
    timedOut: count(({ type, category }) => type === 'attempt_failed' && category === 'timeout'),
    progressReports: count(({ type }) => type === 'progress_updated'),
    cancelRequests: count(({ type }) => type === 'cancel_requested'),
    completed: count(({ outcome }) => outcome === 'completed'),
    failed: count(({ outcome }) => outcome === 'failed'),
    cancelled: count(({ outcome }) => outcome === 'cancelled'),
    expired: count(({ outcome }) => outcome === 'expired'),
  }
}

/** What the test is about and has not happened yet. */
async function findUnproved(site: Site): Promise<string[]> {
  await using fabric = await openFabric(site.location)
  const unproved = Object.entries(tallyOf(await dumpOf(fabric))).flatMap(([what, count]) => (count > 0 ? [] : [what]))
  if (!site.forgeries().includes('stale_lease')) unproved.push('a stale lease refused')
  if (site.acknowledged().size <= ACKNOWLEDGED_LEAST) unproved.push('enough work')
  return unproved
}

function say(what: string, numbers: object): void {
  console.log(
    `${what}: ${Object.entries(numbers)
      .map(([name, number]) => `${name} ${number}`)
      .join(', ')}`,
  )
}

test('processes that are killed while they open a fresh file leave one that works', async () => {
  const random = seededRandom(SEED)
  let acknowledgedCount = 0
  let killCount = 0
  for (let round = 0; round < OPENING_ROUNDS; round++) {
    using site = new Site()
    await using fleet = new Fleet(random)
    const openers = Array.from({ length: OPENERS }, (_, number) => fleet.start(site.opener(`opener-${number}`)))
    await Promise.all(openers.map((opener) => opener.isReady))
    for (const opener of openers) opener.send('open')
    const [survivor, ...others] = openers
    const kills = others.map(async (opener) => {
      await sleep(random.between(0, OPENING_MS))
      await fleet.kill(opener)
    })
    survivor?.send('stop')
    await Promise.all([...kills, survivor && fleet.leave(survivor)])

    const dump = await expectConsistent(site.file)
    const acknowledged = [...site.acknowledged().values()]
    expect(executionsOf(dump).map(({ id }) => id)).toEqual(expect.arrayContaining(acknowledged))
    expect(acknowledged.length).toBeGreaterThan(0)
    expect(fleet.complaints).toEqual([])
    acknowledgedCount += acknowledged.length
    killCount += fleet.killCount
  }
  say('killed while opening', { kills: killCount, acknowledged: acknowledgedCount })
})

test('many processes share one file, and none gets an error that it is locked', async () => {
  using site = new Site()
  await using fleet = new Fleet(seededRandom(SEED))
  startAll(fleet, site, ORDINARY_LEASE_MS, 200)
  await sleep(5_000)
  await fleet.stop('submitter')

  await using fabric = await openFabric(site.location)
  await untilAllEnded(fabric)
  await fleet.stop('')

  const dump = await dumpOf(fabric)
  const tally = tallyOf(dump)
  say('sharing a file', { acknowledged: site.acknowledged().size, ...tally })
  expect(findFaults(dump)).toEqual([])
  expect(await findDisagreements(site, fabric, dump)).toEqual([])
  expect(fleet.complaints).toEqual([])
  expect(tally.reclaimed).toBe(0)
  expect(tally.executions).toBe(site.acknowledged().size)
})

test('what was acknowledged ends exactly once, whatever is killed, paused or forged around the store', async () => {
  console.log(`FLOWFABRIC_CRASH_SEED=${SEED}`)
  const random = seededRandom(SEED)
  using site = new Site()
  await using fleet = new Fleet(random)
  // Not among those that are killed: it has to live longer than a lease before it can insist on one that is gone.
  await using rogues = new Fleet(random)

  startAll(fleet, site, SHORT_LEASE_MS, 60)
  rogues.start(site.rogue('rogue', SHORT_LEASE_MS))
  await Promise.all([fleet.untilReady(), rogues.untilReady()])
  await strike(fleet, random, STRIKING_MS / 2)
  await backUp(site.file, site.copyFile('backup'))
  await strike(fleet, random, STRIKING_MS / 2, async () => (await findUnproved(site)).length === 0)
  await rogues.stop('')
  await fleet.killAll()
  copyStore(site.file, site.copyFile('copy'))

  startAll(fleet, site, SHORT_LEASE_MS, 60)
  await fleet.stop('submitter')
  await using fabric = await openFabric(site.location)
  await untilAllEnded(fabric)
  await fleet.stop('')

  const dump = await dumpOf(fabric)
  const [tally, forgeries, acknowledged] = [tallyOf(dump), site.forgeries(), site.acknowledged()]
  say('killed at random', { kills: fleet.killCount, pauses: fleet.pauseCount, forgeries: forgeries.length })
  say('meanwhile', { acknowledged: acknowledged.size, ...tally })
  expect(findFaults(dump)).toEqual([])
  expect(await findDisagreements(site, fabric, dump)).toEqual([])
  expect(integrityOf(site.file)).toBe('ok')
  expect([...fleet.complaints, ...rogues.complaints]).toEqual([])
  expect(forgeries.filter((answer) => !leaseLosses.includes(answer))).toEqual([])

  // Otherwise the test would have proved nothing.
  expect(await findUnproved(site)).toEqual([])

  const [backedUp, copied] = [site.copyFile('backup'), site.copyFile('copy')]
  expect(executionsOf(await expectConsistent(backedUp)).length).toBeLessThan(tally.executions)
  expect(executionsOf(await expectConsistent(copied)).length).toBeLessThanOrEqual(tally.executions)
})
