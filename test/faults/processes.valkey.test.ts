import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { silentLog } from '../../src/runtime/index.ts'
import { createFabric } from '../../src/worker/index.ts'
import { problemsOf } from '../conformance/invariants.ts'
import { findDisagreements } from '../crash/agreement.ts'
import { Fleet } from '../crash/fleet.ts'
import { executionsOf, findFaults } from '../crash/history.ts'
import { seededRandom } from '../crash/random.ts'
import { Site } from '../crash/site.ts'
import { until } from '../servers/until.ts'
import { Target } from './targets.ts'
import type { TargetName } from './targets.ts'
import { dumpsOf, mergedDump, say, untilAllEnded } from './verdict.ts'

/** Given, it repeats the kills of an earlier run, as far as the machine lets them repeat. */
const SEED = Number(process.env['FLOWFABRIC_CRASH_SEED'] ?? Math.floor(Math.random() * 1_000_000_000))

const KILLS = 12
/** What is acknowledged between two kills, at least. */
const BETWEEN_KILLS = 15
const PROGRESS_LIMIT_MS = 30_000
const LEASE_MS = 1_000
const SUBMITS_PER_SECOND = 60

/** What somebody hears who has no lease any more. */
const leaseLosses = ['lease_expired', 'stale_lease', 'execution_not_active']

const cacheFolder = mkdtempSync(path.join(tmpdir(), 'flowfabric-faults-cache-'))

afterAll(() => rmSync(cacheFolder, { recursive: true }))

/** The store is on a server; the folder has only what the processes wrote down. */
class ServerSite extends Site {
  override readonly location: string

  constructor(location: string) {
    super()
    this.location = location
  }
}

function startAll(fleet: Fleet, site: Site): void {
  for (const number of [1, 2]) fleet.start(site.engine(`engine-${number}`))
  for (const number of [1, 2, 3]) fleet.start(site.worker(`worker-${number}`, LEASE_MS))
  fleet.start(site.submitter('submitter-1', SUBMITS_PER_SECOND))
}

test.each<TargetName>(['valkey', 'cluster'])(
  'processes on a %s are killed at any moment, and what was acknowledged ends exactly once',
  async (name) => {
    console.log(`FLOWFABRIC_CRASH_SEED=${SEED}`)
    using target = await Target.open(name, 'processes')
    const random = seededRandom(SEED)
    using site = new ServerSite(target.location)
    await using fleet = new Fleet(random, cacheFolder)

    startAll(fleet, site)
    fleet.start(site.rogue('rogue', LEASE_MS))
    for (let kill = 0; kill < KILLS; kill++) {
      const enough = site.acknowledged().size + BETWEEN_KILLS
      const hasProgress = async (): Promise<true | undefined> => site.acknowledged().size >= enough || undefined
      await until('work goes on', PROGRESS_LIMIT_MS, hasProgress)
      await fleet.killAny()
    }
    await fleet.stop('submitter')
    await fleet.stop('rogue')
    await using fabric = await createFabric(site.location, { log: silentLog })
    await untilAllEnded(fabric)
    await fleet.stop('')

    const dumps = await dumpsOf(fabric)
    const whole = mergedDump(dumps)
    const acknowledged = [...site.acknowledged().values()]
    const found = new Set<string>(executionsOf(whole).map(({ id }) => id))
    const lost = acknowledged.filter((id) => !found.has(id))
    const reclaimed = whole.events.filter(({ type }) => type === 'lease_expired').length
    say(`processes on a ${name} killed`, {
      kills: fleet.killCount,
      acknowledged: acknowledged.length,
      ended: found.size,
      reclaimed,
      lost: lost.length,
    })
    for (const dump of dumps) expect([...problemsOf(dump), ...findFaults(dump)]).toEqual([])
    expect(await findDisagreements(site, fabric, whole)).toEqual([])
    expect(fleet.complaints).toEqual([])
    expect(site.forgeries().filter((answer) => !leaseLosses.includes(answer))).toEqual([])
    expect(reclaimed).toBeGreaterThan(0)
  },
)
