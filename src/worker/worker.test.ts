import { expect, test } from 'vitest'
import { task } from '../client/index.ts'
import type { TaskContext } from '../client/index.ts'
import { readyIndex } from '../kernel/index.ts'
import { sleep } from '../runtime/index.ts'
import { executionPartition } from '../stores/store.ts'
import { createWorld } from './worker.fixture.ts'

const add = task<{ a: number; b: number }, number>('add')

test('an execution is claimed, its handler runs with its input, and its result is stored', async () => {
  await using world = createWorld()
  world.work([add.handle(({ a, b }) => a + b)])

  const execution = await world.fabric.submit(add, { a: 2, b: 3 })

  expect(await execution.result()).toBe(5)
})

test('a worker that is full serves all partitions in turn, however much waits in each', async () => {
  await using world = createWorld(4)
  for (let i = 0; i < 40; i++) await world.elsewhere.submit(add, { a: i, b: 0 })
  const order: string[] = []
  const handler = add.handle(async ({ a, b }, ctx: TaskContext) => {
    order.push(ctx.executionId.slice(0, ctx.executionId.indexOf('-')))
    await sleep(world.runtime, 10)
    return a + b
  })
  world.work([handler], { concurrency: 1, prefetch: 0, sweep: '1h' })

  await world.advance(1_000)

  expect(order).toHaveLength(40)
  for (let i = 0; i + 4 <= 40; i += 4) expect(new Set(order.slice(i, i + 4)).size).toBe(4)
})

test('partitions that have a little work each share the room of a worker, and are asked side by side', async () => {
  await using world = createWorld(4)
  const handler = add.handle(({ a, b }) => a + b)
  world.work([handler], { concurrency: 8, prefetch: 0, sweep: '1h' })
  await world.settle()
  world.store.calls.length = 0

  const partitions = [0, 1, 2, 3].map(executionPartition)
  const ready = [readyIndex('default', add.name)]
  for (const partition of partitions) world.store.wake({ partition, ready, hasEvents: false, holdersOf: [] })
  await world.settle()

  const counts = world.store.callsOf('claimForWorker').map((call) => (call.input as { count: number }).count)
  expect(counts).toEqual([2, 2, 2, 2])
})

test('a submit beside an idle worker and the claim of what it submits travel in one batch', async () => {
  await using world = createWorld()
  world.work([add.handle(({ a, b }) => a + b)], { sweep: '1h' })
  await world.settle()
  const batches: string[][] = []
  const run = world.store.run.bind(world.store)
  world.store.run = (partition, calls) => {
    batches.push(calls.map((call) => call.operation))
    return run(partition, calls)
  }

  const execution = await world.fabric.submit(add, { a: 2, b: 3 })
  await world.settle()

  expect(batches).toEqual([['createExecution', 'claimForWorker'], ['completeExecution']])
  expect(await world.stateOf(execution.id)).toBe('completed')
})

test('what was submitted before the worker started is found at once', async () => {
  await using world = createWorld()
  const execution = await world.fabric.submit(add, { a: 1, b: 1 })

  world.work([add.handle(({ a, b }) => a + b)])
  await world.settle()

  expect(await world.stateOf(execution.id)).toBe('completed')
})

test('a handler may return nothing', async () => {
  await using world = createWorld()
  world.work([add.handle(() => undefined as unknown as number)])

  const execution = await world.fabric.submit(add, { a: 1, b: 1 })

  expect(await execution.result()).toBeUndefined()
})

test('a handler receives everything about its execution', async () => {
  await using world = createWorld()
  let seen: TaskContext | undefined
  world.work([add.handle((_, context) => ((seen = context), 0))])

  const execution = await world.fabric.submit(
    add,
    { a: 1, b: 1 },
    { id: 'sum:1', tags: { plan: 'pro' }, timeout: { attempt: '1m' } },
  )
  await world.settle()

  expect(seen).toMatchObject({
    executionId: execution.id,
    key: 'sum:1',
    task: 'add',
    lane: 'default',
    namespace: 'default',
    tags: { plan: 'pro' },
    attempt: 1,
    attemptKind: 'initial',
    failureCount: 0,
    deadlineAt: world.runtime.now() + 60_000,
  })
  expect(seen?.signal.aborted).toBe(false)
  expect(seen?.idempotencyKey).toContain(execution.id)
})

