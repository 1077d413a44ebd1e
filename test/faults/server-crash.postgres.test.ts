import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { startPostgres } from '../servers/postgres-server.ts'
import type { PostgresServer } from '../servers/postgres-server.ts'
import { untilAnswered } from '../servers/until.ts'
import { Load, SHORT_LEASE_MS } from './load.ts'
import { AWAY, CLIENT_GONE, CRASHED, ENDED, unexplainedLines } from './server-log.ts'
import { RECOVERY_LIMIT_MS, judge, say } from './verdict.ts'

const KILL_LIMIT_MS = 30_000
/** Longer than a lease lasts. */
const OUTAGE_MS = SHORT_LEASE_MS + 500

interface Blow {
  readonly name: string
  readonly strike: (server: PostgresServer) => Promise<void>
}

const blows: readonly Blow[] = [
  { name: 'fast restart', strike: (server) => server.restart() },
  {
    name: 'kill',
    strike: async (server) => {
      await server.kill()
      await server.restart()
    },
  },
  {
    name: 'kill and outage',
    strike: async (server) => {
      await server.kill()
      await sleep(OUTAGE_MS)
      await server.restart()
    },
  },
  {
    // The server then ends all others, and recovers as if it had crashed.
    name: 'kill of one of its processes',
    strike: async (server) => {
      // A connection may end between the look and the kill.
      await untilAnswered('a process of the server is killed', KILL_LIMIT_MS, async () => {
        const [row] = await server.query(
          "select pid from pg_stat_activity where backend_type = 'client backend' and pid <> pg_backend_pid() limit 1",
        )
        return row === undefined ? undefined : process.kill(Number(row['pid']), 'SIGKILL')
      })
    },
  },
]

test('a server that is restarted and killed under load keeps what it acknowledged, and the work continues by itself', async () => {
  await using server = await startPostgres({ version: 'newest' })
  await using load = await Load.start(server.location)
  const recoveries: Record<string, number> = {}

  for (const { name, strike } of blows) {
    await load.untilBusy(100)
    await strike(server)
    recoveries[`after ${name} recovered in ms`] = await load.recoveryMs(performance.now())
  }
  await load.untilBusy(50)

  const { lost, ...verdict } = await judge(load)
  say('postgres restarted and killed', { ...recoveries, ...verdict, lost: lost.length })
  expect(unexplainedLines(server, ENDED, AWAY, CRASHED, CLIENT_GONE)).toEqual([])
  expect(Math.max(...Object.values(recoveries))).toBeLessThan(RECOVERY_LIMIT_MS)
})
