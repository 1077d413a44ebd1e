import { expect, test } from 'vitest'
import { task } from '../../src/client/index.ts'
import { createFabric } from '../../src/fabric/index.ts'
import type { Fabric } from '../../src/fabric/index.ts'
import { startServer } from '../servers/server.ts'
import type { Server } from '../servers/server.ts'
import { until } from '../servers/until.ts'
import { Load, SHORT_LEASE_MS } from './load.ts'
import { RECOVERY_LIMIT_MS, judge, say } from './verdict.ts'

/** What the server may still take when it is first given a limit. */
const ROOM_BYTES = 8 * 1_024 * 1_024
const PIECE = 'x'.repeat(256 * 1_024)
/** More than fit, by far. */
const PIECES_MAX = 1_000
const HAPPENS_WITHIN_MS = 60_000
/**
 * A lease that is not renewed is lost before the test is over. One that is lost for want of a core ends the test, because a full
 * server starts no work, so it is not the shortest that there is.
 */
const LEASE_MS = 2 * SHORT_LEASE_MS
const LATE_MS = 1_000

async function usedBytes(server: Server): Promise<number> {
  return Number(/used_memory:(\d+)/.exec(String(await server.call('INFO', 'memory')))?.[1])
}

async function limitMemory(server: Server, bytes: number): Promise<void> {
  await server.call('CONFIG', 'SET', 'maxmemory', Math.round(bytes))
}

/** The code of the refusal, or nothing if there was none. */
async function refusalOf(call: Promise<unknown>): Promise<unknown> {
  return await call.then(
    () => undefined,
    (error: unknown) => (error as { code?: unknown }).code,
  )
}

/** Submits until the server has no room left. Answers the keys of what it took. */
async function fill(fabric: Fabric): Promise<string[]> {
  const keys: string[] = []
  while (keys.length < PIECES_MAX) {
    const id = `filler:${keys.length}`
    const refusal = await refusalOf(fabric.submit(filler, PIECE, { id, delay: '1h' }))
    if (refusal === 'store_full') return keys
    expect(refusal).toBeUndefined()
    keys.push(id)
  }
  throw new Error('The server never runs full.')
}

const filler = task<string, string>('filler', { retention: 0 })
const held = task<string, string>('held')

test('a full server refuses new work, accepts calls that finish work, and accepts new work once it has room', async () => {
  await using server = await startServer({ appendOnly: 'everysec' })
  const engine = { intervals: { retention_trimmer: 100 } }
  await using load = await Load.start(server.location, { engine, expected: ['store_unavailable', 'store_full'] })
  await using other = await createFabric(`${server.location}?prefix=other`, { log: load.ledger.log })
  const hold = Promise.withResolvers<string>()
  await other.work([held.handle(() => hold.promise)], { leaseTtl: LEASE_MS, drainTimeout: 0, engine })
  const holding = await Promise.all(['a', 'b', 'c'].map((id) => other.submit(held, id, { id })))
  const untilState = async (id: string, state: string): Promise<void> => {
    const look = async (): Promise<true | undefined> => (await other.execution(id).state()) === state || undefined
    await until(`${id} is ${state}`, HAPPENS_WITHIN_MS, look)
  }
  await Promise.all(holding.map(({ id }) => untilState(id, 'active')))
  const late = await other.submit(held, 'late', { delay: '1h', timeout: { total: LATE_MS } })
  await load.untilBusy(100)

  await limitMemory(server, (await usedBytes(server)) + ROOM_BYTES)
  const keys = await fill(other)
  expect(keys.length).toBeGreaterThan(10)
  const fullAt = performance.now()
  // However much is freed from now on, it stays full.
  await limitMemory(server, (await usedBytes(server)) / 2)
  expect(await refusalOf(other.submit(filler, 'one more'))).toBe('store_full')

  // Time passes: deadlines expire, and leases are kept for longer than they last without being renewed.
  await untilState(late.id, 'expired')
  await until('a lease would have run out', HAPPENS_WITHIN_MS, async () => {
    return performance.now() > fullAt + 2 * LEASE_MS || undefined
  })
  expect(await other.cancel(keys[0]!, 'there is no room for it')).toBe('cancelled')
  hold.resolve('done')
  expect(
    await Promise.all(holding.map((execution) => execution.result({ signal: AbortSignal.timeout(HAPPENS_WITHIN_MS) }))),
  ).toEqual(['done', 'done', 'done'])
  const attempts = await Promise.all(holding.map(async ({ id }) => (await other.describe(id)).attempt))
  expect(attempts).toEqual([1, 1, 1])
  await until('the cancelled one is removed', HAPPENS_WITHIN_MS, async () => {
    return (await refusalOf(other.describe(keys[0]!))) === 'execution_not_found' || undefined
  })
  expect(await refusalOf(other.submit(filler, 'one more'))).toBe('store_full')

  await limitMemory(server, 0)
  const recoveryMs = await load.recoveryMs(performance.now())
  await load.untilBusy(50)
  const { lost, ...verdict } = await judge(load)
  const refused = load.ledger.refusalsOf('store_full')
  say('memory full', { 'recovered in ms': recoveryMs, ...verdict, lost: lost.length, refused })
  expect(refused).toBeGreaterThan(0)
  expect(recoveryMs).toBeLessThan(RECOVERY_LIMIT_MS)
})
