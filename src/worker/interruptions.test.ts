/** A deploy never decides an outcome: what a handler does after it was notified to stop is not recorded. */
import { describe, expect, test } from 'vitest'
import { CategorisedError, PermanentError, PostponeError, flow, task } from '../client/index.ts'
import type { TaskContext } from '../client/index.ts'
import { createWorld } from './worker.fixture.ts'
import type { World } from './worker.fixture.ts'

const work = task<number, string>('work', { retry: { attempts: 3 } })

/** What handlers do with the error of a stop. */
const reactions = [
  { what: 'returns a fallback', react: () => 'fallback' },
  {
    what: 'throws a permanent error',
    react: () => {
      throw new PermanentError('gave up')
    },
  },
  {
    what: 'throws an error with a category',
    react: () => {
      throw new CategorisedError('network', 'gave up')
    },
  },
  {
    what: 'postpones',
    react: () => {
      throw new PostponeError('1h')
    },
  },
] as const

/** How a handler learns that it must stop. */
const deliveries: readonly { how: string; learn: (world: World, ctx: TaskContext) => Promise<unknown> }[] = [
  { how: 'its signal', learn: (_world, { signal }) => aborted(signal) },
  {
    how: 'the next step',
    learn: async (world, ctx) => {
      await elapse(world, 2_000)
      await ctx.step('next', () => 1)
    },
  },
  { how: 'the signal of a step', learn: (_world, ctx) => ctx.step('held', ({ signal }) => aborted(signal)) },
  {
    how: 'a pause between two tries of a step',
    learn: (_world, ctx) =>
      ctx.step('flaky', { retry: { attempts: 9, backoff: { kind: 'fixed', delay: '4s' }, jitter: false } }, () => {
        throw new Error('not yet')
      }),
  },
  {
    how: 'a sleep',
    learn: async (world, ctx) => {
      await elapse(world, 2_000)
      await ctx.sleep('rest', '1d')
    },
  },
]

function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason as Error))
  })
}

function elapse(world: World, ms: number): Promise<void> {
  return new Promise((resolve) => world.runtime.after(ms, () => resolve()))
}

describe.each(deliveries)('a handler that learns of the stop by $how', ({ learn }) => {
  test.each(reactions)('and $what is released, and another worker decides', async ({ react }) => {
    await using world = createWorld()
    const worker = world.work([work.handle((_, ctx) => learn(world, ctx).then(() => 'in time', react))], {
      drainTimeout: '1s',
    })
    const execution = await world.fabric.submit(work, 1)
    await world.settle()

    const closing = worker.close()
    await world.advance(3_000)

    expect(await closing).toEqual({ finished: 0, released: 1, abandoned: 0 })
    expect(await execution.describe()).toMatchObject({ state: 'waiting', failureCount: 0, attempts: [] })
    world.work([work.handle((_, { attempt }) => `done in attempt ${attempt}`)])
    await world.settle()
    expect(await execution.result()).toBe('done in attempt 1')
  })
})

test('a handler that finishes within the drain completes its execution, although it has its signal', async () => {
  await using world = createWorld()
  const worker = world.work([
    work.handle(async (_, { signal }) => {
      await elapse(world, 1_000)
      return signal.aborted ? 'stopped' : 'done'
    }),
  ])
  const execution = await world.fabric.submit(work, 1)
  await world.settle()

  const closing = worker.close()
  await world.advance(1_000)

  expect(await closing).toEqual({ finished: 1, released: 0, abandoned: 0 })
  expect(await execution.result()).toBe('done')
})

test('a handler that finishes after the drain, and could not know of it, completes its execution', async () => {
  await using world = createWorld()
  const worker = world.work(
    [
      work.handle(async (_, ctx) => {
        const value = await ctx.step('short', () => 'done')
        await elapse(world, 2_000)
        return value
      }),
    ],
    { drainTimeout: '1s' },
  )
  const execution = await world.fabric.submit(work, 1)
  await world.settle()

  const closing = worker.close()
  await world.advance(3_000)

  expect(await closing).toEqual({ finished: 1, released: 0, abandoned: 0 })
  expect(await execution.result()).toBe('done')
})

test('an error after the drain is not recorded, even if the handler could not know of the stop', async () => {
  await using world = createWorld()
  const worker = world.work(
    [
      work.handle(async () => {
        await elapse(world, 2_000)
        throw new PermanentError('the pool is closed')
      }),
    ],
    { drainTimeout: '1s' },
  )
  const execution = await world.fabric.submit(work, 1)
  await world.settle()

  const closing = worker.close()
  await world.advance(3_000)

  expect(await closing).toEqual({ finished: 0, released: 1, abandoned: 0 })
  expect(await world.stateOf(execution.id)).toBe('waiting')
})

