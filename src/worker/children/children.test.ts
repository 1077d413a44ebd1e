import { expect, expectTypeOf, test } from 'vitest'
import { ChildFailedError, ChildrenFailedError, PermanentError, task } from '../../client/index.ts'
import type { TaskContext } from '../../client/index.ts'
import { STEP_PAGE_MAX } from '../../kernel/index.ts'
import type { World } from '../worker.fixture.ts'
import { createWorld } from '../worker.fixture.ts'

const parent = task<null>('parent')
const double = task<number, number>('double')
const doubleHandler = double.handle((n) => 2 * n)
const label = task<string, string>('label')
const failing = task<string, string>('failing')
const failingHandler = failing.handle((message) => {
  throw new PermanentError(message)
})
/** Ends after so many milliseconds, unless it is aborted before. */
const slow = task<number, number>('slow')

function slowHandler(world: World, aborted: number[] = []) {
  return slow.handle(
    (ms, ctx) =>
      new Promise((resolve, reject) => {
        const timer = world.runtime.after(ms, () => resolve(ms))
        ctx.signal.addEventListener('abort', () => {
          timer.cancel()
          aborted.push(ms)
          reject(ctx.signal.reason as Error)
        })
      }),
  )
}

const run = (handler: (ctx: TaskContext) => Promise<unknown>) => parent.handle((_, ctx) => handler(ctx))

test('a lone call starts its child and parks in one operation', async () => {
  await using world = createWorld()
  world.work([doubleHandler, run(async (ctx) => (await ctx.call('first', double, 4)) + 1)])
  const handle = await world.fabric.submit(parent, null)
  await world.settle()

  expect(await handle.result()).toBe(9)
  expect(world.store.callsOf('startChildren').map(({ input }) => input)).toMatchObject([{ park: true }])
  expect(world.store.callsOf('joinChildren')).toEqual([])
})

test('the starts of one turn are sent together, with the wait for them', async () => {
  await using world = createWorld()
  world.work([doubleHandler, run(async (ctx) => await ctx.all([1, 2, 3].map((n) => ctx.spawn(`n:${n}`, double, n))))])
  const handle = await world.fabric.submit(parent, null)

  expect(await handle.result()).toEqual([2, 4, 6])
  expect(world.store.callsOf('startChildren').map(({ input }) => input)).toMatchObject([
    { children: [{ name: 'n:1' }, { name: 'n:2' }, { name: 'n:3' }], park: true },
  ])
})

test('results keep the positions and the types of a tuple', async () => {
  await using world = createWorld()
  world.work([
    doubleHandler,
    label.handle((text) => `<${text}>`),
    run(async (ctx) => {
      const [number, text] = await ctx.all([ctx.spawn('n', double, 1), ctx.spawn('t', label, 'a')])
      expectTypeOf(number).toEqualTypeOf<number>()
      expectTypeOf(text).toEqualTypeOf<string>()
      const [first] = await ctx.settled([ctx.spawn('s', double, 2)])
      return [number, text, first.ok && first.value]
    }),
  ])
  const handle = await world.fabric.submit(parent, null)

  expect(await handle.result()).toEqual([2, '<a>', 4])
})

test('calls that are made together run side by side, and start before one of them parks', async () => {
  await using world = createWorld()
  world.work([
    slowHandler(world),
    run(async (ctx) => await Promise.all([ctx.call('a', slow, 500), ctx.call('b', slow, 400), ctx.step('s', () => 1)])),
  ])
  const handle = await world.fabric.submit(parent, null)
  await world.advance(520)

  expect(await handle.result()).toEqual([500, 400, 1])
})

test('a wait takes handles of earlier turns, and children that have ended before it', async () => {
  await using world = createWorld()
  const pause = Promise.withResolvers<undefined>()
  world.work([
    doubleHandler,
    run(async (ctx) => {
      const first = await ctx.spawn('first', double, 1)
      await pause.promise
      const second = (async () => await ctx.spawn('second', double, 2))()
      return { ids: typeof first.id, all: await ctx.all([first, second]), again: await first.result() }
    }),
  ])
  const handle = await world.fabric.submit(parent, null)
  await world.settle()
  pause.resolve(undefined)

  expect(await handle.result()).toEqual({ ids: 'string', all: [2, 4], again: 2 })
})

