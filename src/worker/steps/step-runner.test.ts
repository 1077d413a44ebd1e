import { expect, expectTypeOf, test } from 'vitest'
import { CategorisedError, PermanentError, RetryAfterError, StepFailedError, task } from '../../client/index.ts'
import type { TaskContext } from '../../client/index.ts'
import { STEP_TOTAL_BYTES, STEP_VALUE_BYTES } from '../../kernel/index.ts'
import { createWorld } from '../worker.fixture.ts'
import type { World } from '../worker.fixture.ts'

const work = task<null>('work', { retry: { attempts: 3, backoff: { kind: 'fixed', delay: 0 } } })
const once = task<null>('once')

/** Runs a handler to the end of its execution, whatever its outcome. Advances the clock by ten seconds. */
async function describeEnd(world: World, run: (context: TaskContext) => Promise<unknown>, definition = once) {
  world.work([definition.handle((_, context) => run(context))])
  const handle = await world.fabric.submit(definition, null)
  await world.advance(10_000)
  await handle.wait()
  return await handle.describe()
}

test('a step that is recorded is not done again when the handler runs again', async () => {
  await using world = createWorld()
  const done: string[] = []
  const description = await describeEnd(
    world,
    async (context) => {
      const a = await context.step('a', () => done.push('a'))
      const b = await context.step('b', () => Promise.resolve({ after: a, done: done.push('b') }))
      expectTypeOf(b).toEqualTypeOf<{ after: number; done: number }>()
      if (context.attempt === 1) throw new Error('not yet')
      return b
    },
    work,
  )

  expect(description).toMatchObject({ state: 'completed', result: { after: 1, done: 2 } })
  expect(done).toEqual(['a', 'b'])
})

test('an execution that has recorded nothing reads nothing, and one that has reads it once', async () => {
  await using world = createWorld()
  await describeEnd(
    world,
    async (context) => {
      await context.step('a', () => 1)
      await context.step('b', () => 2)
      if (context.attempt < 3) throw new Error('not yet')
    },
    work,
  )

  expect(world.store.callsOf('recordStep')).toHaveLength(2)
  expect(world.store.callsOf('readSteps')).toHaveLength(2)
})

test('a repeated name is numbered in the order of the calls, each kind separately', async () => {
  await using world = createWorld()
  const { result } = await describeEnd(world, async (context) => {
    const names = await Promise.all(
      ['fetch', 'fetch', 'store', 'fetch'].map((name) => context.step(name, (s) => s.name)),
    )
    await context.now('fetch')
    return names
  })

  expect(result).toEqual(['fetch', 'fetch#2', 'store', 'fetch#3'])
})

test('a value is the same in the run that made it as in every later one', async () => {
  await using world = createWorld()
  const seen: unknown[] = []
  await describeEnd(
    world,
    async (context) => {
      const date = await context.step('date', () => new Date(0))
      const nothing = await context.step('nothing', (): unknown => undefined)
      const bytes = await context.step('bytes', () => new Uint8Array([1, 2]))
      seen.push([date, nothing, [...bytes]])
      if (context.attempt === 1) throw new Error('not yet')
    },
    work,
  )

  expect(seen).toEqual([1, 2].map(() => ['1970-01-01T00:00:00.000Z', undefined, [1, 2]]))
})

test('the time and chance of a handler are the same in every run', async () => {
  await using world = createWorld()
  const seen: unknown[] = []
  await describeEnd(
    world,
    async (context) => {
      seen.push([await context.now(), await context.now('later'), context.random(), context.random()])
      await world.runtime.advance(5)
      if (context.attempt < 3) throw new Error('not yet')
    },
    work,
  )

  expect(seen[1]).toEqual(seen[0])
  expect(seen[2]).toEqual(seen[0])
  const [, , first, second] = seen[0] as number[]
  expect(first).not.toBe(second)
  for (const fraction of [first, second]) expect(fraction).toSatisfy((value: number) => value >= 0 && value < 1)
})

