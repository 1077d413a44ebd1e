import { expect, test } from 'vitest'
import { Client } from '../client/client.ts'
import { task } from '../client/index.ts'
import { NEEDS_CLASS_MAX } from '../kernel/index.ts'
import { sleep } from '../runtime/index.ts'
import { Fabric } from '../fabric/fabric.ts'
import { createWorld } from './worker.fixture.ts'
import type { World } from './worker.fixture.ts'
import { startWorker } from './worker.ts'

const render = task<number, string>('render')
const handler = render.handle((frame) => `frame ${frame}`)
/** Needs that are too long for the name of a class. */
const longNeeds = Array.from({ length: 40 }, (_, i) => `accelerator-of-kind-${i}`)

async function statesOf(world: World, ids: readonly Parameters<World['stateOf']>[0][]): Promise<string[]> {
  return await Promise.all(ids.map((id) => world.stateOf(id)))
}

test('a worker claims only executions whose needs it has', async () => {
  await using world = createWorld()
  const plain = await world.fabric.submit(render, 1)
  const gpu = await world.fabric.submit(render, 2, { needs: ['gpu'] })
  const both = await world.fabric.submit(render, 3, { needs: ['region:eu', 'gpu'] })

  world.work([handler], { capabilities: ['gpu'] })
  await world.advance(20_000)

  expect(await statesOf(world, [plain.id, gpu.id, both.id])).toEqual(['completed', 'completed', 'waiting'])
})

test('a worker without capabilities claims executions without needs, and lists queues once an hour at most', async () => {
  await using world = createWorld()
  const gpu = await world.fabric.submit(render, 1, { needs: ['gpu'] })
  const plain = await world.fabric.submit(render, 2)

  world.work([handler])
  await world.advance(20_000)

  expect(await statesOf(world, [gpu.id, plain.id])).toEqual(['waiting', 'completed'])
  expect(world.store.callsOf('listQueues')).toHaveLength(1)
})

test('an execution that no worker can take does not delay those behind it', async () => {
  await using world = createWorld()
  for (let i = 0; i < 200; i++) await world.fabric.submit(render, i, { needs: ['tpu'], priority: 9 })
  const gpu = await world.fabric.submit(render, 1, { needs: ['gpu'] })
  const plain = await world.fabric.submit(render, 2)

  world.work([handler], { capabilities: ['gpu'], concurrency: 1, prefetch: 0 })
  await world.settle()

  expect(await statesOf(world, [gpu.id, plain.id])).toEqual(['completed', 'completed'])
  expect(world.store.callsOf('releaseExecution')).toEqual([])
})

test('a worker learns of needs through the wake-up of their first submit', async () => {
  await using world = createWorld(4)
  world.work([handler], { capabilities: ['gpu', 'region:eu'], sweep: '1h' })
  await world.settle()
  world.store.calls.length = 0

  const execution = await world.elsewhere.submit(render, 1, { needs: ['gpu', 'region:eu'] })
  await world.settle()

  expect(await world.stateOf(execution.id)).toBe('completed')
  expect(world.store.callsOf('listQueues')).toEqual([])
})

test('a worker learns of needs by the listing alone if wake-ups are lost', async () => {
  await using world = createWorld(4)
  world.store.isMute = true
  world.work([handler], { capabilities: ['gpu'] })
  await world.settle()

  const execution = await world.elsewhere.submit(render, 1, { needs: ['gpu'] })
  await world.advance(7_000)

  expect(await world.stateOf(execution.id)).toBe('completed')
})

test('a submit in the process of the worker travels in one batch with the claim, also with new needs', async () => {
  await using world = createWorld()
  world.work([handler], { capabilities: ['gpu'], sweep: '1h' })
  await world.settle()
  const trips = world.store.tripCount

  const execution = await world.fabric.submit(render, 1, { needs: ['gpu'] })
  await world.settle()

  expect(world.store.tripCount - trips).toBe(2)
  expect(await world.stateOf(execution.id)).toBe('completed')
})

test('the needs of a task and those of a submit are united', async () => {
  await using world = createWorld()
  const train = task('train', { needs: ['gpu'] })
  const none = await world.fabric.submit(train, undefined)
  const more = await world.fabric.submit(train, undefined, { needs: ['region:eu', 'gpu'] })

  world.work([train.handle(() => undefined)], { capabilities: ['gpu'] })
  await world.advance(6_000)

  expect((await world.fabric.describe(more.id)).needs).toEqual(['gpu', 'region:eu'])
  expect(await statesOf(world, [none.id, more.id])).toEqual(['completed', 'waiting'])
})

test('executions that were submitted before their task had needs are still claimed', async () => {
  await using world = createWorld()
  const before = await world.fabric.submit(render, 1)
  const needing = task<number, string>('render', { needs: ['gpu'] })

  world.work([needing.handle((frame) => `frame ${frame}`)], { capabilities: ['gpu'] })
  await world.settle()

  expect(await world.stateOf(before.id)).toBe('completed')
})