test('a failure is thrown with the outcome, the code and the id of the child, and can be caught', async () => {
  await using world = createWorld()
  const seen: unknown[] = []
  world.work([
    failingHandler,
    run(async (ctx) => {
      try {
        return await ctx.call('pay', failing, 'no money')
      } catch (error) {
        seen.push(error)
        return error instanceof ChildFailedError && `${error.child}: ${error.outcome}, ${error.code}, ${error.message}`
      }
    }),
  ])
  const handle = await world.fabric.submit(parent, null)

  expect(await handle.result()).toBe('pay: failed, permanent, no money')
  const [error] = seen as ChildFailedError[]
  expect(error?.task).toBe('failing')
  expect(await world.stateOf(error?.childId ?? handle.id)).toBe('failed')
})

test('a failure that the handler lets through fails the attempt like the child', async () => {
  await using world = createWorld()
  world.work([failingHandler, run(async (ctx) => await ctx.call('pay', failing, 'no money'))])
  const handle = await world.fabric.submit(parent, null, { retry: { attempts: 3 } })

  await expect(handle.result()).rejects.toMatchObject({ outcome: 'failed' })
  const { attempts } = await world.fabric.describe(handle.id)
  expect(attempts.at(-1)?.failure).toMatchObject({
    category: 'permanent',
    message: expect.stringMatching(/^Child 'pay' \(task 'failing', 0-\S+\) failed \(permanent\): no money$/) as string,
  })
  expect(attempts.filter(({ failure }) => failure !== undefined)).toHaveLength(1)
})

test('a retry of the parent starts failed children anew and keeps completed ones', async () => {
  await using world = createWorld()
  world.fabric.engine()
  const runs: string[] = []
  const flaky = task<string, string>('flaky')
  world.work([
    flaky.handle((name) => {
      runs.push(name)
      if (name === 'bad' && runs.filter((each) => each === 'bad').length < 2) throw new Error('not yet')
      return name
    }),
    run(async (ctx) => await ctx.all([ctx.spawn('good', flaky, 'good'), ctx.spawn('bad', flaky, 'bad')])),
  ])
  const handle = await world.fabric.submit(parent, null, {
    retry: { attempts: 2, backoff: { kind: 'fixed', delay: 10 } },
  })
  await world.advance(5_000)

  expect(await handle.result()).toEqual(['good', 'bad'])
  expect(runs.sort()).toEqual(['bad', 'bad', 'good'])
})

test('settled returns how each child ended, in order', async () => {
  await using world = createWorld()
  world.work([
    doubleHandler,
    failingHandler,
    run(async (ctx) => {
      const [one, two] = await ctx.settled('both', [ctx.spawn('a', failing, 'broken'), ctx.spawn('b', double, 3)])
      return [one.ok ? 'ok' : one.error.message, two.ok && two.value]
    }),
  ])
  const handle = await world.fabric.submit(parent, null)

  expect(await handle.result()).toEqual(['broken', 6])
})

test('any returns the first that completes, and cancels the others on request', async () => {
  await using world = createWorld()
  world.fabric.engine()
  const aborted: number[] = []
  world.work([
    slowHandler(world, aborted),
    run(
      async (ctx) =>
        await ctx.any(
          [3_000, 50, 4_000].map((ms) => ctx.spawn(`s:${ms}`, slow, ms)),
          { losers: 'cancel' },
        ),
    ),
  ])
  const handle = await world.fabric.submit(parent, null)
  await world.advance(2_000)

  expect(await handle.result()).toEqual({ index: 1, name: 's:50', value: 50 })
  expect(aborted.sort()).toEqual([3_000, 4_000])
})

test('any lets the others run unless asked, and every run of the handler sees the same winner', async () => {
  await using world = createWorld()
  const seen: unknown[] = []
  world.work([
    slowHandler(world),
    run(async (ctx) => {
      seen.push(await ctx.any('first', [ctx.spawn('a', slow, 300), ctx.spawn('b', slow, 50)]))
      await ctx.sleep('nap', '1s')
      return seen
    }),
  ])
  const handle = await world.fabric.submit(parent, null)
  await world.advance(3_000)

  const winner = { index: 1, name: 'b', value: 50 }
  expect(await handle.result()).toEqual([winner, winner])
})

