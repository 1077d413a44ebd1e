import { describe, expect, test } from 'vitest'
import { task } from '../../client/index.ts'
import { STORE_PARTITION } from '../../stores/partitions.ts'
import { createWorld } from '../worker.fixture.ts'
import type { World } from '../worker.fixture.ts'

const slow = task<number, string>('slow', { version: 2 })

function runsFor(world: World, ms: number) {
  return slow.handle(async () => {
    await new Promise<void>((resolve) => world.runtime.after(ms, resolve))
    return 'done'
  })
}

async function eventTypes(world: World): Promise<string[]> {
  const { events } = await world.store.readEvents(STORE_PARTITION, 0, 100)
  return events.map(({ type }) => type)
}

describe('a worker', () => {
  test('is listed from its start, with its tasks and its load, until it closes', async () => {
    await using world = createWorld()
    const worker = world.work([runsFor(world, 60_000)], { workerId: 'pool', concurrency: 4, lanes: ['a', 'b'] })
    await world.fabric.submit(slow, 1, { lane: 'a' })
    await world.advance(5_000)

    const { items, cursor } = await world.elsewhere.workers()

    expect(cursor).toBeUndefined()
    expect(items).toMatchObject([
      {
        instanceId: worker.instanceId,
        workerId: 'pool',
        namespace: 'default',
        state: 'running',
        lanes: ['a', 'b'],
        tasks: [{ name: 'slow', version: undefined }, { name: 'slow', version: 2 }, { version: 1 }],
        slots: 4,
        running: 1,
        pid: process.pid,
      },
    ])
    const closing = worker.close({ drain: 0 })
    await world.advance(5_000)
    await closing
    expect((await world.elsewhere.workers()).items).toEqual([])
    expect(await eventTypes(world)).toEqual(['worker_registered', 'worker_draining', 'worker_unregistered'])
  })

  test('that closes while it still registers is not listed afterwards', async () => {
    await using world = createWorld()
    const { promise, resolve } = Promise.withResolvers()
    world.store.registryReady = promise
    const worker = world.work([runsFor(world, 1)])
    await world.settle()
    const closing = worker.close()
    await world.settle()
    resolve(undefined)
    await world.settle()
    await closing

    expect((await world.elsewhere.workers()).items).toEqual([])
    expect(await eventTypes(world)).toEqual(['worker_registered', 'worker_unregistered'])
  })

  test('stays live for as long as it runs', async () => {
    await using world = createWorld()
    world.work([runsFor(world, 1)])

    await world.advance(3_600_000)

    expect((await world.elsewhere.workers()).items).toMatchObject([{ state: 'running' }])
    expect(await eventTypes(world)).toEqual(['worker_registered'])
  })

  test('that crashed is listed as lost after its ttl', async () => {
    await using world = createWorld()
    const worker = world.work([runsFor(world, 1)], { livenessTtl: '3s' })
    await world.settle()
    worker.crash()

    await world.advance(2_999)
    expect((await world.elsewhere.workers()).items).toMatchObject([{ state: 'running' }])
    await world.advance(1)

    expect((await world.elsewhere.workers()).items).toMatchObject([{ state: 'lost' }])
  })

  test('drains and stops when an operator asks for it, also from another process', async () => {
    await using world = createWorld()
    const worker = world.work([runsFor(world, 12_000)])
    const execution = await world.fabric.submit(slow, 1)
    await world.settle()

    const handle = world.elsewhere.worker(worker.instanceId)
    expect(await handle.drain({ reason: 'deploy', by: 'ada' })).toBe('drain_requested')
    expect(await handle.drain()).toBe('already_requested')
    await world.advance(10_000)
    expect(worker.state).toBe('draining')
    expect((await world.elsewhere.workers()).items).toMatchObject([
      { state: 'draining', running: 1, drain: { by: 'ada', reason: 'deploy' } },
    ])
    await world.advance(2_000)

    expect(await execution.state()).toBe('completed')
    expect(await worker.closed).toMatchObject({ finished: 1, abandoned: 0 })
    expect((await world.elsewhere.workers()).items).toEqual([])
  })

  test('that was declared dead loses its leases at once, and registers again if it lives', async () => {
    await using world = createWorld(2)
    const worker = world.work([runsFor(world, 3_000)], { concurrency: 4 })
    const executions = await Promise.all([1, 2, 3].map((input) => world.fabric.submit(slow, input)))
    await world.settle()

    const { kind, revoked } = await world.elsewhere.worker(worker.instanceId).markDead('the host burnt down')

    expect(kind).toBe('marked')
    expect([...revoked].sort()).toEqual(executions.map(({ id }) => id).sort())
    expect(await world.elsewhere.worker(worker.instanceId).markDead('again')).toEqual({
      kind: 'already_dead',
      revoked: [],
    })
    expect((await world.elsewhere.workers()).items).toMatchObject([{ state: 'dead', reason: 'the host burnt down' }])
    await world.advance(6_000)
    expect((await world.elsewhere.workers()).items).toMatchObject([{ state: 'running' }])
    await world.advance(60_000)
    for (const execution of executions) expect(await execution.state()).toBe('completed')
  })

  test('keeps working without a registry, and logs an outage of it once, beside other workers', async () => {
    await using world = createWorld()
    world.store.down = STORE_PARTITION
    world.work([runsFor(world, 1)])
    world.work([runsFor(world, 1)])
    const execution = await world.fabric.submit(slow, 1)
    await world.advance(60_000)

    expect(await execution.state()).toBe('completed')
    expect(world.linesOf('warn')).toMatchObject([
      { message: 'store call failed; retrying with backoff until the store responds' },
    ])
    world.store.down = undefined
    await world.advance(5_000)

    expect((await world.elsewhere.workers()).items).toMatchObject([{ state: 'running' }, { state: 'running' }])
    expect(world.linesOf('info')).toMatchObject([{ message: 'store responds again; calls resume' }])
  })

  test('of another namespace is not reached', async () => {
    await using world = createWorld()
    const worker = world.work([runsFor(world, 1)])
    await world.settle()
    const { Client } = await import('../../client/index.ts')
    const other = new Client(world.store, world.runtime, { namespace: 'other' })

    expect((await other.workers()).items).toEqual([])
    await expect(other.worker(worker.instanceId).drain()).rejects.toMatchObject({ code: 'worker_not_found' })
    const all = new Client(world.store, world.runtime, { namespace: 'other', allNamespaces: true })
    expect((await all.workers()).items).toHaveLength(1)
  })
})