test('needs that are too long for a name are listed before they are claimed', async () => {
  await using world = createWorld()
  world.work([handler], { capabilities: longNeeds, sweep: '1h' })
  const lacking = world.work([handler], { capabilities: longNeeds.slice(1), sweep: '1h' })
  await world.settle()

  const execution = await world.elsewhere.submit(render, 1, { needs: longNeeds })
  await world.settle()

  expect(await world.stateOf(execution.id)).toBe('completed')
  expect(lacking.stats().claimed).toBe(0)
})

test('a queue that stays empty is forgotten, and learnt again with its next execution', async () => {
  await using world = createWorld()
  world.work([handler], { capabilities: ['gpu'] })
  await world.fabric.submit(render, 1, { needs: ['gpu'] })
  const queueCount = () => {
    const claims = world.store.callsOf('claimForWorker').map((call) => call.input as { readonly queues: unknown[] })
    return claims.at(-1)?.queues.length
  }
  await world.advance(2_000)
  expect(queueCount()).toBe(2)

  await world.advance(80_000)
  expect(queueCount()).toBe(1)

  const again = await world.elsewhere.submit(render, 2, { needs: ['gpu'] })
  await world.settle()
  expect(await world.stateOf(again.id)).toBe('completed')
})

test('more combinations of needs than a worker claims from at once are all served in time', async () => {
  await using world = createWorld()
  const kinds = Array.from({ length: 150 }, (_, i) => `kind-${i}`)
  for (const [i, kind] of kinds.entries()) await world.elsewhere.submit(render, i, { needs: [kind] })

  const worker = world.work([handler], { capabilities: kinds })
  await world.advance(5_000)

  expect(worker.stats().settled.completed).toBe(kinds.length)
})

test('a submit with one combination of needs too many is refused', async () => {
  await using world = createWorld()
  const submit = (i: number) => world.fabric.submit(render, i, { needs: [`value-${i}`] })
  for (let i = 0; i < NEEDS_CLASS_MAX; i++) await submit(i)

  await expect(submit(NEEDS_CLASS_MAX)).rejects.toMatchObject({ code: 'too_many_needs', detail: { limit: 1_024 } })
  await submit(0)
  await world.fabric.submit(task('other'), undefined, { needs: ['another'] })
})

test('a worker claims executions of its own namespace alone', async () => {
  await using world = createWorld()
  const acme = new Client(world.store, world.runtime, { namespace: 'acme' })
  const own = await acme.submit(render, 1)
  const foreign = await world.fabric.submit(render, 2)

  const worker = startWorker(acme, [handler])
  await world.advance(3_000)
  await worker.close()

  expect([(await acme.describe(own.id)).state, await world.stateOf(foreign.id)]).toEqual(['completed', 'waiting'])
})

test('a worker of all namespaces learns of them', async () => {
  await using world = createWorld()
  const all = new Fabric(world.store, world.runtime, { allNamespaces: true })
  const acme = new Client(world.store, world.runtime, { namespace: 'acme' })
  const early = await acme.submit(render, 1)
  const worker = startWorker(all, [handler])
  await world.settle()
  const late = await new Client(world.store, world.runtime, { namespace: 'globex' }).submit(render, 2)
  await world.settle()
  await worker.close()

  expect(await Promise.all([early, late].map(async ({ id }) => (await all.describe(id)).state))).toEqual([
    'completed',
    'completed',
  ])
})

test('an execution takes the slots of its task', async () => {
  await using world = createWorld()
  let running = 0
  let most = 0
  const heavy = task<number>('heavy')
  const heavyHandler = heavy.handle({ slots: 2 }, async () => {
    most = Math.max(most, (running += 2))
    await sleep(world.runtime, 10)
    running -= 2
  })
  const light = render.handle(async () => {
    most = Math.max(most, (running += 1))
    await sleep(world.runtime, 10)
    running -= 1
    return ''
  })
  for (let i = 0; i < 20; i++) {
    await world.elsewhere.submit(heavy, i)
    await world.elsewhere.submit(render, i)
  }

  const worker = world.work([heavyHandler, light], { concurrency: 5 })
  await world.advance(10_000)

  expect(worker.stats().settled.completed).toBe(40)
  expect(most).toBe(5)
})

test.each([0, 4])(
  'an execution of several slots starts although single slots are always wanted, prefetch %i',
  async (prefetch) => {
    await using world = createWorld()
    let started = false
    const heavy = task<number>('heavy')
    const light = render.handle(async () => {
      await sleep(world.runtime, 3_000 + Math.floor(world.runtime.random() * 1_000))
      return ''
    })
    for (let i = 0; i < 400; i++) await world.elsewhere.submit(render, i)
    world.work([heavy.handle({ slots: 4 }, () => void (started = true)), light], { concurrency: 4, prefetch })
    await world.advance(1_000)
    // Its wake-up is lost too.
    world.store.isMute = true
    await world.elsewhere.submit(heavy, 1)

    await world.advance(20_000)

    expect(started).toBe(true)
  },
)

test('a task that takes more slots than the worker has is refused', () => {
  const world = createWorld()

  expect(() => world.work([render.handle({ slots: 3 }, () => '')], { concurrency: 2 })).toThrow(
    "slots of task 'render' is 3, but the worker has a concurrency of 2",
  )
})