test('the idempotency key of a step is the same for all its tries and that of no other step', async () => {
  await using world = createWorld()
  const keys: string[] = []
  const { id } = await describeEnd(
    world,
    async (context) => {
      await context.step('other', ({ idempotencyKey }) => keys.push(idempotencyKey))
      await context.step('pay', ({ idempotencyKey }) => {
        keys.push(idempotencyKey)
        if (context.attempt < 3) throw new Error('no answer')
      })
    },
    work,
  )

  const [other, ...pays] = keys
  expect(new Set(pays)).toEqual(new Set([expect.stringMatching(new RegExp(`^${id}-[0-9a-z]+:pay$`))]))
  expect(pays).toHaveLength(3)
  expect(other).not.toBe(pays[0])
})

test('a step that fails is the same failure in every run of its attempt, and its handler takes the same branch', async () => {
  await using world = createWorld()
  world.fabric.engine()
  const errors: unknown[] = []
  let tries = 0
  const description = await describeEnd(world, async (context) => {
    try {
      await context.step('book', () => {
        tries += 1
        throw new CategorisedError('sold_out', `no seats at try ${tries}`)
      })
    } catch (error) {
      errors.push(error)
      await context.step('apologise', () => 'sorry')
    }
    await context.sleep('rest', 10)
    return tries
  })

  expect(description).toMatchObject({ state: 'completed', result: 1 })
  expect(errors).toHaveLength(2)
  for (const error of errors) {
    expect(error).toBeInstanceOf(StepFailedError)
    expect(error).toMatchObject({ message: 'no seats at try 1', category: 'sold_out', step: 'book' })
  }
})

test('a step that failed is tried again when its execution is', async () => {
  await using world = createWorld()
  let tries = 0
  const description = await describeEnd(
    world,
    async (context) => {
      await context.step('before', () => 1)
      return await context.step('flaky', ({ attempt }) => {
        tries += 1
        if (tries < 3) throw new Error('not yet')
        return [tries, attempt]
      })
    },
    work,
  )

  expect(description).toMatchObject({ state: 'completed', result: [3, 1] })
  expect(description.attempts.map((attempt) => attempt.failure?.message)).toEqual(['not yet', 'not yet', undefined])
})

test('what a step throws fails its execution as if the handler had thrown it', async () => {
  await using world = createWorld()
  const permanent = await describeEnd(
    world,
    (context) => context.step('charge', () => Promise.reject(new PermanentError('the card is stolen'))),
    work,
  )

  expect(permanent.attempts).toHaveLength(1)
  expect(permanent).toMatchObject({
    state: 'failed',
    failure: { category: 'permanent', message: 'the card is stolen' },
  })
})

test('a step that fails with a retry delay delays the retry of its execution', async () => {
  await using world = createWorld()
  world.work([
    work.handle((_, context) =>
      context.step('ask', () => {
        if (context.attempt === 1) throw new RetryAfterError('1m')
        return 'answered'
      }),
    ),
  ])
  const handle = await world.fabric.submit(work, null)
  await world.settle()

  expect(await world.stateOf(handle.id)).toBe('delayed')
  await world.advance(59_000)
  expect(await world.stateOf(handle.id)).toBe('delayed')
  await world.advance(2_000)
  expect(await handle.result()).toBe('answered')
})

test('steps that run side by side are all recorded before their handler is parked', async () => {
  await using world = createWorld()
  world.fabric.engine()
  const done: number[] = []
  world.work([
    once.handle(async (_, context) => {
      const steps = [1, 2, 3].map((number) =>
        context.step(`part${number}`, async () => {
          await new Promise<void>((resolve) => void world.runtime.after(number * 100, resolve))
          return done.push(number)
        }),
      )
      await context.sleep('rest', '1s')
      return await Promise.all(steps)
    }),
  ])
  const handle = await world.fabric.submit(once, null)
  await world.advance(2_000)

  expect(await handle.result()).toEqual([1, 2, 3])
  expect(done).toEqual([1, 2, 3])
})

