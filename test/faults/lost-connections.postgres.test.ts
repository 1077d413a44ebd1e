import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { startPostgres } from '../servers/postgres-server.ts'
import { Load } from './load.ts'
import { ALREADY_ENDED, CLIENT_GONE, ENDED, unexplainedLines } from './server-log.ts'
import { Sleeper } from './sleeper.ts'
import { RECOVERY_LIMIT_MS, WAKE_LIMIT_MS, judge, say } from './verdict.ts'

const STORM_MS = 2_500
const BETWEEN_KILLS_MS = 40

test('all connections are ended again and again under load; afterwards work continues and wake-ups arrive', async () => {
  await using server = await startPostgres()
  await using load = await Load.start(server.location)
  await using sleeper = await Sleeper.start(server.location, load.ledger)
  let killCount = 0

  await load.untilBusy(100)
  for (const endAt = performance.now() + STORM_MS; performance.now() < endAt;) {
    killCount += await server.terminateBackends()
    await sleep(BETWEEN_KILLS_MS)
  }
  const recoveryMs = await load.recoveryMs(performance.now())
  const wakeMs = await sleeper.wakeMs(load.fabric)
  await load.untilBusy(50)

  const { lost, ...verdict } = await judge(load)
  say('connections to a postgres ended', {
    kills: killCount,
    'recovered in ms': recoveryMs,
    'woken in ms': wakeMs,
    ...verdict,
    lost: lost.length,
  })
  expect(unexplainedLines(server, ENDED, ALREADY_ENDED, CLIENT_GONE)).toEqual([])
  expect(recoveryMs).toBeLessThan(RECOVERY_LIMIT_MS)
  expect(wakeMs).toBeLessThan(WAKE_LIMIT_MS)
})
