import { expect, test } from 'vitest'
import { startPgbouncer } from '../servers/pgbouncer.ts'
import { startPostgres } from '../servers/postgres-server.ts'
import { Load } from './load.ts'
import { CLIENT_GONE, unexplainedLines } from './server-log.ts'
import { RECOVERY_LIMIT_MS, judge, say } from './verdict.ts'

/** Fewer than all clients together would have, so that they share them. */
const POOL_SIZE = 6

test('a pooler that lends connections for a transaction is restarted and killed under load, and nothing is lost', async () => {
  await using server = await startPostgres()
  await using pooler = await startPgbouncer(server, { poolSize: POOL_SIZE })
  await using load = await Load.start(`${pooler.location}?prepare=false`, {
    fabric: { postgres: { listen: server.location } },
  })
  const recoveries: number[] = []

  for (const strike of [() => pooler.restart(), () => pooler.kill().then(() => pooler.restart())]) {
    await load.untilBusy(100)
    await strike()
    recoveries.push(await load.recoveryMs(performance.now()))
  }
  await load.untilBusy(50)

  const { lost, ...verdict } = await judge(load)
  say('pooler restarted and killed', { 'recovered in ms': recoveries.join(' '), ...verdict, lost: lost.length })
  expect(unexplainedLines(server, CLIENT_GONE)).toEqual([])
  expect(Math.max(...recoveries)).toBeLessThan(RECOVERY_LIMIT_MS)
})
