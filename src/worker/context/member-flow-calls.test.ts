import { expect, expectTypeOf, test } from 'vitest'
import { ExecutionCancelledError, allOf, flow, task } from '../../client/index.ts'
import type { FlowNode, TaskContext } from '../../client/index.ts'
import { createWorld } from '../worker.fixture.ts'

const parent = task<number, number>('parent')
const child = task<number, number>('child')
const childHandler = child.handle((number) => number * 10)

/** A flow whose one node adds the rest. */
const growing = flow('growing', (f, count: number) => f.node('parent', parent, { input: count }))

/** Adds a number of children, and sums their results. */
const parentHandler = parent.handle(async (count, { flow: own }) => {
  const numbers = Array.from({ length: count }, (_, i) => i)
  await Promise.all(numbers.map((number) => own.add(`child${number}`, child, number)))
  const answers = await own.wait()
  return Object.values(answers).reduce((sum: number, answer) => sum + (answer as number), 0)
})

test('a handler adds members to its flow, waits for them without a slot, and runs again with their results', async () => {
  await using world = createWorld()
  const attempts: number[] = []
  const worker = world.work([parentHandler, childHandler], {
    concurrency: 1,
    middleware: [
      (context, next) => {
        if (context.task === 'parent') attempts.push(context.attempt)
        return next()
      },
    ],
  })

  const handle = await world.fabric.submit(growing, 4)

  expect(await handle.result()).toBe(60)
  expect(attempts).toEqual([1, 1])
  expect(worker.stats()).toMatchObject({ running: 0, settled: { parked: 1, completed: 5, lost: 0 } })
  expect(await handle.describe()).toMatchObject({ state: 'completed', memberCount: 5, edgeCount: 4 })
})

test('a parked execution has no lease and waits for its children', async () => {
  await using world = createWorld()
  const worker = world.work([parentHandler], { leaseTtl: '1s' })
  const handle = await world.fabric.submit(growing, 1)
  await world.settle()

  await world.advance(10_000)

  expect(await handle.member('parent').describe()).toMatchObject({ state: 'waiting_dependencies', reclaimCount: 0 })
  expect(world.store.callsOf('renewLease')).toEqual([])
  expect(await worker.close()).toEqual({ finished: 0, released: 0, abandoned: 0 })
  expect(world.lines).toEqual([expect.objectContaining({ level: 'info' })])
})

test('a wait for what has completed already returns at once, with its results', async () => {
  await using world = createWorld()
  let runs = 0
  const patient = parent.handle(async (_, { flow: own }) => {
    runs += 1
    const { id } = await own.add('child', child, 7)
    await world.elsewhere.execution(id).wait()
    return (await own.wait())['child'] as number
  })
  world.work([patient, childHandler])

  const handle = await world.fabric.submit(growing, 0)

  expect([await handle.result(), runs]).toEqual([70, 1])
})

test('a wait with nothing to wait for returns at once', async () => {
  await using world = createWorld()
  const worker = world.work([parentHandler])

  const handle = await world.fabric.submit(growing, 0)

  expect(await handle.result()).toBe(0)
  expect(worker.stats().settled.parked).toBe(0)
})

test('results come back under the name that was asked for, or not at all', async () => {
  await using world = createWorld()
  const naming = parent.handle(async (_, { flow: own }) => {
    await own.add('a', child, 1, { as: 'first' })
    await own.add('b', child, 2, { as: false })
    return Object.entries(await own.wait()).reduce((sum, [name, value]) => sum + name.length * (value as number), 0)
  })
  world.work([naming, childHandler])

  expect(await (await world.fabric.submit(growing, 0)).result()).toBe('first'.length * 10)
})

test('members can be added behind others, and get their results', async () => {
  await using world = createWorld()
  const second = task<number, number, { first: number }>('second')
  const stepping = parent.handle(async (_, { flow: own }) => {
    const first = await own.add('first', child, 4)
    await own.add('second', second, 2, { after: allOf(first) })
    return (await own.wait())['second'] as number
  })
  world.work([stepping, childHandler, second.handle((number, { inputs }) => number + inputs.first)])

  expect(await (await world.fabric.submit(growing, 0)).result()).toBe(42)
})

test('a member that is not awaited does not keep the handler, but the flow ends with it', async () => {
  await using world = createWorld()
  const careless = parent.handle(async (_, { flow: own }) => {
    await own.add('child', child, 1, { awaited: false, delay: '1m' })
    return Object.keys(await own.wait()).length
  })
  world.work([careless, childHandler])
  const handle = await world.fabric.submit(growing, 0)
  await world.settle()

  expect(await handle.member('parent').describe()).toMatchObject({ state: 'completed', result: 0 })
  expect((await handle.describe()).outcome).toBeUndefined()
  await world.advance(61_000)
  expect((await handle.describe()).outcome).toBe('completed')
})

