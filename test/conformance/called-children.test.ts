/** Children of handlers, through the doors that a program uses. */
import { expect, test } from 'vitest'
import {
  ChildFailedError,
  ExecutionCancelledError,
  PermanentError,
  flow,
  signal,
  task,
} from '../../src/client/index.ts'
import type { ExecutionHandle, ListOptions, TaskContext } from '../../src/client/index.ts'
import { executionPartition } from '../../src/stores/store.ts'
import type { TestFabric } from './fabric.ts'
import { conforms } from './harness.ts'
import { Working } from './working.ts'

const parent = task<null>('parent')
const double = task<number, number>('double')
const doubleHandler = double.handle((n) => 2 * n)
const broken = task<string, string>('broken')
const brokenHandler = broken.handle((message) => {
  throw new PermanentError(message)
})
/** Runs until it is aborted. */
const endless = task<string, string>('endless')

function endlessHandler(aborted: string[], started?: (name: string) => void) {
  return endless.handle((name, { signal: stop }) => {
    started?.(name)
    return new Promise((_, reject) => {
      stop.addEventListener('abort', () => {
        aborted.push(name)
        reject(stop.reason as Error)
      })
    })
  })
}

const run = (handler: (ctx: TaskContext) => Promise<unknown>) => parent.handle((_, ctx) => handler(ctx))

/** Resolves once so many names were noted. */
function counting(count: number): { readonly note: (name: string) => void; readonly reached: Promise<undefined> } {
  const { promise, resolve } = Promise.withResolvers<undefined>()
  let noted = 0
  const note = () => {
    noted += 1
    if (noted === count) resolve(undefined)
  }
  return { note, reached: promise }
}

/** Far more than any test needs. */
const PASS_COUNT_MAX = 500

/** Advances the clock, with the due passes of an engine, until a condition holds. */
async function untilTrue(fabric: TestFabric, condition: () => Promise<boolean> | boolean): Promise<void> {
  for (let pass = 0; pass < PASS_COUNT_MAX; pass++) {
    await fabric.runtime.advance(20)
    if (await settled(fabric, Promise.resolve(condition()))) return
    await settled(fabric, duePasses(fabric))
  }
  throw new Error('what the test waits for does not happen')
}

/** The client chooses the partition of an execution, and its children are in the same one. */
async function duePasses({ store }: TestFabric): Promise<void> {
  for (let number = 0; number < store.settings.executionPartitions; number++) {
    const call = { operation: 'runDue', input: { limit: 50, seed: 1 }, blobs: [] } as const
    await store.run(executionPartition(number), [call])
  }
}

/** Calls of a store may need time to pass. */
async function settled<T>(fabric: TestFabric, call: Promise<T>): Promise<T> {
  let isSettled = false as boolean
  const ended = call.finally(() => (isSettled = true))
  while (!isSettled) await fabric.runtime.advance(1)
  return await ended
}

function untilState(fabric: TestFabric, execution: ExecutionHandle, state: string): Promise<void> {
  return untilTrue(fabric, async () => (await execution.state()) === state)
}

