/** A process that stands still in the middle of a locked run delays the others for a moment, and no worker loses a lease. */
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { task } from '../../src/client/index.ts'
import { executionPartition } from '../../src/stores/store.ts'
import { createFabric } from '../../src/fabric/index.ts'
import { problemsOf } from '../conformance/invariants.ts'
import { Fleet } from '../crash/fleet.ts'
import { seededRandom } from '../../src/runtime/seeded-random.fixture.ts'
import { until } from '../servers/until.ts'
import { Ledger } from './ledger.ts'
import { ServerSite } from './server-site.ts'
import { stoppingPoints } from './stopping-points.ts'
import { Target } from './targets.ts'
import { say, untilAllEnded } from './verdict.ts'

/** Given, it repeats an earlier run, as far as the machine lets it repeat. */
const SEED = Number(process.env['FLOWFABRIC_CRASH_SEED'] ?? Math.floor(Math.random() * 1_000_000_000))
/** Each point is stopped at twice. */
const STOPS = 2 * stoppingPoints.length
/** A lock lasts for 250 ms at least: shorter stops find it still held, longer ones find it gone. */
const STOP_MIN_MS = 100
const STOP_MAX_MS = 800
const STOP_LIMIT_MS = 60_000
const TELL_AGAIN_MS = 500
/** The shortest that there is; renewed when a third of it is over. */
const LEASE_MS = 1_000
const WORK_MS = 1_500
const WORK_COUNT = 20
const SUBMIT_EVERY_MS = 100
/** A machine that stands still for longer loses leases by itself. */
const STALL_MAX_MS = 300
const PING_EVERY_MS = 20

/** Measures the slowest answer of the server, which answers at once unless it is short of a core. */
function watchAnswers(target: Target): () => Promise<number> {
  let [slowestMs, isOver] = [0, false as boolean]
  const watching = (async () => {
    while (!isOver) {
      const askedAt = performance.now()
      await target.callEach('PING')
      slowestMs = Math.max(slowestMs, performance.now() - askedAt)
      await sleep(PING_EVERY_MS)
    }
  })()
  // A test that failed before may have ended its server.
  watching.catch(() => undefined)
  return async () => {
    isOver = true
    await watching
    return slowestMs
  }
}

test('a process that stops at each point of a locked run costs no other process a lease', async () => {
  console.log(`FLOWFABRIC_CRASH_SEED=${SEED}`)
  const random = seededRandom(SEED)
  await using target = await Target.start('valkey')
  using site = new ServerSite(`${target.location}?partitions=1`)
  await using fleet = new Fleet(random)
  const ledger = new Ledger()
  await using fabric = await createFabric(site.location, { log: ledger.log })
  const long = task<number, number>('long')
  const worker = long.handle(async (number) => {
    await sleep(WORK_MS)
    return number
  })
  const delay = monitorEventLoopDelay({ resolution: 5 })
  delay.enable()
  const slowestAnswer = watchAnswers(target)
  await fabric.work([worker], { concurrency: WORK_COUNT, leaseTtl: LEASE_MS })
  const submitting = new AbortController()
  const submitted = (async () => {
    for (let number = 0; !submitting.signal.aborted; number++) {
      await fabric.submit(long, number)
      await sleep(SUBMIT_EVERY_MS)
    }
  })()
  const stopping = fleet.start(site.stopping('stopping', SEED))
  await fleet.untilReady()

  for (let stops = 1; stops <= STOPS; stops++) {
    let toldAt = performance.now()
    await until('the process stops', STOP_LIMIT_MS, async () => {
      if (site.stopsOf('stopping').length >= stops) return true
      // A stop may take effect behind the signal that was to end it. A second signal does not disturb a running process.
      if (performance.now() - toldAt < TELL_AGAIN_MS) return undefined
      stopping.goOn()
      toldAt = performance.now()
      return undefined
    })
    await sleep(random.between(STOP_MIN_MS, STOP_MAX_MS))
    stopping.goOn()
  }
  submitting.abort()
  await submitted
  const ended = fleet.stop('stopping')
  // It may have stopped once more before it was asked to end.
  while (!(await Promise.race([ended.then(() => true), sleep(STOP_MIN_MS, false)]))) stopping.goOn()
  await untilAllEnded(fabric)
  delay.disable()
  const slowestMs = await slowestAnswer()

  const dump = await fabric.store.dump(executionPartition(0))
  expect(problemsOf(dump)).toEqual([])
  expect([...fleet.complaints, ...ledger.complaints]).toEqual([])
  expect(site.stopsOf('stopping').map(({ point }) => point)).toEqual(expect.arrayContaining([...stoppingPoints]))
  const lost = dump.events.filter(({ type }) => type === 'lease_expired').length
  const completed = dump.events.filter(({ type, outcome }) => type === 'execution_ended' && outcome === 'completed')
  const stallMs = Math.round(Math.max(delay.max / 1_000_000, slowestMs))
  say('process stopped', { stops: STOPS, completed: completed.length, lost, 'stalled for ms': stallMs })
  expect(completed.length).toBeGreaterThan(0)
  if (stallMs < STALL_MAX_MS) expect(lost).toBe(0)
})