test('quorum returns the winners in the order in which they completed', async () => {
  await using world = createWorld()
  world.work([
    slowHandler(world),
    run(
      async (ctx) =>
        await ctx.quorum(
          2,
          [300, 200, 100].map((ms) => ctx.spawn(`s:${ms}`, slow, ms)),
        ),
    ),
  ])
  const handle = await world.fabric.submit(parent, null)
  await world.advance(250)

  expect(await handle.result()).toEqual([
    { index: 2, name: 's:100', value: 100 },
    { index: 1, name: 's:200', value: 200 },
  ])
})

test('the ends of winners that are far apart are read without what is between them', async () => {
  await using world = createWorld()
  const pause = Promise.withResolvers<undefined>()
  const count = 2 * STEP_PAGE_MAX
  world.work([
    doubleHandler,
    run(async (ctx) => {
      const first = ctx.spawn('first', double, 1)
      // No worker takes them.
      const others = Array.from({ length: count }, (_, n) => ctx.spawn(`n:${n}`, label, 'x'))
      const handles = await Promise.all([first, ...others, ctx.spawn('last', double, 2)])
      await pause.promise
      return (await ctx.quorum(2, handles)).map(({ name, value }) => `${name} ${String(value)}`)
    }),
  ])
  const handle = await world.fabric.submit(parent, null)
  await world.advance(1_000)
  pause.resolve(undefined)

  expect(await handle.result()).toEqual(['first 2', 'last 4'])
  expect(world.store.callsOf('readSteps').map(({ input }) => input)).toMatchObject([{ limit: 1 }, { limit: 1 }])
})

test('a quorum that can no longer be reached throws all failures', async () => {
  await using world = createWorld()
  const errors: ChildrenFailedError[] = []
  world.work([
    failingHandler,
    slowHandler(world),
    run(async (ctx) => {
      const children = [ctx.spawn('a', failing, 'one'), ctx.spawn('b', failing, 'two'), ctx.spawn('c', slow, 60_000)]
      try {
        return await ctx.quorum('most', 2, children)
      } catch (error) {
        if (error instanceof ChildrenFailedError) errors.push(error)
        throw error
      }
    }),
  ])
  const handle = await world.fabric.submit(parent, null, { retry: { attempts: 1 } })

  await expect(handle.result()).rejects.toMatchObject({ outcome: 'failed' })
  expect(errors[0]?.errors.map(({ child, message }) => `${child}: ${message}`)).toEqual(['a: one', 'b: two'])
  const { attempts } = await world.fabric.describe(handle.id)
  expect(attempts.at(-1)?.failure).toMatchObject({
    category: 'permanent',
    message: expect.stringMatching(
      /^2 of 3 children failed\. \(Child 'a' \(.+\) failed \(permanent\): one; Child 'b' \(.+\) failed \(permanent\): two\)$/,
    ) as string,
  })
})