test('a step that finishes after the drain is recorded, unless it has the signal', async () => {
  await using world = createWorld()
  const runs: string[] = []
  const handler = work.handle(async (_, ctx) => {
    const isFirst = runs.length === 0
    const steps = await Promise.all([
      ctx.step('deaf', async () => {
        runs.push('deaf')
        await elapse(world, 2_000)
        return 'value'
      }),
      ctx.step('aware', async ({ signal }) => {
        runs.push('aware')
        return isFirst ? await aborted(signal).catch(() => 'fallback') : 'value'
      }),
    ])
    return steps.join(' ')
  })
  const worker = world.work([handler], { drainTimeout: '1s' })
  const execution = await world.fabric.submit(work, 1)
  await world.settle()
  const closing = worker.close()
  await world.advance(4_000)
  await closing

  world.work([handler])
  await world.advance(4_000)

  expect(await execution.result()).toBe('value value')
  expect(runs).toEqual(['deaf', 'aware', 'aware'])
})

test('the signal of a step that has ended does not concern the rest of the handler', async () => {
  await using world = createWorld()
  const worker = world.work(
    [
      work.handle(async (_, ctx) => {
        const value = await ctx.step('fetch', ({ signal }) => (signal.aborted ? 'fallback' : 'value'))
        await elapse(world, 2_000)
        return value
      }),
    ],
    { drainTimeout: '1s' },
  )
  const execution = await world.fabric.submit(work, 1)
  await world.settle()

  const closing = worker.close()
  await world.advance(3_000)
  await closing

  expect(await execution.result()).toBe('value')
})

test('a member that was notified to stop adds nothing to its flow', async () => {
  await using world = createWorld()
  const errors: unknown[] = []
  const worker = world.work(
    [
      work.handle(async (_, ctx) => {
        await aborted(ctx.signal).catch(() => undefined)
        await ctx.flow.add('spare', work, 2).catch((error: unknown) => errors.push(error))
        return 'fallback'
      }),
    ],
    { drainTimeout: 0 },
  )
  const handle = await world.fabric.submit(
    flow('one', (f) => f.node('only', work, { input: 1 })),
    {},
  )
  await world.settle()
  await worker.close()

  expect(errors).toMatchObject([{ code: 'worker_stopping' }])
  expect((await handle.describe()).counts).toMatchObject({ waiting: 1 })
})

const timed = task<number, string>('timed', {
  timeout: { attempt: '5s' },
  retry: { attempts: 2, backoff: { kind: 'fixed', delay: '1m' }, jitter: false },
})

test.each(reactions)(
  'a handler that was notified of its timeout and $what is retried after the timeout',
  async ({ react }) => {
    await using world = createWorld()
    world.work([
      timed.handle((_, ctx) =>
        ctx.failureCount === 0
          ? aborted(ctx.signal).then(() => 'in time', react)
          : Promise.resolve(`attempt ${ctx.attempt}`),
      ),
    ])
    const execution = await world.fabric.submit(timed, 1)

    await world.advance(7_000)
    expect(await execution.describe()).toMatchObject({ state: 'delayed', failure: { category: 'timeout' } })
    await world.advance(70_000)

    expect(await execution.result()).toBe('attempt 2')
  },
)

test.each(reactions)('a handler that was notified of its lost lease and $what reports nothing', async ({ react }) => {
  await using world = createWorld()
  world.work([work.handle((_, ctx) => aborted(ctx.signal).then(() => 'in time', react))], { sweep: '1h' })
  const execution = await world.fabric.submit(work, 1)
  await world.settle()
  world.store.plan = (call) => (call.operation === 'renewLease' ? 'before' : undefined)

  await world.advance(30_000)

  const reports = world.store.calls.filter(({ operation }) => !/^(claim|create|renew|describe|list)/.test(operation))
  expect(reports).toEqual([])
  expect(await world.stateOf(execution.id)).toBe('active')
})

test('a cancel request that arrives after the stop still ends the execution', async () => {
  await using world = createWorld()
  const worker = world.work(
    [
      work.handle(async (_, ctx) => {
        await aborted(ctx.signal).catch(() => undefined)
        await elapse(world, 1_000)
        return 'fallback'
      }),
    ],
    { drainTimeout: 0 },
  )
  const execution = await world.fabric.submit(work, 1)
  await world.settle()

  const closing = worker.close()
  await world.settle()
  await execution.cancel('not needed')
  await world.advance(2_000)
  await closing

  expect(await world.stateOf(execution.id)).toBe('cancelled')
})
