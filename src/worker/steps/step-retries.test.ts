import { expect, test } from 'vitest'
import { CategorisedError, PermanentError, task } from '../../client/index.ts'
import type { TaskContext } from '../../client/index.ts'
import { createWorld } from '../worker.fixture.ts'
import type { World } from '../worker.fixture.ts'

const once = task<null>('once')

/** Runs a handler to the end of its execution, whatever its outcome. Advances the clock by ten seconds. */
async function describeEnd(world: World, run: (context: TaskContext) => Promise<unknown>) {
  world.work([once.handle((_, context) => run(context))])
  const handle = await world.fabric.submit(once, null)
  await world.advance(10_000)
  return await handle.describe()
}

test('a step with retries is tried again in place, and no other step is disturbed', async () => {
  await using world = createWorld()
  const tries: number[] = []
  const description = await describeEnd(world, async (context) => {
    await context.step('before', () => 1)
    return await context.step('flaky', { retry: { attempts: 4, backoff: 'exponential' } }, ({ attempt }) => {
      tries.push(attempt)
      if (attempt < 4) throw new Error('not yet')
      return attempt
    })
  })

  expect(description).toMatchObject({ state: 'completed', result: 4 })
  expect(tries).toEqual([1, 2, 3, 4])
  expect(world.store.callsOf('recordStep')).toHaveLength(5)
  expect(description.attempts).toHaveLength(1)
})

test('a step fails once its tries are used up, and with the last of its failures', async () => {
  await using world = createWorld()
  const description = await describeEnd(world, (context) =>
    context.step('flaky', { retry: { attempts: 2, backoff: { kind: 'fixed', delay: 10 } } }, ({ attempt }) => {
      throw new Error(`try ${attempt}`)
    }),
  )

  expect(description).toMatchObject({ state: 'failed', failure: { message: 'try 2', category: 'error' } })
})

test.for([
  ['a permanent failure', () => new PermanentError('never'), 1],
  ['a category that is not asked for', () => new CategorisedError('syntax', 'never'), 1],
  ['a category that is asked for', () => new CategorisedError('rate', 'later'), 3],
] as const)('%s is tried as often as the policy of its step allows', async ([, make, expected]) => {
  await using world = createWorld()
  let tries = 0
  const retry = { attempts: 3, backoff: { kind: 'fixed', delay: 1 }, onlyCategories: ['rate'] } as const
  await describeEnd(world, (context) =>
    context.step('ask', { retry }, () => {
      tries += 1
      throw make()
    }),
  )

  expect(tries).toBe(expected)
})

test('a step that is tried again later holds no worker meanwhile', async () => {
  await using world = createWorld()
  world.fabric.engine()
  const tries: [number, number][] = []
  const worker = world.work([
    once.handle((_, context) =>
      context.step(
        'ask',
        { retry: { attempts: 3, backoff: { kind: 'fixed', delay: '1m' }, jitter: false } },
        (step) => {
          tries.push([step.attempt, context.attempt])
          if (step.attempt < 3) throw new Error('not yet')
          return 'answered'
        },
      ),
    ),
  ])
  const handle = await world.fabric.submit(once, null)
  await world.settle()

  expect(await world.stateOf(handle.id)).toBe('suspended')
  expect(worker.stats()).toMatchObject({ running: 0, settled: { parked: 1 } })
  await world.advance(60_000)
  expect(tries).toHaveLength(2)
  await world.advance(60_000)

  expect(await handle.result()).toBe('answered')
  expect(tries).toEqual([
    [1, 1],
    [2, 1],
    [3, 1],
  ])
})

test('steps that are all tried again later count their tries apart', async () => {
  await using world = createWorld()
  world.fabric.engine()
  const tries: string[] = []
  const ask = (context: TaskContext, name: string, delay: number) =>
    context.step(name, { retry: { attempts: 3, backoff: { kind: 'fixed', delay }, jitter: false } }, (step) => {
      tries.push(`${name}${step.attempt}`)
      if (step.attempt < 3) throw new Error('not yet')
      return step.attempt
    })
  world.work([once.handle((_, context) => Promise.all([ask(context, 'a', 20_000), ask(context, 'b', 30_000)]))])
  const handle = await world.fabric.submit(once, null)
  await world.advance(120_000)

  expect(await handle.result()).toEqual([3, 3])
  expect([...tries].sort()).toEqual(['a1', 'a2', 'a3', 'b1', 'b2', 'b3'])
})

test('resuming an execution by hand retries its step at once', async () => {
  await using world = createWorld()
  world.fabric.engine()
  world.work([
    once.handle((_, context) =>
      context.step(
        'ask',
        { retry: { attempts: 2, backoff: { kind: 'fixed', delay: '1h' }, jitter: false } },
        (step) => {
          if (step.attempt === 1) throw new Error('not yet')
          return 'answered'
        },
      ),
    ),
  ])
  const handle = await world.fabric.submit(once, null)
  await world.settle()
  await world.fabric.resume(handle.id, { by: 'ada' })

  expect(await handle.result()).toBe('answered')
})

test('a try that times out is a failure, and its work is aborted', async () => {
  await using world = createWorld()
  const reasons: unknown[] = []
  const description = await describeEnd(world, (context) =>
    context.step('slow', { timeout: '2s', retry: { attempts: 2, backoff: { kind: 'fixed', delay: 1 } } }, (step) => {
      step.signal.addEventListener('abort', () => reasons.push(step.signal.reason))
      return new Promise(() => undefined)
    }),
  )

  expect(description).toMatchObject({
    state: 'failed',
    failure: { category: 'timeout', message: "Step 'slow' took longer than 2000 ms." },
  })
  expect(reasons).toHaveLength(2)
})

test('tries are counted anew when the execution itself is tried again', async () => {
  await using world = createWorld()
  world.fabric.engine()
  const hasty = task<null>('hasty', {
    retry: { attempts: 2, backoff: { kind: 'fixed', delay: 0 } },
    timeout: { attempt: '1s' },
  })
  const tries: number[] = []
  world.work([
    hasty.handle((_, context) =>
      context.step(
        'ask',
        { retry: { attempts: 3, backoff: { kind: 'fixed', delay: 3_000 }, jitter: false } },
        (step) => {
          tries.push(step.attempt)
          if (context.attempt === 1) throw new Error('no answer')
          return 'answered'
        },
      ),
    ),
  ])
  const handle = await world.fabric.submit(hasty, null)
  await world.advance(5_000)

  expect(await handle.result()).toBe('answered')
  expect(tries).toEqual([1, 1])
})

test('a handler that fails does so at once, also while another of its steps waits to be tried again', async () => {
  await using world = createWorld()
  const retry = { attempts: 3, backoff: { kind: 'fixed', delay: '1h' }, jitter: false } as const
  const description = await describeEnd(world, (context) =>
    Promise.all([
      context.step('later', { retry }, () => Promise.reject(new Error('not yet'))),
      context.step('never', () => Promise.reject(new Error('never'))),
    ]),
  )

  expect(description).toMatchObject({ state: 'failed', failure: { message: 'never' } })
})
