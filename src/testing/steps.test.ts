import { expect, test } from 'vitest'
import { PermanentError, approval, signal, task } from '../client/index.ts'
import { testFabric } from './test-fabric.ts'
import type { TestFabric } from './test-fabric.ts'

const order = task<{ item: string }, string>('order')

/** Two steps with a sleep between them, and their external effects. */
function shop() {
  const seen: string[] = []
  const handler = order.handle(async ({ item }, ctx) => {
    const receipt = await ctx.step('charge', (step) => {
      seen.push(step.idempotencyKey)
      return `receipt for ${item}`
    })
    await ctx.sleep('cooling-off', '14d')
    await ctx.step('ship', (step) => void seen.push(step.idempotencyKey))
    return receipt
  })
  return { handler, seen }
}

async function runs(t: TestFabric, execution: string): Promise<number[]> {
  await t.until(execution, 'completed')
  return ['charge', 'ship'].map((step) => t.stepRuns(execution, step))
}

test.each([
  ['before', 'charge', [1, 1], 2],
  ['during', 'charge', [2, 1], 2],
  ['after', 'charge', [1, 1], 2],
  ['before', 'cooling-off', [1, 1], 2],
  ['after', 'cooling-off', [1, 1], 2],
  ['before', 'ship', [1, 1], 2],
  ['during', 'ship', [1, 2], 2],
  ['after', 'ship', [1, 1], 2],
] as const)('a worker that crashes %s %s does again what was not recorded, and nothing else', async (...row) => {
  const [moment, step, counts, attempt] = row
  const { handler, seen } = shop()
  await using t = await testFabric([handler])
  await t.crashWorker({ [moment]: step } as { before: string })
  const execution = await t.submit(order, { item: 'honey' }, { id: 'order:1' })

  expect(await runs(t, 'order:1')).toEqual(counts)
  expect(await execution.describe()).toMatchObject({ result: 'receipt for honey', attempt, reclaimCount: 1 })
  expect(new Set(seen).size).toBe(2)
})

test('crashes that are asked for together happen one after the other', async () => {
  const { handler } = shop()
  await using t = await testFabric([handler])
  await t.crashWorker({ during: 'charge' })
  await t.crashWorker({ during: 'charge' })
  await t.crashWorker({ after: 'ship' })
  await t.submit(order, { item: 'honey' }, { id: 'order:1' })

  expect(await runs(t, 'order:1')).toEqual([3, 1])
  expect(await t.describe('order:1')).toMatchObject({ attempt: 4 })
})

test('a crash can be asked for in one execution, and takes along what else the worker held', async () => {
  const { handler } = shop()
  await using t = await testFabric([handler])
  await t.crashWorker({ before: 'ship', execution: 'order:2' })
  const first = await t.submit(order, { item: 'honey' }, { id: 'order:1' })
  const second = await t.submit(order, { item: 'wax' }, { id: 'order:2' })

  await t.until(first, 'completed')
  expect(await t.until(second, 'completed')).toMatchObject({ reclaimCount: 1 })
  expect(t.stepRuns(second, 'ship')).toBe(1)
})

test('a handler of a crashed worker does not come back, not even to clean up', async () => {
  const seen: string[] = []
  const slow = Promise.withResolvers<string>()
  const handler = order.handle(async ({ item }, ctx) => {
    try {
      const work = item === 'honey' && ctx.attempt === 1 ? () => slow.promise : () => item
      return await ctx.step('work', work)
    } finally {
      seen.push(`${item} ${ctx.attempt}`)
    }
  })
  await using t = await testFabric([handler])
  const first = await t.submit(order, { item: 'honey' })
  await t.until(first, 'active')

  await t.crashWorker({ before: 'work' })
  const second = await t.submit(order, { item: 'wax' })
  await t.until(second, 'active')
  slow.resolve('from beyond')
  await t.until(second, 'completed')
  await t.until(first, 'completed')

  expect(seen.sort()).toEqual(['honey 2', 'wax 2'])
})

test('a step that is done again in a loop is asked for by its number', async () => {
  const handler = order.handle(async (_, ctx) => {
    for (let i = 0; i < 3; i++) await ctx.step('fetch', () => i)
    return 'done'
  })
  await using t = await testFabric([handler])
  await t.crashWorker({ during: 'fetch#2' })
  const execution = await t.submit(order, { item: 'honey' })
  await t.until(execution, 'completed')

  expect(['fetch', 'fetch#2', 'fetch#3'].map((step) => t.stepRuns(execution, step))).toEqual([1, 2, 1])
})

test('an execution that ends without the requested crash fails the test with the list of steps that ran', async () => {
  const { handler } = shop()
  await using t = await testFabric([handler])
  await t.crashWorker({ before: 'chrage' })
  const execution = await t.submit(order, { item: 'honey' })

  await expect(t.until(execution, 'completed')).rejects.toThrow(
    /is 'completed', but never reached the requested crash before 'chrage'.*Steps that ran: 'charge', 'ship'\./,
  )
})