conforms('a handler that calls other tasks', ({ fabric }) => {
  test('gets their results, in a flow and outside, while it holds no slot', async () => {
    await using working = new Working(fabric)
    const nested = task<number, number>('nested')
    const nestedHandler = nested.handle(async (depth, ctx) =>
      depth === 0 ? 1 : (await ctx.call('below', nested, depth - 1)) + (await ctx.call('twice', double, depth)),
    )
    const tree = flow('tree', (f, input: number) => f.node('root', nested, { input }))
    working.work([nestedHandler, doubleHandler], { concurrency: 1, prefetch: 0 })

    const alone = await working.until(working.client.submit(nested, 2))
    const other = await working.until(working.client.submit(nested, 1))
    const member = await working.until(working.client.submit(tree, 1))

    expect(await working.until(alone.result())).toBe(7)
    expect(await working.until(other.result())).toBe(3)
    expect(await working.until(member.result())).toBe(3)
  })

  test('is parked in the store while a child runs, and receives a failure with its cause', async () => {
    await using working = new Working(fabric)
    const gate = Promise.withResolvers<undefined>()
    const guarded = task<null, string>('guarded')
    working.work([
      guarded.handle(async () => {
        await gate.promise
        throw new PermanentError('out of stock')
      }),
      run(async (ctx) => {
        try {
          return await ctx.call('stock', guarded, null)
        } catch (error) {
          if (!(error instanceof ChildFailedError)) throw error
          const { child, task: name, outcome, code, message, childId } = error
          return { child, task: name, outcome, code, message, isChild: childId !== ctx.executionId }
        }
      }),
    ])
    const execution = await working.until(working.client.submit(parent, null))
    await untilState(fabric, execution, 'suspended')
    gate.resolve(undefined)

    expect(await working.until(execution.result())).toEqual({
      child: 'stock',
      task: 'guarded',
      outcome: 'failed',
      code: 'permanent',
      message: 'out of stock',
      isChild: true,
    })
  })

  test('is neither aborted nor skipped by a child that fails while it runs', async () => {
    await using working = new Working(fabric)
    const spawned = Promise.withResolvers<string>()
    const ended = Promise.withResolvers<undefined>()
    working.work([
      brokenHandler,
      run(async (ctx) => {
        const child = await ctx.spawn('side', broken, 'bad luck')
        spawned.resolve(child.id)
        await ended.promise
        await ctx.step('after', () => 1)
        return ctx.signal.aborted
          ? 'aborted'
          : await child.result().catch((error: unknown) => `continued after: ${String(error)}`)
      }),
    ])
    const execution = await working.until(working.client.submit(parent, null))
    const child = working.client.execution(await working.until(spawned.promise))
    expect((await working.until(child.wait())).outcome).toBe('failed')
    ended.resolve(undefined)

    expect(await working.until(execution.result())).toBe('continued after: ChildFailedError: bad luck')
  })

  test('waits for all, for any and for a quorum, and cancels losers on request', async () => {
    await using working = new Working(fabric)
    const aborted: string[] = []
    working.work([
      doubleHandler,
      brokenHandler,
      endlessHandler(aborted),
      run(async (ctx) => {
        const all = await ctx.all([1, 2, 3].map((n) => ctx.spawn(`n:${n}`, double, n)))
        const settled = await ctx.settled([ctx.spawn('ok', double, 4), ctx.spawn('not', broken, 'no')])
        const race = ['slow', 'slower'].map((name) => ctx.spawn(name, endless, name))
        const any = await ctx.any('race', [...race, ctx.spawn('fast', double, 5)], { losers: 'cancel' })
        const copies = [ctx.spawn('x', double, 6), ctx.spawn('y', broken, 'no'), ctx.spawn('z', double, 7)]
        const most = await ctx.quorum(2, copies)
        const failure = await ctx.any([ctx.spawn('p', broken, 'p'), ctx.spawn('q', broken, 'q')]).catch(String)
        return [all, settled.map(({ ok }) => ok), any, most.map(({ index }) => index).sort(), failure]
      }),
    ])
    const execution = await working.until(working.client.submit(parent, null))

    expect(await working.until(execution.result())).toEqual([
      [2, 4, 6],
      [true, false],
      { index: 2, name: 'fast', value: 10 },
      [0, 2],
      'ChildrenFailedError: 2 of 2 children failed.',
    ])
    await untilTrue(fabric, () => aborted.length === 2)
    expect(aborted.sort()).toEqual(['slow', 'slower'])
  })

  test('lets a failure through, and its retry starts the failed child anew', async () => {
    await using working = new Working(fabric)
    const ids = new Set<string>()
    const flaky = task<null, string>('flaky')
    working.work([
      doubleHandler,
      flaky.handle((_, ctx) => {
        ids.add(ctx.executionId)
        if (ids.size === 1) throw new Error('the first time')
        return 'the second time'
      }),
      run(async (ctx) => [await ctx.call('kept', double, 1), await ctx.call('flaky', flaky, null)]),
    ])
    const retry = { attempts: 2, backoff: { kind: 'fixed', delay: 10 }, jitter: false } as const
    const execution = await working.until(working.client.submit(parent, null, { retry }))

    expect(await working.until(execution.result())).toEqual([2, 'the second time'])
    expect(ids.size).toBe(2)
    expect(await execution.describe()).toMatchObject({ failureCount: 1 })
  })

  test('that lets a failure through fails with the name, task, id, code and message of the child', async () => {
    await using working = new Working(fabric)
    working.work([brokenHandler, run((ctx) => ctx.call('stock', broken, 'out of stock\nsince Monday'))])
    const execution = await working.until(working.client.submit(parent, null))
    await untilState(fabric, execution, 'failed')

    const [child] = (await working.until(working.client.list({ parent: execution.id }))).items
    const named = `Child 'stock' (task 'broken', ${child?.id ?? ''}) failed (permanent): out of stock`
    const { failure, attempts } = await execution.describe()
    expect(failure).toMatchObject({ category: 'permanent', message: `${named}\nsince Monday` })
    expect(attempts).toMatchObject([{ failure: { message: `${named}\nsince Monday` } }])
    expect((await execution.why()).text).toContain(`failed (permanent: ${named}).`)
  })

  test('has its children listed in the order of their start, by state and task, page by page', async () => {
    await using working = new Working(fabric)
    working.work([
      doubleHandler,
      brokenHandler,
      run(async (ctx) => {
        await ctx.step('a step between', () => null)
        const doubled = [1, 2, 3].map((n) => ctx.spawn(`double:${n}`, double, n))
        await ctx.settled([...doubled, ctx.spawn('broken', broken, 'no luck'), ctx.spawn('last', double, 4)])
      }),
    ])
    const execution = await working.until(working.client.submit(parent, null))
    await working.until(execution.result())
    const listed = async (options: ListOptions = {}) => {
      const { items, cursor } = await working.until(working.client.list({ parent: execution.id, ...options }))
      return { names: items.map((child) => child.parent?.name), cursor }
    }

    const all = ['double:1', 'double:2', 'double:3', 'broken', 'last']
    expect(await listed()).toEqual({ names: all, cursor: undefined })
    expect(await listed({ limit: 5 })).toEqual({ names: all, cursor: undefined })
    const first = await listed({ limit: 2 })
    const second = await listed({ limit: 2, cursor: first.cursor })
    const third = await listed({ limit: 2, cursor: second.cursor })
    expect([first.names, second.names, third]).toEqual([
      all.slice(0, 2),
      all.slice(2, 4),
      { names: ['last'], cursor: undefined },
    ])
    expect(await listed({ state: 'failed' })).toMatchObject({ names: ['broken'] })
    expect(await listed({ task: 'double', limit: 3 })).toMatchObject({ names: all.slice(0, 3) })
    expect(await listed({ createdTo: 0 })).toMatchObject({ names: [] })
    expect(await listed({ createdFrom: 2 ** 45 })).toMatchObject({ names: [] })
    await expect(working.until(working.client.list({ parent: 'no-such-key' }))).rejects.toMatchObject({
      code: 'execution_not_found',
    })
    await expect(listed({ cursor: 'l1.0.0-1' })).rejects.toMatchObject({ code: 'invalid_cursor' })
  })

  test('starts no child twice when its worker dies', async () => {
    await using working = new Working(fabric)
    const ids = new Set<string>()
    const counted = task<number, number>('counted')
    const countedHandler = counted.handle((n, ctx) => {
      ids.add(ctx.executionId)
      return n
    })
    const reached = Promise.withResolvers<undefined>()
    let isFirst = true
    const parentHandler = run(async (ctx) => {
      const children = await Promise.all([1, 2, 3].map((n) => ctx.spawn(`c:${n}`, counted, n)))
      if (isFirst) {
        isFirst = false
        reached.resolve(undefined)
        await new Promise(() => undefined)
      }
      return await ctx.all(children)
    })
    const first = working.work([parentHandler], { leaseTtl: '1s' })
    const execution = await working.until(working.client.submit(parent, null))
    await working.until(reached.promise)
    first.crash()
    working.work([parentHandler, countedHandler])

    expect(await working.until(execution.result())).toEqual([1, 2, 3])
    expect(ids.size).toBe(3)
  })

  test('that is replayed keeps completed children, and starts failed ones anew', async () => {
    await using working = new Working(fabric)
    const runs: string[] = []
    const part = task<string, string>('part')
    working.work([
      part.handle((name) => {
        runs.push(name)
        if (name === 'bad' && runs.filter((each) => each === 'bad').length === 1) throw new PermanentError('once')
        return name
      }),
      run(async (ctx) => await ctx.all([ctx.spawn('good', part, 'good'), ctx.spawn('bad', part, 'bad')])),
    ])
    const execution = await working.until(working.client.submit(parent, null))
    expect((await working.until(execution.wait())).outcome).toBe('failed')
    await untilTrue(fabric, () => runs.includes('good'))

    await working.until(execution.replay())

    expect(await working.until(execution.result())).toEqual(['good', 'bad'])
    expect(runs.sort()).toEqual(['bad', 'bad', 'good'])
  })

  test('waits for hundreds of children', async () => {
    await using working = new Working(fabric)
    const count = 300
    working.work([
      doubleHandler,
      run(async (ctx) => {
        const children = Array.from({ length: count }, (_, n) => ctx.spawn(`n:${n}`, double, n))
        const results = await ctx.all(children)
        return results.reduce((sum, n) => sum + n, 0)
      }),
    ])
    const execution = await working.until(working.client.submit(parent, null))

    expect(await working.until(execution.result())).toBe(count * (count - 1))
  })
})