test('a handler can wait for a member that is there already, by its name', async () => {
  await using world = createWorld()
  const beside = flow('beside', (f) => {
    f.node('other', child, { input: 5 })
    return f.node('parent', parent, { input: 0 })
  })
  const depending = parent.handle(async (_, { flow: own }) => {
    await own.dependsOn('other')
    return (await own.wait())['other'] as number
  })
  world.work([depending, childHandler])

  expect(await (await world.fabric.submit(beside, undefined)).result()).toBe(50)
})

test('two handlers that add the same member both wait for it', async () => {
  await using world = createWorld()
  const twins = flow('twins', (f) => ({
    a: f.node('a', parent, { input: 1 }),
    b: f.node('b', parent, { input: 2 }),
  }))
  let runs = 0
  const sharing = parent.handle(async (number, { flow: own }) => {
    await own.add('shared', child, 3)
    return ((await own.wait())['shared'] as number) + number
  })
  world.work([sharing, child.handle((number) => (++runs, number * 10))])

  expect(await (await world.fabric.submit(twins, undefined)).result()).toEqual({ a: 31, b: 32 })
  expect(runs).toBe(1)
})

test.each([
  ['while it waits', false],
  ['before it waits', true],
])('if a child fails %s, the execution is skipped and its handler does not continue', async (_, isSlow) => {
  await using world = createWorld()
  const seen: string[] = []
  const doomed = parent.handle(async (__, { flow: own, onPark }) => {
    onPark(() => void seen.push('cleaned up'))
    const { id } = await own.add('child', child, 1)
    if (isSlow) await world.elsewhere.execution(id).wait()
    await own.wait()
    seen.push('continued')
    return 0
  })
  const worker = world.work([doomed, child.handle(() => Promise.reject(new Error('no')))])

  const handle = await world.fabric.submit(growing, 0)
  await handle.wait()

  expect(await handle.member('parent').describe()).toMatchObject({ state: 'skipped', reason: 'dependency_impossible' })
  expect(seen).toEqual(['cleaned up'])
  expect(worker.stats()).toMatchObject({ running: 0, settled: { failed: 1, lost: 0 } })
})

test('adding to what can no longer be waited for ends the run as a wait does', async () => {
  await using world = createWorld()
  const late = parent.handle(async (_, { flow: own }) => {
    const { id } = await own.add('first', child, 1)
    await world.elsewhere.execution(id).wait()
    await own.add('second', child, 2)
    return 0
  })
  const worker = world.work([late, child.handle(() => Promise.reject(new Error('no')))])

  const handle = await world.fabric.submit(growing, 0)
  await handle.wait()

  expect((await handle.member('parent').describe()).state).toBe('skipped')
  expect(worker.stats().settled).toMatchObject({ skipped: 1, failed: 1 })
})

test('a parked run is notified, cleans up in reverse order, and never ends', async () => {
  await using world = createWorld()
  const seen: string[] = []
  const tidy = parent.handle(async (_, { flow: own, signal, onPark, inputs }) => {
    if ('child' in inputs) return 1
    signal.addEventListener('abort', () => seen.push((signal.reason as { code: string }).code))
    onPark(() => void seen.push('first opened'))
    onPark(() => Promise.reject(new Error('the file is gone')))
    onPark(async () => {
      await Promise.resolve()
      seen.push('last opened')
    })
    try {
      await own.add('child', child, 1)
      await own.wait()
    } finally {
      seen.push('finally')
    }
    return 0
  })
  world.work([tidy, childHandler])

  expect(await (await world.fabric.submit(growing, 0)).result()).toBe(1)
  expect(seen).toEqual(['execution_parked', 'last opened', 'first opened'])
  expect(world.linesOf('warn')).toMatchObject([{ message: 'onPark callback failed; continuing with the next one' }])
})

test('what stands around a handler can clean up at parking too', async () => {
  await using world = createWorld()
  const spans: string[] = []
  world.work([parentHandler, childHandler], {
    concurrency: 1,
    middleware: [
      async (context, next) => {
        context.onPark(() => void spans.push(`${context.task} parked`))
        const value = await next()
        spans.push(`${context.task} ended`)
        return value
      },
    ],
  })

  await (await world.fabric.submit(growing, 1)).result()

  expect(spans).toEqual(['parent parked', 'child ended', 'parent ended'])
})

