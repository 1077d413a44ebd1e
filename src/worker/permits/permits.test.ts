/** Permits and leases: what runs with a permit ends before the store gives that permit to another worker. */
import { expect, test } from 'vitest'
import { limit, task } from '../../client/index.ts'
import { startEngine } from '../../engine/engine.ts'
import type { Handler } from '../../client/define/task.ts'
import type { Gauge } from '../../kernel/index.ts'
import { silentLog } from '../../runtime/index.ts'
import { limitPartition } from '../../stores/partitions.ts'
import type { Call } from '../../stores/store.ts'
import { createWorld } from '../worker.fixture.ts'
import type { World } from '../worker.fixture.ts'
import { startWorker } from '../worker.ts'

const LEASE_TTL_MS = 30_000

const perTenant = limit('per-tenant', { concurrency: 1 })
const job = task<string, string>('job', { limits: [perTenant.for({ key: (tenant: string) => tenant })] })

/** A handler that runs until its signal aborts, and the highest number of those that ran at once for each key. */
function untilAborted() {
  const running = new Map<string, number>()
  const most = new Map<string, number>()
  const begun: string[] = []
  const handler = job.handle(async (tenant, { signal }) => {
    begun.push(tenant)
    const count = (running.get(tenant) ?? 0) + 1
    running.set(tenant, count)
    most.set(tenant, Math.max(most.get(tenant) ?? 0, count))
    await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }))
    running.set(tenant, (running.get(tenant) ?? 1) - 1)
    throw signal.reason
  })
  return { handler, most, begun }
}

/** Whether a call concerns the permits of a worker. */
const isOf = (instanceId: string, operation: Call['operation']) => (call: Call) =>
  call.operation === operation && (call.input as { workerInstanceId: string }).workerInstanceId === instanceId

/** Another process with a worker, and with an engine that finds the permits of those that are gone. */
function startElsewhere({ elsewhere, runtime }: World, handler: Handler): AsyncDisposable {
  const worker = startWorker(elsewhere, [handler], { leaseTtl: LEASE_TTL_MS })
  const engine = startEngine({ batcher: elsewhere.batcher, runtime, log: silentLog })
  return {
    async [Symbol.asyncDispose]() {
      worker.crash()
      await engine.close()
    },
  }
}

async function heldOf(world: World, name = 'per-tenant'): Promise<number[]> {
  const dump = await world.store.dump(limitPartition(name, world.store.settings))
  const gauges = dump.records.filter((record): record is Gauge => record.type === 'gauge')
  return gauges.map(({ heldCount }) => heldCount).filter((count) => count > 0)
}

test('a handler ends before its permit lapses, if permits cannot be renewed while leases can', async () => {
  await using world = createWorld()
  const { handler, most, begun } = untilAborted()
  const one = world.work([handler], { leaseTtl: LEASE_TTL_MS })
  await world.fabric.submit(job, 'first')
  await world.advance(100)
  // The renewal of the first key sets the rhythm, in which the permit of the second one is lost between two renewals.
  await world.fabric.submit(job, 'second')
  await world.advance(100)
  expect(begun).toEqual(['first', 'second'])
  const isRenewal = isOf(one.instanceId, 'renewPermits')
  world.store.plan = (call) => (isRenewal(call) ? 'before' : undefined)

  await using _other = startElsewhere(world, handler)
  await world.elsewhere.submit(job, 'second')
  await world.advance(4 * LEASE_TTL_MS)

  expect(begun.filter((tenant) => tenant === 'second').length).toBeGreaterThan(1)
  expect(most.get('second')).toBe(1)
})

test('a refused request for permits does not keep those that the worker has', async () => {
  await using world = createWorld()
  const { handler, most, begun } = untilAborted()
  const one = world.work([handler], { leaseTtl: LEASE_TTL_MS })
  await world.fabric.submit(job, 'acme')
  await world.advance(100)
  const isRenewal = isOf(one.instanceId, 'renewPermits')
  world.store.plan = (call) => (isRenewal(call) ? 'before' : undefined)

  for (let i = 0; i < 10; i++) {
    await world.fabric.submit(job, 'acme')
    await world.advance(LEASE_TTL_MS / 10)
  }
  await using _other = startElsewhere(world, handler)
  await world.advance(3 * LEASE_TTL_MS)

  expect(world.store.callsOf('takePermits').length).toBeGreaterThan(2)
  expect(begun.length).toBeGreaterThan(1)
  expect(most.get('acme')).toBe(1)
})

test('permits that were granted by a call whose outcome never came are returned', async () => {
  await using world = createWorld()
  const { handler } = untilAborted()
  const one = world.work([handler], { leaseTtl: LEASE_TTL_MS })
  await world.fabric.submit(job, 'acme')
  await world.advance(100)
  const request = { limit: 'per-tenant', key: 'acme', weight: 1, needed: 3, spare: 0 }
  const lost: Call<'takePermits'> = {
    operation: 'takePermits',
    input: { requestId: 'lost', workerInstanceId: one.instanceId, ttlMs: LEASE_TTL_MS, requests: [request] },
    blobs: [],
  }
  const define: Call<'defineLimit'> = {
    operation: 'defineLimit',
    input: { name: 'per-tenant', concurrency: 5, by: 'ops' },
    blobs: [],
  }
  await world.store.run(limitPartition('per-tenant', world.store.settings), [define, lost])
  expect(await heldOf(world)).toEqual([4])

  await world.advance(2 * LEASE_TTL_MS)

  expect(await heldOf(world)).toEqual([1])
})

test('an execution that is given back before it starts is counted by the rate once, and not less', async () => {
  await using world = createWorld()
  const rate = limit('rate', { rate: { count: 4, per: '1m' } })
  const counted = task<number, number>('counted', { limits: [rate] })
  let starts = 0
  const handler = counted.handle(async (number) => {
    starts += 1
    await new Promise<void>((resolve) => world.runtime.after(1_000, resolve))
    return number
  })
  await world.fabric.submitMany(
    counted,
    [1, 2, 3, 4, 5, 6, 7, 8].map((input) => ({ input })),
  )

  const worker = world.work([handler], { concurrency: 1, prefetch: 3, prefetchHold: '100ms' })
  await world.advance(50_000)

  expect(starts).toBe(4)
  await world.advance(60_000)
  expect(starts).toBe(8)
  expect(worker.stats().claimed).toBeGreaterThan(8)
})

test.each([
  ['seldom with ample room', 100_000, { from: 1, to: 10 }],
  ['soon with little room, which others may need', 20, { from: 20, to: 500 }],
])('permits are returned %s', async (_, concurrency, calls) => {
  await using world = createWorld()
  const { runtime, fabric, store } = world
  const short = task<number, number>('short', { limits: [limit('shared', { perHour: 1_000_000, concurrency })] })
  let started = 0
  const handler = short.handle(async (number) => {
    started += 1
    await new Promise<void>((resolve) => runtime.after(10, resolve))
    return number
  })
  await fabric.submitMany(
    short,
    Array.from({ length: 500 }, (_item, input) => ({ input })),
  )
  world.work([handler], { concurrency: 4 })
  await world.advance(3_000)

  expect(started).toBe(500)
  for (const operation of ['takePermits', 'returnPermits'] as const) {
    expect(store.callsOf(operation).length).toBeGreaterThanOrEqual(calls.from)
    expect(store.callsOf(operation).length).toBeLessThanOrEqual(calls.to)
  }
  expect(await heldOf(world, 'shared')).toEqual([])
})