conforms('a handler that waits in several places at once', ({ fabric }) => {
  const numbers = (count: number) => Array.from({ length: count }, (_, n) => n)
  const list = (ctx: TaskContext, name: string, count: number) => {
    const children = numbers(count).map((n) => ctx.spawn(`${name}:${n}`, double, n))
    return ctx.all(name, children)
  }

  test.each([2, 3, 90])('gets the results of %i calls', async (count) => {
    await using working = new Working(fabric)
    const ids = new Set<string>()
    working.work([
      double.handle((n, ctx) => {
        ids.add(ctx.executionId)
        return 2 * n
      }),
      run(async (ctx) => await Promise.all(numbers(count).map((n) => ctx.call(`n:${n}`, double, n)))),
    ])
    const execution = await working.until(working.client.submit(parent, null))

    expect(await working.until(execution.result())).toEqual(numbers(count).map((n) => 2 * n))
    expect(ids.size).toBe(count)
  })

  test('gets those of lists, beside steps before and after them', async () => {
    await using working = new Working(fabric)
    working.work([
      doubleHandler,
      run(async (ctx) => {
        const late = list(ctx, 'late', 1).then(([n]) => ctx.step('after', () => n))
        const [a, b, n] = await Promise.all([list(ctx, 'a', 2), list(ctx, 'b', 2), late])
        const again = await Promise.all([list(ctx, 'c', 2), ctx.step('beside', () => 'step'), list(ctx, 'd', 2)])
        return [a, b, n, again]
      }),
    ])
    const execution = await working.until(working.client.submit(parent, null))

    expect(await working.until(execution.result())).toEqual([[0, 2], [0, 2], 0, [[0, 2], 'step', [0, 2]]])
  })

  test.each(['at once', 'after a start'] as const)('sleeps %s, beside a list of 90 children', async (when) => {
    await using working = new Working(fabric)
    working.work([
      doubleHandler,
      run(async (ctx) => {
        const nap = async () => {
          if (when === 'after a start') await ctx.spawn('first', double, 0)
          await ctx.sleep('nap', '1s')
        }
        const [results] = await Promise.all([list(ctx, 'all', 90), nap()])
        return results.length
      }),
    ])
    const execution = await working.until(working.client.submit(parent, null))
    await untilState(fabric, execution, 'completed')

    expect(await working.until(execution.result())).toBe(90)
  })
})