test('calls of a parked run are neither recorded nor settled', async () => {
  await using world = createWorld()
  const contexts: TaskContext[] = []
  const keeping = parent.handle(async (_, context) => {
    contexts.push(context)
    await context.flow.add('child', child, 1, { delay: '1h' })
    await context.flow.wait()
    return 0
  })
  world.work([keeping, childHandler])
  const handle = await world.fabric.submit(growing, 0)
  await world.settle()

  await expect(contexts[0]?.progress(50)).rejects.toMatchObject({ code: 'execution_parked' })
  const answers: string[] = []
  void contexts[0]?.flow.add('late', child, 2).then(() => answers.push('added'))
  void contexts[0]?.flow.wait().then(() => answers.push('waited'))
  await world.settle()

  expect(answers).toEqual([])
  expect(await handle.describe()).toMatchObject({ memberCount: 2 })
})

test.each(['addExecutionToFlow', 'waitForChildren', 'addDependency'] as const)(
  'a lost reply to %s changes nothing',
  async (operation) => {
    await using world = createWorld()
    let isLost = false
    world.store.plan = (call) => {
      if (call.operation !== operation || isLost) return undefined
      isLost = true
      return 'after'
    }
    const adding = parent.handle(async (_, { flow: own }) => {
      await own.add('a', child, 1)
      await own.add('b', child, 2, { as: false })
      return (await own.wait())['a'] as number
    })
    world.work([adding, childHandler])

    const handle = await world.fabric.submit(growing, 0)
    await world.advance(10_000)

    expect(await handle.result()).toBe(10)
    expect(isLost).toBe(true)
    expect(await handle.describe()).toMatchObject({ memberCount: 3, edgeCount: 2 })
  },
)

test('a handler that runs again asks the store for nothing that it was given', async () => {
  await using world = createWorld()
  world.work([parentHandler, childHandler])

  const handle = await world.fabric.submit(growing, 100)

  expect(await handle.result()).toBe(49_500)
  expect(world.store.callsOf('addExecutionToFlow')).toHaveLength(100)
  expect(world.store.callsOf('addDependency')).toHaveLength(0)
  expect(world.store.callsOf('waitForChildren')).toHaveLength(2)
})

test('a handler that is interrupted between adding and waiting meets what it has added', async () => {
  await using world = createWorld()
  let runs = 0
  const interrupted = parent.handle(async (_, { flow: own, attempt }) => {
    runs += 1
    await own.add('child', child, 1, { delay: '1m' })
    if (attempt === 1) throw new Error('interrupted')
    return (await own.wait())['child'] as number
  })
  world.work([interrupted, childHandler])
  const again = flow('again', (f) => f.node('parent', parent, { input: 0, retry: { attempts: 2 } }))

  const handle = await world.fabric.submit(again, undefined)
  await world.advance(120_000)

  expect([await handle.result(), runs]).toEqual([10, 3])
  expect(await handle.describe()).toMatchObject({ memberCount: 2, edgeCount: 1 })
})

test('what a handler adds without waiting for the answer is added before the execution ends', async () => {
  await using world = createWorld()
  const hasty = parent.handle((_, { flow: own }) => {
    void own.add('child', child, 1, { awaited: false })
    return 1
  })
  world.work([hasty, childHandler])

  const handle = await world.fabric.submit(growing, 0)

  expect(await handle.wait()).toMatchObject({ outcome: 'completed', memberCount: 2 })
})

test('a handler that has lost its lease adds nothing and waits for nothing', async () => {
  await using world = createWorld()
  const gate = Promise.withResolvers<undefined>()
  const errors: unknown[] = []
  const robbed = parent.handle(async (_, { flow: own }) => {
    await gate.promise
    await own.add('child', child, 1).catch((error: unknown) => errors.push(error))
    await own.wait().catch((error: unknown) => errors.push(error))
    return 0
  })
  const worker = world.work([robbed])
  const handle = await world.fabric.submit(growing, 0)
  await world.settle()
  world.store.isMute = true
  await world.elsewhere.revokeLease(handle.member('parent').id, 'taken away')

  gate.resolve(undefined)
  await world.settle()

  expect(errors).toMatchObject([{ name: 'LeaseLostError' }, { name: 'LeaseLostError' }])
  expect(worker.stats().settled).toMatchObject({ left: 1 })
})