test('a step that is not awaited is recorded before its execution ends', async () => {
  await using world = createWorld()
  const description = await describeEnd(world, async (context) => {
    void context.step('forgotten', async () => {
      await new Promise<void>((resolve) => void world.runtime.after(100, resolve))
      throw new Error('not awaited')
    })
    return await Promise.resolve('done')
  })

  expect(description).toMatchObject({ state: 'completed', result: 'done' })
  expect(world.store.callsOf('recordStep')).toHaveLength(1)
})

test('two thousand steps are read in pages and answer in any order', async () => {
  await using world = createWorld()
  const names = Array.from({ length: 2_000 }, (_, i) => `step${i}`)
  let tries = 0
  const description = await describeEnd(
    world,
    async (context) => {
      const order = context.attempt === 1 ? names : names.toReversed()
      let sum = 0
      for (const name of order) sum += await context.step(name, () => (tries += 1))
      if (context.attempt === 1) throw new Error('not yet')
      return sum
    },
    work,
  )

  expect(description.result).toBe(2_001_000)
  expect(tries).toBe(2_000)
  expect(world.store.callsOf('readSteps')).toHaveLength(11)
})

test('a value that is too large fails its execution permanently, and the error names the step', async () => {
  await using world = createWorld()
  const description = await describeEnd(
    world,
    (context) => context.step('download', () => 'x'.repeat(STEP_VALUE_BYTES)),
    work,
  )

  expect(description).toMatchObject({ state: 'failed', failure: { category: 'permanent' } })
  expect(description.failure?.message).toContain("the value of step 'download' has 262146 bytes, the limit is 262144")
})

test('a value that JSON cannot carry fails its execution for good', async () => {
  await using world = createWorld()
  const description = await describeEnd(world, (context) => context.step('list', () => new Set([1])), work)

  expect(description).toMatchObject({ state: 'failed', failure: { category: 'permanent' } })
  expect(description.failure?.message).toContain("the value of step 'list' is a Set")
})

test('a value beyond the total limit of all steps is refused, and the handler can continue without it', async () => {
  await using world = createWorld()
  const count = STEP_TOTAL_BYTES / STEP_VALUE_BYTES
  const value = new Uint8Array(STEP_VALUE_BYTES)
  const { result } = await describeEnd(world, async (context) => {
    for (let i = 0; i < count; i++) await context.step('part', () => value)
    return await context.step('more', () => 1).catch((error: unknown) => error)
  })

  expect(result).toMatchObject({ code: 'step_bytes_exceeded', detail: { step: 'more' } })
})

test.for<[string, string]>([
  ['', 'must be a text of 1 to'],
  ['a\u0001', 'without control characters'],
  ['fetch#2', "must not end in '#' and a number"],
])('the name %j of a step is refused', async ([name, message]) => {
  await using world = createWorld()
  const description = await describeEnd(world, (context) => context.step(name, () => 1), work)

  expect(description.failure?.category).toBe('permanent')
  expect(description.failure?.message).toContain(message)
})

test.for([
  ['a step', (context: TaskContext) => context.step('inner', () => 1)],
  ['a sleep', (context: TaskContext) => context.sleep('inner', '1s')],
  ['the time', (context: TaskContext) => context.now()],
  ['chance', (context: TaskContext) => context.random()],
] as const)('%s inside of a step is refused', async ([, call]) => {
  await using world = createWorld()
  const description = await describeEnd(
    world,
    (context) => context.step('outer', async () => await call(context)),
    work,
  )

  expect(description).toMatchObject({ state: 'failed', failure: { category: 'permanent' } })
  expect(description.failure?.message).toContain("was called inside step 'outer'")
})

test('an execution that begins because of a step is not inside of it', async () => {
  await using world = createWorld()
  const inner = task<null, number>('inner')
  world.work([
    inner.handle((_, context) => context.step('own', () => 7)),
    once.handle((_, context) =>
      context.step('outer', async () => await (await world.fabric.submit(inner, null)).result()),
    ),
  ])

  expect(await (await world.fabric.submit(once, null)).result()).toBe(7)
})