conforms('a cancel of a handler with children', ({ fabric }) => {
  test('reaches its children, theirs, and those that have not started, but no detached one', async () => {
    await using working = new Working(fabric)
    const aborted: string[] = []
    const begun = counting(3)
    const middle = task<null, string>('middle')
    const ids: Record<string, string> = {}
    working.work([
      endlessHandler(aborted, begun.note),
      middle.handle(async (_, ctx) => await ctx.call('inner', endless, 'inner')),
      run(async (ctx) => {
        const free = await ctx.spawn('free', endless, 'free', { detached: true })
        const later = await ctx.spawn('later', endless, 'later', { delay: '1d' })
        Object.assign(ids, { free: free.id, later: later.id })
        return await ctx.all([ctx.spawn('outer', endless, 'outer'), ctx.spawn('middle', middle, null)])
      }),
    ])
    const execution = await working.until(working.client.submit(parent, null))
    await working.until(begun.reached)
    await untilState(fabric, execution, 'suspended')

    await working.until(execution.cancel('not needed'))

    await expect(working.until(execution.result())).rejects.toMatchObject({ outcome: 'cancelled' })
    await untilTrue(fabric, () => aborted.length === 2)
    expect(aborted.sort()).toEqual(['inner', 'outer'])
    await untilState(fabric, working.client.execution(ids.later ?? ''), 'cancelled')
    expect(await working.client.execution(ids.free ?? '').state()).toBe('active')
    await working.until(working.client.cancel(ids.free ?? '', 'the test is over', { force: true }))
  })

  test('lets it undo the children that have completed, with other children', async () => {
    await using working = new Working(fabric)
    const done: string[] = []
    const reasons = new Set<string>()
    const act = task<string, string>('act')
    working.work([
      act.handle((what) => {
        done.push(what)
        return what
      }),
      endlessHandler([]),
      run(async (ctx) => {
        const booking = await ctx.call('book', act, 'book')
        try {
          return await ctx.call('wait', endless, 'wait')
        } catch (error) {
          // The handler runs again after it has waited for the child that undoes.
          reasons.add(error instanceof ExecutionCancelledError ? error.outcome : String(error))
          return await ctx.call('undo', act, `undo ${booking}`)
        }
      }),
    ])
    const execution = await working.until(working.client.submit(parent, null))
    await untilTrue(fabric, () => done.length > 0)
    await untilState(fabric, execution, 'suspended')

    await working.until(execution.cancel('it rains'))

    await expect(working.until(execution.result())).rejects.toMatchObject({ outcome: 'cancelled' })
    expect(done).toEqual(['book', 'undo book'])
    expect([...reasons]).toEqual(['cancelled'])
  })

  test('by its deadline lets the next run of its id begin once the children are cancelled', async () => {
    await using working = new Working(fabric)
    const aborted: string[] = []
    const begun = counting(1)
    const keyed = task<string>('keyed')
    working.work([
      endlessHandler(aborted, begun.note),
      keyed.handle(async (which, ctx) => (which === 'first' ? await ctx.call('child', endless, 'child') : which)),
    ])
    const timeout = { total: '6s' } as const
    const execution = await working.until(working.client.submit(keyed, 'first', { id: 'one', timeout }))
    await working.until(begun.reached)
    await untilState(fabric, execution, 'suspended')
    await working.until(working.client.submit(keyed, 'next', { id: 'one', ifExists: 'after' }))

    await untilState(fabric, execution, 'completed')

    expect((await working.until(execution.describe())).result).toBe('next')
    await untilTrue(fabric, () => aborted.length === 1)
  })

  test('does not follow from its own end: children of a parent that failed run on', async () => {
    await using working = new Working(fabric)
    const waiting = task<null, string>('waiting')
    let childId = ''
    working.work([
      waiting.handle(async (_, ctx) => {
        const go = await ctx.waitFor('go', signal('go'))
        return go.ok ? 'continued' : 'stopped'
      }),
      run(async (ctx) => {
        childId = (await ctx.spawn('child', waiting, null)).id
        throw new PermanentError('broken')
      }),
    ])
    const execution = await working.until(working.client.submit(parent, null))
    expect((await working.until(execution.wait())).outcome).toBe('failed')

    const child = working.client.execution(childId, waiting)
    await working.until(child.signal('go', true))

    expect(await working.until(child.result())).toBe('continued')
  })
})

conforms('the settings of a child', ({ fabric }) => {
  test('are those of its task and its start, and tags are inherited where its task declares them', async () => {
    await using working = new Working(fabric)
    const tenantTask = task<null, Record<string, string>>('tenanted', { inheritTags: ['team', 'plan'], priority: 3 })
    working.work([
      tenantTask.handle((_, ctx) => ({ ...ctx.tags, lane: ctx.lane })),
      run(async (ctx) => [
        await ctx.call('inherits', tenantTask, null),
        await ctx.call('overrides', tenantTask, null, { tags: { team: 'blue', own: 'x' }, lane: 'default' }),
      ]),
    ])
    const tags = { team: 'red', room: 'a' }
    const execution = await working.until(working.client.submit(parent, null, { tags }))

    expect(await working.until(execution.result())).toEqual([
      { team: 'red', lane: 'default' },
      { team: 'blue', own: 'x', lane: 'default' },
    ])
  })
})