test('the idempotency key is the same for every attempt and another for other work under the same id', async () => {
  await using world = createWorld()
  const keys: string[] = []
  const flaky = task<null, string>('flaky', { retry: { attempts: 2, backoff: { kind: 'fixed', delay: 0 } } })
  world.work([
    flaky.handle((_, context) => {
      keys.push(context.idempotencyKey)
      if (keys.length === 1) throw new Error('once more')
      return 'ok'
    }),
  ])

  await world.fabric.submit(flaky, null, { id: 'daily' })
  await world.settle()
  await world.advance(1_000)
  await world.fabric.submit(flaky, null, { id: 'daily', ifExists: 'replace' })
  await world.settle()

  expect(keys).toHaveLength(3)
  expect(keys[1]).toBe(keys[0])
  expect(keys[2]).not.toBe(keys[0])
})

test('runs of one id have different idempotency keys if the clock stands still', async () => {
  await using world = createWorld()
  const keys: string[] = []
  world.work([add.handle((_, context) => keys.push(context.idempotencyKey))])

  await world.fabric.submit(add, { a: 1, b: 2 }, { id: 'daily' })
  await world.settle()
  for (const ifExists of ['replace', 'after'] as const) {
    await world.fabric.submit(add, { a: 1, b: 2 }, { id: 'daily', ifExists })
    await world.settle()
  }

  expect(new Set(keys).size).toBe(3)
})

test('no more handlers run at once than the worker allows', async () => {
  await using world = createWorld()
  let running = 0
  let most = 0
  world.work(
    [
      add.handle(async () => {
        most = Math.max(most, ++running)
        await new Promise<void>((resolve) => world.runtime.after(100, resolve))
        running -= 1
        return 0
      }),
    ],
    { concurrency: 3 },
  )

  await world.fabric.submitMany(
    add,
    Array.from({ length: 20 }, () => ({ input: { a: 1, b: 1 } })),
  )
  await world.advance(1_000)

  expect(most).toBe(3)
  expect((await world.fabric.lanes())[0]?.counts.completed).toBe(20)
})

test('a worker holds no more than its slots and what it claims ahead', async () => {
  await using world = createWorld()
  const worker = world.work([add.handle(() => new Promise<number>(() => undefined))], {
    concurrency: 2,
    prefetch: 3,
    prefetchHold: '1m',
  })

  await world.fabric.submitMany(
    add,
    Array.from({ length: 20 }, () => ({ input: { a: 1, b: 1 } })),
  )
  await world.advance(5_000)

  expect(worker.stats()).toMatchObject({ running: 2, waiting: 3, claimed: 5 })
  expect((await world.fabric.lanes())[0]?.counts).toMatchObject({ active: 5, waiting: 15 })
})

test('what was claimed ahead and finds no slot is handed back, and a worker with a free one takes it', async () => {
  await using world = createWorld()
  const slow = task<number, number>('slow')
  const quick = task<number, number>('quick')
  const quickHandler = quick.handle((number) => number)
  const busy = world.work([slow.handle(() => new Promise<number>(() => undefined)), quickHandler], { concurrency: 1 })
  await world.fabric.submit(slow, 0)
  await world.settle()
  const waiting = await world.fabric.submit(quick, 7)
  await world.settle()
  expect(busy.stats()).toMatchObject({ running: 1, waiting: 1 })

  world.work([quickHandler])
  await world.advance(1_100)

  expect(await waiting.describe()).toMatchObject({ state: 'completed', result: 7, attempt: 1, failureCount: 0 })
  expect(busy.stats()).toMatchObject({ running: 1, waiting: 0 })
})

test('a worker that had to hand back claims ahead only as much as its handlers end', async () => {
  await using world = createWorld()
  const worker = world.work([add.handle(() => new Promise<number>(() => undefined))], { concurrency: 1, prefetch: 4 })
  await world.fabric.submitMany(
    add,
    Array.from({ length: 20 }, () => ({ input: { a: 1, b: 1 } })),
  )

  await world.advance(60_000)

  expect(worker.stats()).toMatchObject({ running: 1, waiting: 0, claimed: 5 })
  expect((await world.fabric.lanes())[0]?.counts).toEqual({ active: 1, waiting: 19 })
})

test('without claiming ahead a worker holds only what it runs', async () => {
  await using world = createWorld()
  const worker = world.work([add.handle(() => new Promise<number>(() => undefined))], { concurrency: 2, prefetch: 0 })

  await world.fabric.submitMany(
    add,
    Array.from({ length: 5 }, () => ({ input: { a: 1, b: 1 } })),
  )
  await world.advance(3_000)

  expect(worker.stats()).toMatchObject({ running: 2, waiting: 0 })
})

