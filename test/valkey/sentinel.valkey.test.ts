import { expect, test } from 'vitest'
import { createFabric, task } from '../../src/index.ts'
import { startSentinel } from '../servers/sentinel.ts'
import { startServer } from '../servers/server.ts'
import type { Server } from '../servers/server.ts'
import { until } from '../servers/until.ts'
import { refusalOf } from './fabrics.ts'

const LIMIT_MS = 60_000

async function untilReplication(server: Server, text: string): Promise<void> {
  await until(`the server reports ${text}`, LIMIT_MS, async () => {
    const found = String(await server.call('INFO', 'replication')).includes(text)
    return found ? true : undefined
  })
}

test('with sentinels work continues on the replica that replaces a killed server', { timeout: LIMIT_MS }, async () => {
  await using primary = await startServer({ appendOnly: 'everysec' })
  await using replica = await startServer({
    appendOnly: 'everysec',
    settings: { replicaof: ['127.0.0.1', String(primary.port)] },
  })
  await untilReplication(primary, 'state=online')
  await using sentinel = await startSentinel(primary)
  const double = task<number, number>('double')
  await using fabric = await createFabric(sentinel.location, { log: 'silent' })
  await fabric.work([double.handle((n) => 2 * n)])

  const first = await fabric.submit(double, 4)
  const before = await first.result()
  // WAIT waits for the writes of its own connection, so it gets one that follows all others.
  await primary.call('SET', 'mark', 1)
  expect(await primary.call('WAIT', 1, LIMIT_MS)).toBe(1)
  await primary.kill()
  await untilReplication(replica, 'role:master')
  const after = await until('an execution ends', LIMIT_MS, async () => {
    const submitted = await fabric.submit(double, 21).catch(() => undefined)
    return await submitted?.result()
  })

  expect(before).toBe(8)
  expect(after).toBe(42)
  expect(await first.describe()).toMatchObject({ state: 'completed' })
  expect((await fabric.report()).location).toBe(`${sentinel.location}, prefix ff`)
})

test(
  'a name that the sentinels do not know, and sentinels that do not answer, are reported',
  { timeout: LIMIT_MS },
  async () => {
    await using server = await startServer()
    await using sentinel = await startSentinel(server)

    const [unknown, silent] = await Promise.all([
      refusalOf(sentinel.location.replace('/watched', '/other')),
      refusalOf('valkey-sentinel://127.0.0.1:1/watched'),
    ])

    expect([unknown.code, silent.code]).toEqual(['store_unavailable', 'store_unavailable'])
    expect(silent.message).toContain('127.0.0.1:1')
  },
)