test('a crash point names exactly one moment', async () => {
  const { handler } = shop()
  await using t = await testFabric([handler])

  await expect(t.crashWorker({ before: 'a', after: 'b' })).rejects.toThrow("one of { before: 'charge' }")
  await expect(t.crashWorker({ execution: 'order:1' } as never)).rejects.toThrow("one of { before: 'charge' }")
})

test('a step that fails can be crashed around as well, and its failure stays', async () => {
  const handler = order.handle(async (_, ctx) => {
    try {
      await ctx.step('charge', () => Promise.reject(new PermanentError('no money')))
    } catch {
      return await ctx.step('apologise', () => 'sorry')
    }
    return 'charged'
  })
  await using t = await testFabric([handler])
  await t.crashWorker({ after: 'charge' })
  const execution = await t.submit(order, { item: 'honey' })

  expect(await t.until(execution, 'completed')).toMatchObject({ result: 'sorry', reclaimCount: 1 })
  expect(t.stepRuns(execution, 'charge')).toBe(1)
})

test('a step that fails and is not waited for brings nothing down', async () => {
  const handler = order.handle(async (_, ctx) => {
    void ctx.step('charge', () => Promise.reject(new PermanentError('no money')))
    return await ctx.step('ship', () => 'shipped')
  })
  await using t = await testFabric([handler])

  expect(await t.until(await t.submit(order, { item: 'honey' }), 'completed')).toMatchObject({ result: 'shipped' })
})

test('a handler of many steps settles without time passing', async () => {
  const handler = order.handle(async (_, ctx) => {
    for (let i = 0; i < 200; i++) await ctx.step('count', () => i)
    return 'counted'
  })
  await using t = await testFabric([handler])
  const execution = await t.submit(order, { item: 'honey' })
  const before = t.clock.now()

  await t.until(execution, 'completed')

  expect(t.clock.now()).toBe(before)
})

const publish = task<{ draft: string }, string>('publish')
const publishHandler = publish.handle(async (_, ctx) => {
  const review = await ctx.waitFor('review', approval({ need: 2, of: ['ada', 'bob', 'eve'], timeout: '3d' }))
  if (!review.ok) return review.reason
  const slot = await ctx.waitFor('slot', signal<string>('slot'))
  return slot.ok ? slot.value : slot.reason
})

test('votes decide an approval, each person once', async () => {
  await using t = await testFabric([publishHandler])
  const execution = await t.submit(publish, { draft: 'bees' })
  await t.until(execution, 'suspended')
  await execution.signal('slot', 'noon')

  const votes = [
    await t.vote(execution, 'review', { by: 'ada' }),
    await t.vote(execution, 'review', { by: 'ada' }),
    await t.vote(execution, 'review', { by: 'eve', value: 'fine' }),
  ]

  expect(votes.map(({ effect }) => effect)).toEqual(['counted', 'counted_before', 'resumed'])
  expect(await execution.result()).toBe('noon')
})

test('a vote against it decides as well', async () => {
  await using t = await testFabric([publishHandler])
  const execution = await t.submit(publish, { draft: 'bees' })
  await t.until(execution, 'suspended')

  await t.vote(execution, 'review', { by: 'bob', verdict: 'reject' })

  expect(await execution.result()).toBe('rejected')
})

test('until lets the time of a wait pass', async () => {
  await using t = await testFabric([publishHandler])
  const execution = await t.submit(publish, { draft: 'bees' })

  expect(await t.until(execution, 'completed')).toMatchObject({ result: 'timed_out' })
})

test('a wait without a timeout is reported at once, with what it waits for, before any time passes', async () => {
  const handler = publish.handle(async (_, ctx) => {
    const slot = await ctx.waitFor('slot', signal('slot'))
    return slot.ok ? 'signalled' : slot.reason
  })
  await using t = await testFabric([handler])
  const execution = await t.submit(publish, { draft: 'bees' })
  await t.until(execution, 'suspended')
  const before = t.clock.now()

  await expect(t.until(execution, 'completed')).rejects.toThrow(/is 'suspended' and not 'completed'.*slot.*t\.signal/)

  expect(t.clock.now()).toBe(before)
})

test('tokens work as they are, and are bound to the person', async () => {
  const tokens: string[] = []
  const handler = publish.handle(async (_, ctx) => {
    const gate = await ctx.waitpoint('gate')
    tokens.push(gate.token({ for: 'ada' }), gate.token({ for: 'bob' }))
    const review = await ctx.waitFor('review', approval({ on: gate, need: 2 }))
    return review.votes.map(({ by }) => by.identity).join()
  })
  await using t = await testFabric([handler])
  const execution = await t.submit(publish, { draft: 'bees' })
  await t.until(execution, 'suspended')

  for (const token of tokens.slice(0, 2)) await t.answer(token, 'approve')

  expect(await t.until(execution, 'completed')).toMatchObject({ result: 'ada,bob' })
})