describe('an execution that waits', () => {
  test('is explained by the live workers that serve it', async () => {
    await using world = createWorld()
    const other = task<number, string>('other')
    world.work([other.handle(() => 'done')])
    const execution = await world.fabric.submit(slow, 1)
    await world.settle()
    const why = async () => (await world.elsewhere.why(execution.id)).text

    expect(await why()).toContain(
      "No live worker serves version 2 of task 'slow' in lane 'default'. One worker is live",
    )
    const busy = world.work([runsFor(world, 60_000)], { concurrency: 1, prefetch: 0 })
    await world.settle()
    const next = await world.fabric.submit(slow, 2)
    await world.advance(5_000)
    expect((await world.elsewhere.why(next.id)).text).toContain('One live worker serves version 2')
    expect(busy.state).toBe('running')
  })
})

test.each([
  ['a reason that is too long', (world: World) => world.fabric.worker('id').markDead('x'.repeat(257))],
  ['a reason with control characters', (world: World) => world.fabric.worker('id').markDead('a\u0000b')],
  ['a cursor of another listing', (world: World) => world.fabric.workers({ cursor: 'w1.0.a' })],
])('the calls on workers refuse %s', async (_, call) => {
  await using world = createWorld()

  await expect(call(world)).rejects.toMatchObject({ code: expect.stringMatching(/^invalid_/) as string })
})
