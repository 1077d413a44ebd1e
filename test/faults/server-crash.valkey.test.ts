import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { startServer } from '../servers/server.ts'
import { Load, SHORT_LEASE_MS } from './load.ts'
import { RECOVERY_LIMIT_MS, judge, say } from './verdict.ts'

/** How long the server stays down each time: not at all, and for longer than a lease lasts. */
const OUTAGES_MS = [0, SHORT_LEASE_MS + 500]

/**
 * A server that syncs its file every second writes to it before it answers, so that its own sudden end loses nothing,
 * with one exception: while a sync is under way it answers first and writes when the sync is over, or after two seconds.
 */
const UNWRITTEN_MS = 2_000
/** A reply travels, and this process may be slow to take note of it. */
const NOTICE_MS = 500

describe.each([
  { program: 'valkey-server', appendOnly: 'everysec' },
  { program: 'redis-server', appendOnly: 'everysec' },
  { program: 'valkey-server', appendOnly: 'always' },
] as const)('a $program that syncs its file $appendOnly', ({ program, appendOnly }) => {
  test('is killed under load and comes back with what it acknowledged; the work continues by itself', async () => {
    await using server = await startServer({ program, appendOnly })
    await using load = await Load.start(server.location)
    const recoveries: number[] = []
    const kills: number[] = []

    for (const outageMs of OUTAGES_MS) {
      await load.untilBusy(150)
      kills.push(performance.now())
      await server.kill()
      await sleep(outageMs)
      await server.restart()
      recoveries.push(await load.recoveryMs(performance.now()))
    }
    await load.untilBusy(50)

    const mayBeUnwritten = (at: number): boolean =>
      kills.some((killedAt) => at > killedAt - UNWRITTEN_MS - NOTICE_MS && at < killedAt + NOTICE_MS)
    const { lost, ...verdict } = await judge(load, {
      ...(appendOnly === 'everysec' && { mayLose: (_key: string, at: number) => mayBeUnwritten(at) }),
    })
    say(`${program} killed, file synced ${appendOnly}`, {
      kills: kills.length,
      'recovered in ms': recoveries.join(' '),
      ...verdict,
      lost: lost.length,
    })
    expect(Math.max(...recoveries)).toBeLessThan(RECOVERY_LIMIT_MS)
  })
})