test('handlers that compute without a pause leave others their turn between them', async () => {
  await using world = createWorld()
  const monotonic = world.runtime.monotonic.bind(world.runtime)
  let computedMs = 0
  world.runtime.monotonic = () => monotonic() + computedMs
  let turn = 0
  const count = () => {
    turn += 1
    if (turn < 100) world.runtime.soon(count)
  }
  const turns: number[] = []
  await world.fabric.submitMany(
    add,
    Array.from({ length: 12 }, () => ({ input: { a: 1, b: 1 } })),
  )
  count()
  world.work([add.handle(({ a, b }) => (turns.push(turn), (computedMs += 6), a + b))], { concurrency: 4, prefetch: 8 })

  await world.advance(1_000)

  expect(turns).toHaveLength(12)
  expect(new Set(turns).size).toBeGreaterThanOrEqual(6)
})

test('functions of the context may be taken out of it', async () => {
  await using world = createWorld()
  world.work([
    add.handle(async ({ a, b }, { progress, log, signal }) => {
      await progress(50, `${signal.aborted}`)
      log.info({}, 'half way')
      return a + b
    }),
  ])

  const execution = await world.fabric.submit(add, { a: 1, b: 1 })

  expect(await execution.result()).toBe(2)
  expect(world.linesOf('info')).toMatchObject([
    { message: 'half way', fields: { executionId: execution.id, attempt: 1 } },
  ])
})

test('a task at its own limit holds up no other task and is claimed no further', async () => {
  await using world = createWorld()
  const slow = task<number, number>('slow')
  let running = 0
  let most = 0
  const slowHandler = slow.handle({ concurrency: 2 }, async () => {
    most = Math.max(most, ++running)
    await new Promise<void>((resolve) => world.runtime.after(10_000, resolve))
    running -= 1
    return 0
  })
  const worker = world.work([slowHandler, add.handle(({ a, b }) => a + b)], { concurrency: 4 })

  await world.fabric.submitMany(
    slow,
    Array.from({ length: 30 }, (_, i) => ({ input: i })),
  )
  await world.settle()
  await world.fabric.submitMany(
    add,
    Array.from({ length: 10 }, () => ({ input: { a: 1, b: 1 } })),
  )
  await world.settle()

  expect((await world.fabric.list({ task: 'add', state: 'completed' })).items).toHaveLength(10)
  expect(worker.stats()).toMatchObject({ running: 2, waiting: 2 })
  expect((await world.fabric.list({ task: 'slow', state: 'waiting' })).items).toHaveLength(26)
  await world.advance(200_000)
  expect(most).toBe(2)
  expect((await world.fabric.list({ task: 'slow', state: 'completed' })).items).toHaveLength(30)
})

test('a worker serves the lanes it is given with every handler, and no others', async () => {
  await using world = createWorld()
  world.work([add.handle(({ a, b }) => a + b)], { lanes: ['eu', 'us'] })

  const eu = await world.fabric.submit(add, { a: 1, b: 1 }, { lane: 'eu' })
  const us = await world.fabric.submit(add, { a: 1, b: 1 }, { lane: 'us' })
  const other = await world.fabric.submit(add, { a: 1, b: 1 })
  await world.advance(3_000)

  expect(await Promise.all([eu, us, other].map((execution) => execution.state()))).toEqual([
    'completed',
    'completed',
    'waiting',
  ])
})

test('work in all partitions is found by wake-ups alone', async () => {
  await using world = createWorld(8)
  world.work([add.handle(({ a, b }) => a + b)], { sweep: '1h' })
  await world.settle()

  const ids = Array.from({ length: 100 }, (_, i) => `sum:${i}`)
  await world.fabric.submitMany(
    add,
    ids.map((id) => ({ input: { a: 1, b: 1 }, options: { id } })),
  )
  await world.settle()

  const states = await Promise.all(ids.map((id) => world.fabric.execution(id).state()))
  expect(new Set(states)).toEqual(new Set(['completed']))
})