test('a cancel request ends an execution that waits', async () => {
  await using world = createWorld()
  world.store.isMute = true
  const gate = Promise.withResolvers<undefined>()
  const wished = parent.handle(async (_, { flow: own }) => {
    await own.add('child', child, 1, { delay: '1h' })
    await gate.promise
    await own.wait()
    return 0
  })
  const worker = world.work([wished], { sweep: '100ms' })
  const handle = await world.fabric.submit(growing, 0)
  await world.advance(200)
  await handle.member('parent').cancel('not needed')

  gate.resolve(undefined)
  await world.settle()

  expect((await handle.member('parent').describe()).state).toBe('cancelled')
  expect(worker.stats().settled).toMatchObject({ cancelled: 1, parked: 0 })
})

test('a closing worker lets its handlers park', async () => {
  await using world = createWorld()
  const gate = Promise.withResolvers<undefined>()
  const slow = parent.handle(async (_, { flow: own }) => {
    await own.add('child', child, 1, { delay: '1h' })
    await gate.promise
    await own.wait()
    return 0
  })
  const worker = world.work([slow])
  await world.fabric.submit(growing, 0)
  await world.settle()

  const closed = worker.close()
  gate.resolve(undefined)

  expect(await closed).toEqual({ finished: 1, released: 0, abandoned: 0 })
})

test('ctx.flow of an execution without a flow throws an error with advice', async () => {
  await using world = createWorld()
  const errors: unknown[] = []
  const alone = parent.handle(async (_, { flow: own }) => {
    await own.add('child', child, 1).catch((error: unknown) => errors.push(error))
    await own.dependsOn('child').catch((error: unknown) => errors.push(error))
    await own.wait().catch((error: unknown) => errors.push(error))
    return 0
  })
  world.work([alone])

  await (await world.fabric.submit(parent, 0)).result()

  expect(errors).toHaveLength(3)
  for (const error of errors) {
    expect(error).toMatchObject({
      code: 'execution_not_in_flow',
      message: expect.stringContaining('not a member of a flow') as string,
    })
  }
})

test('a lone chain costs one trip to the store for each of its links', async () => {
  await using world = createWorld()
  const length = 10
  const chain = flow('chain', (f) => {
    let last: FlowNode<number> = f.node('link0', child, { input: 0 })
    for (let i = 1; i < length; i++) last = f.node(`link${i}`, child, { after: allOf(last), input: i })
  })
  world.work([childHandler], { sweep: '1h' })
  await world.settle()
  const before = world.store.tripCount

  const handle = await world.fabric.submit(chain, undefined)
  await world.settle()

  const trips = world.store.tripCount - before
  expect(await handle.describe()).toMatchObject({ outcome: 'completed' })
  // The submit carries the claim of the first link; the last completion carries none.
  expect(trips).toBe(length + 1)
})

test('what a handler adds has to fit the task that it is added with', () => {
  const wants = task<string, number, { first: number }>('wants')
  const handler = parent.handle(async (_, { flow: own }) => {
    const first = await own.add('first', child, 1)
    const other = await own.add('other', task<number, string>('other'), 1)
    // @ts-expect-error -- the input is a number
    await own.add('text', child, 'one')
    // @ts-expect-error -- it wants an input, so it has to wait for something
    await own.add('alone', wants, 'x')
    await own.add('fits', wants, 'x', { after: allOf(first) })
    // @ts-expect-error -- a text is handed on where a number is wanted
    await own.add('misfit', wants, 'x', { after: allOf({ first: other }) })
    return 0
  })

  expectTypeOf(handler.task.name).toEqualTypeOf<string>()
})

test('a cancel reaches a handler that is parked in ctx.flow.wait, and it may undo its steps', async () => {
  await using world = createWorld()
  const done: string[] = []
  const undoing = parent.handle(async (_, context) => {
    await context.step('book', () => void done.push('book'))
    await context.flow.add('child', child, 1)
    try {
      await context.flow.wait()
    } catch (error) {
      if (!(error instanceof ExecutionCancelledError)) throw error
      await context.step('unbook', () => void done.push('unbook'))
    }
    return 0
  })
  world.work([undoing])
  const handle = await world.fabric.submit(growing, 1)
  await world.settle()
  const member = handle.member('parent')
  expect(await member.describe()).toMatchObject({ state: 'waiting_dependencies' })

  await world.fabric.cancel((await member.describe()).id, 'it rains')
  await world.settle()

  expect(done).toEqual(['book', 'unbook'])
  expect(await member.describe()).toMatchObject({ state: 'cancelled', reason: 'it rains' })
})