test('the failure of a long chain has its cause, and each parent names its own child', async () => {
  await using world = createWorld()
  const deep = task<number, number>('deep')
  world.work([
    deep.handle(async (depth, ctx) => {
      if (depth === 0) throw new PermanentError("a 'quoted' cause: (really)")
      return await ctx.call(`it's ${depth}`, deep, depth - 1)
    }),
  ])
  const handle = await world.fabric.submit(deep, 12)
  await world.advance(5_000)

  const top = await handle.describe()
  expect(top.failure?.message).toMatch(
    /^Child 'it's 12' \(task 'deep', 0-\S+\) failed \(permanent\): a 'quoted' cause: \(really\)$/,
  )
  const [child] = (await world.fabric.list({ parent: handle.id })).items
  expect(child?.failure?.message).toMatch(/^Child 'it's 11' .* failed \(permanent\): a 'quoted' cause: \(really\)$/)
})

test('a repeated name is numbered in the order of the calls', async () => {
  await using world = createWorld()
  world.work([
    doubleHandler,
    run(async (ctx) => {
      const sum = (await ctx.call('n', double, 1)) + (await ctx.call('n', double, 2))
      const both = await ctx.all([ctx.spawn('n', double, 3)])
      return [sum, both, await ctx.all([ctx.spawn('n', double, 4)])]
    }),
  ])
  const handle = await world.fabric.submit(parent, null)

  expect(await handle.result()).toEqual([6, [6], [8]])
  const steps: string[] = []
  for await (const { kind, name } of world.fabric.steps(handle.id)) steps.push(`${kind} ${name}`)
  expect(steps.sort()).toEqual([
    'child n',
    'child n#2',
    'child n#3',
    'child n#4',
    'join all',
    'join all#2',
    'join n',
    'join n#2',
  ])
})

test('children that the handler does not wait for are started before it ends', async () => {
  await using world = createWorld()
  const ran: number[] = []
  world.work([
    double.handle((n) => ran.push(n)),
    run(async (ctx) => {
      void ctx.spawn('a', double, 1)
      void ctx.all([ctx.spawn('b', double, 2)])
      return 'done'
    }),
  ])
  const handle = await world.fabric.submit(parent, null)

  expect(await handle.result()).toBe('done')
  await world.settle()
  expect(ran.sort()).toEqual([1, 2])
})

test('one slot is enough for parents that wait for parents', async () => {
  await using world = createWorld()
  const nested = task<number, number>('nested')
  world.work(
    [nested.handle(async (depth, ctx) => (depth === 0 ? 1 : 1 + (await ctx.call('below', nested, depth - 1))))],
    { concurrency: 1, prefetch: 0 },
  )
  const handles = await Promise.all([1, 2, 3].map(() => world.fabric.submit(nested, 6)))
  await world.advance(1_000)

  expect(await Promise.all(handles.map((handle) => handle.result()))).toEqual([7, 7, 7])
})

test.each<[string, (ctx: TaskContext) => Promise<unknown>, string]>([
  ['a task that is no task', (ctx) => ctx.call('x', 'double' as never, 1), 'which task(…) did not make'],
  ['an unknown option', (ctx) => ctx.call('x', double, 1, { id: 'mine' } as never), 'unknown key "id"'],
  ['a detached call', (ctx) => ctx.call('x', double, 1, { detached: true } as never), 'unknown key "detached"'],
  ['a name that ends in a number', (ctx) => ctx.spawn('x#2', double, 1), "must not end in '#' and a number"],
  ['no list', (ctx) => ctx.all(5 as never), 'must be a list'],
  ['a value that is no child', (ctx) => ctx.all([5 as never]), 'children[0] is 5'],
  ['an empty race', (ctx) => ctx.any([]), 'children is an empty list'],
  [
    'too large a quorum',
    (ctx) => ctx.quorum(2, [ctx.spawn('x', double, 1)]),
    'need is 2, but must be a whole number from 1 to 1, the number of children',
  ],
  [
    'a child twice',
    (ctx) => {
      const child = ctx.spawn('x', double, 1)
      return ctx.all([child, child])
    },
    'is in its list twice',
  ],
  [
    'a detached child in a wait',
    (ctx) => ctx.all([ctx.spawn('x', double, 1, { detached: true }) as never]),
    'is detached',
  ],
  ['a call inside a step', (ctx) => ctx.step('s', () => ctx.call('x', double, 1)), 'was called inside step'],
  ['an input that is not JSON', (ctx) => ctx.call('x', double, NaN), "Child 'x': input is NaN"],
])('refuses %s, without a retry', async (_, handler, message) => {
  await using world = createWorld()
  world.work([doubleHandler, run(handler)])
  const handle = await world.fabric.submit(parent, null, { retry: { attempts: 3 } })

  await expect(handle.result()).rejects.toThrow(message)
  expect((await world.fabric.describe(handle.id)).attempts).toHaveLength(1)
})

test('a wait for no children has its answer at once', async () => {
  await using world = createWorld()
  world.work([run(async (ctx) => [await ctx.all([]), await ctx.settled([])])])
  const handle = await world.fabric.submit(parent, null)

  expect(await handle.result()).toEqual([[], []])
  expect(world.store.callsOf('joinChildren')).toEqual([])
})

test.each(['replace', 'after'] as const)('a run of the same id starts children of its own: %s', async (ifExists) => {
  await using world = createWorld()
  const childIds: string[] = []
  const handler = double.handle((n, ctx) => {
    childIds.push(ctx.executionId)
    return 2 * n
  })
  world.work([handler, run((ctx) => ctx.call('first', double, 4))])
  const first = await world.fabric.submit(parent, null, { id: 'daily' })
  await world.settle()
  const before = await first.result()
  // The clock stands still.
  const second = await world.fabric.submit(parent, null, { id: 'daily', ifExists })
  await world.settle()

  expect([before, await second.result()]).toEqual([8, 8])
  expect(new Set(childIds).size).toBe(2)
})