test('work whose wake-up was lost is found by the sweep within about a second', async () => {
  await using world = createWorld(4)
  world.store.isMute = true
  world.work([add.handle(({ a, b }) => a + b)])
  await world.settle()

  const ids = Array.from({ length: 20 }, (_, i) => `sum:${i}`)
  await world.fabric.submitMany(
    add,
    ids.map((id) => ({ input: { a: 1, b: 1 }, options: { id } })),
  )
  await world.advance(1_200)

  const states = await Promise.all(ids.map((id) => world.fabric.execution(id).state()))
  expect(new Set(states)).toEqual(new Set(['completed']))
})

test('an idle worker asks each partition once per sweep and no more', async () => {
  await using world = createWorld(4)
  world.work([add.handle(({ a, b }) => a + b)])
  await world.settle()
  const before = world.store.calls.length

  await world.advance(60_000)

  const asked = world.store.calls.length - before
  expect(asked).toBeGreaterThanOrEqual(4 * 50)
  expect(asked).toBeLessThanOrEqual(4 * 75)
})

test('a busy worker claims with its completions and not by calls of their own', async () => {
  await using world = createWorld()
  await world.fabric.submitMany(
    add,
    Array.from({ length: 320 }, () => ({ input: { a: 1, b: 1 } })),
  )
  world.work([add.handle(({ a, b }) => a + b)], { concurrency: 16, prefetch: 16 })
  await world.settle()

  expect((await world.fabric.lanes())[0]?.counts.completed).toBe(320)
  expect(world.store.callsOf('claimForWorker').length).toBeLessThanOrEqual(2)
})

test('claims are made for many at a time, not one for each that ends', async () => {
  await using world = createWorld()
  await world.fabric.submitMany(
    add,
    Array.from({ length: 320 }, (_, i) => ({ input: { a: i, b: 0 } })),
  )
  const handler = add.handle(async ({ a }) => {
    await new Promise<void>((resolve) => world.runtime.after(100 + (a % 16) * 7, resolve))
    return a
  })
  world.work([handler], { concurrency: 16, prefetch: 16, sweep: '1h' })

  await world.advance(10_000)

  expect((await world.fabric.lanes())[0]?.counts.completed).toBe(320)
  const claims = world.store.calls.filter(
    (call) => call.operation === 'claimForWorker' || ('next' in call.input && call.input.next !== undefined),
  )
  expect(claims.length).toBeLessThanOrEqual(320 / 8 + 2)
})

test('changes that others make to a shared store do not make an idle worker ask all the time', async () => {
  await using world = createWorld()
  world.store.isVague = true
  world.work([add.handle(({ a, b }) => a + b)])
  const other = task<number, number>('other')
  await world.settle()
  const before = world.store.callsOf('claimForWorker').length

  for (let i = 0; i < 200; i++) {
    await world.fabric.submit(other, i)
    await world.advance(5)
  }

  expect(world.store.callsOf('claimForWorker').length - before).toBeLessThanOrEqual(55)
  const execution = await world.fabric.submit(add, { a: 1, b: 1 })
  await world.advance(25)
  expect(await world.stateOf(execution.id)).toBe('completed')
})

test('ready work that cannot be claimed does not make a worker claim in a busy loop', async () => {
  await using world = createWorld()
  const run = world.store.run.bind(world.store)
  world.store.run = async (partition, calls) => {
    const answers = await run(partition, calls)
    return answers.map((answer, i) =>
      calls[i]?.operation === 'claimForWorker' && answer.kind === 'answered'
        ? { ...answer, result: { ...answer.result, kind: 'claimed', executions: [], more: true, gates: [], at: 0 } }
        : answer,
    )
  }
  world.work([add.handle(({ a, b }) => a + b)])

  await world.advance(1_000)

  expect(world.store.callsOf('claimForWorker').length).toBeLessThanOrEqual(60)
})

test('what is no handler is refused by name', async () => {
  await using world = createWorld()

  expect(() => world.work([add as never])).toThrow(
    expect.objectContaining({ detail: expect.objectContaining({ field: 'handlers' }) as unknown }) as Error,
  )
})

test('two handlers for one version of a task are refused, with the remedy', async () => {
  await using world = createWorld()
  const versioned = task('versioned', { version: 2 })
  const first = versioned.handle({ versions: [1, 2] }, () => 1)

  expect(() => world.work([first, versioned.handle(() => 2)])).toThrow('name the versions that each serves')
})

test('two handlers for one task, or none at all, are refused', async () => {
  await using world = createWorld()
  const handler = add.handle(() => 0)

  expect(() => world.work([handler, handler])).toThrow("Task 'add' has two handlers")
  expect(() => world.work([])).toThrow('at least one handler')
})
