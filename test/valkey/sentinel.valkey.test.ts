import { expect, test } from 'vitest'
import { createFabric, task } from '../../src/index.ts'
import { startReplicated, untilReplication } from '../servers/replication.ts'
import { startSentinel } from '../servers/sentinel.ts'
import { startServer } from '../servers/server.ts'
import { until } from '../servers/until.ts'
import { refusalOf } from './fabrics.ts'

const REPLY_LIMIT_MS = 25_000
const END_LIMIT_MS = 60_000
/** A sentinel that was short of a core for two seconds does nothing for the next thirty. */
const TEST_LIMIT_MS = 360_000

test(
  'with sentinels work continues on the replica that replaces a killed server',
  {
    timeout: TEST_LIMIT_MS,
  },
  async () => {
    await using replicated = await startReplicated({ appendOnly: 'everysec' })
    const { primary, replica } = replicated
    await using sentinel = await startSentinel(primary)
    const double = task<number, number>('double')
    await using fabric = await createFabric(sentinel.location, { log: 'silent' })
    await fabric.work([double.handle((n) => 2 * n)])

    const first = await fabric.submit(double, 4)
    const before = await first.result()
    // WAIT waits for the writes of its own connection, so it gets one that follows all others.
    await primary.call('SET', 'mark', 1)
    expect(await primary.call('WAIT', 1, REPLY_LIMIT_MS)).toBe(1)
    await sentinel.replace(replica)
    await untilReplication(replica, 'role:master')
    const after = await until('an execution ends', END_LIMIT_MS, async () => {
      const submitted = await fabric.submit(double, 21).catch(() => undefined)
      return await submitted?.result()
    })

    expect(before).toBe(8)
    expect(after).toBe(42)
    expect(await first.describe()).toMatchObject({ state: 'completed' })
    expect((await fabric.report()).location).toBe(`${sentinel.location}, prefix ff`)
  },
)

test('a name that the sentinels do not know, and sentinels that do not answer, are reported', async () => {
  await using server = await startServer()
  await using sentinel = await startSentinel(server)

  const [unknown, silent] = await Promise.all([
    refusalOf(sentinel.location.replace('/watched', '/other')),
    refusalOf('valkey-sentinel://127.0.0.1:1/watched'),
  ])

  expect([unknown.code, silent.code]).toEqual(['store_unavailable', 'store_unavailable'])
  expect(silent.message).toContain('127.0.0.1:1')
})
