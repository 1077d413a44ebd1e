import { expect, expectTypeOf, test } from 'vitest'
import { approval, flow, signal, task, when } from '../../client/index.ts'
import { KeyRing } from '../../client/tokens/key-ring.ts'
import type { SignalAnswer, TaskContext } from '../../client/index.ts'
import type { Runtime } from '../../runtime/index.ts'
import { Fabric } from '../../fabric/fabric.ts'
import { startWorker } from '../worker.ts'
import { createWorld } from '../worker.fixture.ts'
import type { World } from '../worker.fixture.ts'

const waiting = task<null>('waiting')

/** Starts a handler and an engine, and runs everything that needs no time to pass. */
async function begin(world: World, run: (context: TaskContext) => Promise<unknown>) {
  world.fabric.engine()
  const worker = world.work([waiting.handle((_, context) => run(context))], { leaseTtl: '5s' })
  const handle = await world.fabric.submit(waiting, null)
  await world.settle()
  return { worker, handle }
}

test('a handler waits for a signal without a worker and receives its sender', async () => {
  await using world = createWorld()
  const { worker, handle } = await begin(world, async (context) => {
    const paid = await context.waitFor('payment', signal<number>('paid'))
    expectTypeOf(paid).toEqualTypeOf<SignalAnswer<number>>()
    return paid
  })

  expect(await world.stateOf(handle.id)).toBe('suspended')
  expect(worker.stats()).toMatchObject({ running: 0, settled: { parked: 1 } })
  await world.advance(60_000)
  await world.fabric.signal(handle.id, 'paid', 42, { by: 'bank' })

  expect(await handle.result()).toMatchObject({ ok: true, value: 42, name: 'paid', by: { identity: 'bank' } })
  expect(worker.stats()).toMatchObject({ settled: { parked: 1, completed: 1, lost: 0 } })
  expect(world.linesOf('warn')).toEqual([])
})

test('a wait takes its name from its signal or its waitpoint', async () => {
  await using world = createWorld()
  const { handle } = await begin(world, async (context) => {
    const paid = await context.waitFor(signal<number>('paid'))
    expectTypeOf(paid).toEqualTypeOf<SignalAnswer<number>>()
    const gate = await context.waitpoint('gate')
    await context.waitFor(gate)
    await context.waitFor(approval({ on: await context.waitpoint('links') }))
    await context.waitFor(signal('paid'))
    return paid.ok && paid.value
  })
  await world.fabric.signal(handle.id, 'paid', 1)
  await world.settle()
  await handle.signal('open', undefined, { waitpoint: 'gate' })
  await world.settle()
  await handle.signal('approve', undefined, { waitpoint: 'links', by: 'ada' })
  await world.settle()
  await handle.signal('paid', 2)

  expect(await handle.result()).toBe(1)
  const waits: string[] = []
  for await (const { kind, name } of world.fabric.steps(handle.id)) if (kind === 'wait') waits.push(name)
  expect(waits).toEqual(['paid', 'gate', 'links', 'paid#2'])
})

test('a wait without a name of its own is refused with what to write', async () => {
  await using world = createWorld()
  const { handle } = await begin(world, async (context) => {
    // @ts-expect-error -- an approval that opens its waitpoint is named by the handler
    await context.waitFor(approval({ need: 2 }))
  })

  await expect(handle.result()).rejects.toThrow(
    "This wait has no name of its own: pass one first, such as ctx.waitFor('review'",
  )
})

test('a signal that came early answers at once, and the handler keeps its worker', async () => {
  await using world = createWorld()
  const { worker, handle } = await begin(world, async (context) => {
    await context.step('before', async () => {
      await world.elsewhere.signal(context.executionId, 'paid', 1)
      await world.elsewhere.signal(context.executionId, 'paid', 2)
    })
    const first = await context.waitFor('payment', signal('paid'))
    const second = await context.waitFor('payment', signal('paid'))
    return [first.ok && first.value, second.ok && second.value]
  })

  expect(await handle.result()).toEqual([1, 2])
  expect(worker.stats().settled.parked).toBe(0)
})

test('what a wait has no use for stays in its mailbox for the next', async () => {
  await using world = createWorld()
  const { handle } = await begin(world, async (context) => {
    const bank = await context.waitFor('bank', signal('paid', { from: ['bank'] }))
    const unfiltered = await context.waitFor('unfiltered', signal('paid'))
    return [bank.ok && bank.value, unfiltered.ok && unfiltered.value]
  })
  const { effect } = await world.fabric.signal(handle.id, 'paid', 1, { by: 'shop' })
  await world.fabric.signal(handle.id, 'paid', 2, { by: 'bank' })

  expect([effect, await handle.result()]).toEqual(['buffered', [2, 1]])
})

test('a wait that times out returns that it did', async () => {
  await using world = createWorld()
  const { handle } = await begin(world, (context) => context.waitFor('payment', signal('paid', { timeout: '10s' })))
  await world.advance(11_000)

  expect(await handle.result()).toMatchObject({ ok: false, reason: 'timed_out' })
})

test.for([
  ['fail', 'failed'],
  ['cancel', 'cancelled'],
  ['expire', 'expired'],
] as const)('a wait whose time is up can %s its execution', async ([onTimeout, state]) => {
  await using world = createWorld()
  let runs = 0
  const { handle } = await begin(world, async (context) => {
    runs += 1
    await context.waitFor('payment', signal('paid', { timeout: '10s', onTimeout }))
  })
  await world.advance(11_000)

  expect([await world.stateOf(handle.id), runs]).toEqual([state, 1])
})

test('a wait that an operator ends returns the operator', async () => {
  await using world = createWorld()
  const { handle } = await begin(world, (context) => context.waitFor('payment', signal('paid')))
  await world.fabric.resume(handle.id, { by: 'ada', reason: 'paid in cash' })

  expect(await handle.result()).toMatchObject({
    ok: false,
    reason: 'resumed',
    by: { type: 'operator', identity: 'ada' },
    note: 'paid in cash',
  })
})

test('a sleep can be ended by an operator, too', async () => {
  await using world = createWorld()
  const { handle } = await begin(world, async (context) => {
    await context.sleep('rest', '1d')
    return 'awake'
  })
  await world.fabric.resume(handle.id, { by: 'ada' })

  expect(await handle.result()).toBe('awake')
})

test('an approval counts votes that arrive while no worker runs', async () => {
  await using world = createWorld()
  const { handle } = await begin(world, (context) => context.waitFor('release', approval({ need: 2 })))
  for (const by of ['ada', 'ada', 'bob'])
    await world.fabric.signal(handle.id, 'approve', undefined, { waitpoint: 'release', by })

  expect(await handle.result()).toMatchObject({
    ok: true,
    votes: [{ by: { identity: 'ada' } }, { by: { identity: 'bob' } }],
  })
})

test('a wait that many signals meet is given all that counted, in their order', async () => {
  await using world = createWorld()
  const { handle } = await begin(world, async (context) => {
    const many = await context.waitFor('many', when.count(100, [signal('vote')], { by: 'signals' }))
    return many.signals.map(({ value }) => value)
  })
  const numbers = Array.from({ length: 100 }, (_, i) => i)
  for (const number of numbers) await world.fabric.signal(handle.id, 'vote', number)

  expect(await handle.result()).toEqual(numbers)
})

test('waits side by side come one after the other', async () => {
  await using world = createWorld()
  let runs = 0
  const { handle } = await begin(world, async (context) => {
    runs += 1
    const answers = await Promise.all([
      context.waitFor('a', signal('a')),
      context.waitFor('b', signal('b')),
      context.sleep('rest', '1s').then(() => ({ ok: true, value: 'rested' }) as const),
    ])
    return answers.map((answer) => answer.ok && answer.value)
  })
  await world.fabric.signal(handle.id, 'b', 2)
  await world.fabric.signal(handle.id, 'a', 1)
  await world.advance(2_000)

  expect(await handle.result()).toEqual([1, 2, 'rested'])
  expect(runs).toBe(3)
})

test('a wait that is not awaited does not keep its execution from ending', async () => {
  await using world = createWorld()
  const { handle } = await begin(world, async (context) => {
    void context.sleep('rest', '1h')
    return await Promise.resolve('ended')
  })

  expect(await handle.result()).toBe('ended')
})

test('a waitpoint can be answered by its key before and after the handler comes to wait for it', async () => {
  await using world = createWorld()
  const { handle } = await begin(world, async (context) => {
    const early = await context.waitpoint('early')
    await context.step('tell', async () => {
      await world.elsewhere.signal(context.executionId, 'done', 1, { waitpoint: early.key, by: 'shop' })
    })
    const late = await context.waitpoint('late')
    const first = await context.waitFor('first', early)
    const second = await context.waitFor('second', late)
    return [first.ok && first.value, second.ok && second.value, early.isOpen, late.isOpen]
  })
  await world.fabric.signal(handle.id, 'done', 2, { waitpoint: 'late', by: 'shop' })

  expect(await handle.result()).toEqual([1, 2, false, false])
})

test('a waitpoint that expires while its handler waits is no answer', async () => {
  await using world = createWorld()
  const { handle } = await begin(world, async (context) => {
    const callback = await context.waitpoint('callback', { expires: '30s' })
    await context.sleep('rest', '10s')
    return await context.waitFor('answer', callback)
  })
  await world.advance(15_000)
  expect(await world.stateOf(handle.id)).toBe('suspended')
  await world.advance(20_000)

  expect(await handle.result()).toMatchObject({ ok: false, reason: 'timed_out' })
})

test('a waitpoint expires by the clock of the store, whatever the clock of the worker', async () => {
  await using world = createWorld()
  const { runtime, store } = world
  const ahead: Runtime = { ...runtime, now: () => runtime.now() + 7_200_000 }
  await using fabric = new Fabric(store, ahead, { log: world.fabric.log })
  world.fabric.engine()
  const handler = waiting.handle(async (_, context) => {
    const callback = await context.waitpoint('callback', { expires: '1h' })
    return await context.waitFor('answer', callback)
  })
  const worker = startWorker(fabric, [handler], { log: fabric.log })
  const handle = await world.fabric.submit(waiting, null)
  await world.advance(3_599_000)
  expect(await world.stateOf(handle.id)).toBe('suspended')
  await world.advance(2_000)

  expect(await handle.result()).toMatchObject({ ok: false, reason: 'timed_out' })
  worker.crash()
})

test('a waitpoint that expired before its handler came to wait is no answer either, and what came in time is one', async () => {
  await using world = createWorld()
  const { handle } = await begin(world, async (context) => {
    const answered = await context.waitpoint('answered', { expires: '5s' })
    const unanswered = await context.waitpoint('unanswered', { expires: '5s' })
    await context.step('send', async () => {
      await world.elsewhere.signal(context.executionId, 'done', 1, { waitpoint: answered.key, by: 'shop' })
    })
    await context.sleep('rest', '10s')
    return [await context.waitFor('first', answered), await context.waitFor('second', unanswered)]
  })
  await world.advance(11_000)

  expect(await handle.result()).toMatchObject([
    { ok: true, value: 1 },
    { ok: false, reason: 'timed_out' },
  ])
})

test('a waitpoint that was not opened cannot be waited for', async () => {
  await using world = createWorld()
  const { handle } = await begin(world, (context) => context.waitFor('go', when.every([{ key: 'nowhere' }])))

  expect(await handle.describe()).toMatchObject({ state: 'failed', failure: { category: 'permanent' } })
})

test('a token of a waitpoint signals it under the identity that the token was issued for', async () => {
  await using world = createWorld(1, KeyRing.begin(0))
  const tokens: string[] = []
  const { handle } = await begin(world, async (context) => {
    const callback = await context.waitpoint('callback')
    tokens.push(callback.token({ for: 'ada', names: ['done'] }))
    return await context.waitFor('answer', callback)
  })
  const [token = ''] = tokens
  await expect(world.fabric.answer(token, 'other')).rejects.toThrow()
  await world.fabric.answer(token, 'done', 17)

  expect(await handle.result()).toMatchObject({ ok: true, value: 17, by: { type: 'token', identity: 'ada' } })
  expect(new Set(tokens).size).toBe(1)
})

test('a token of a waitpoint is refused while there are no keys', async () => {
  await using world = createWorld()
  const { handle } = await begin(world, async (context) => {
    const callback = await context.waitpoint('callback')
    return callback.token({ for: 'ada' })
  })

  expect((await handle.describe()).failure?.message).toContain('No keys')
})

test('what cannot be waited for is refused', async () => {
  await using world = createWorld()
  const { handle } = await begin(world, (context) => context.waitFor('go', {} as ReturnType<typeof signal>))

  expect(await handle.describe()).toMatchObject({ state: 'failed', failure: { category: 'permanent' } })
})

test('a suspension whose reply is lost happens once', async () => {
  await using world = createWorld()
  let isLost = false
  world.store.plan = ({ operation }) => {
    if (operation !== 'suspendExecution' || isLost) return undefined
    isLost = true
    return 'after'
  }
  const { worker, handle } = await begin(world, (context) => context.waitFor('payment', signal('paid')))
  await world.advance(1_000)

  expect(worker.stats()).toMatchObject({ running: 0, settled: { parked: 1, lost: 0 } })
  await world.fabric.signal(handle.id, 'paid', 1)
  expect(await handle.result()).toMatchObject({ ok: true, value: 1 })
})

test('an answer that comes before the reply to the suspension starts another run, and the first one ends', async () => {
  await using world = createWorld()
  let lost = 0
  world.store.plan = ({ operation }) => {
    if (operation !== 'suspendExecution' || lost > 3) return undefined
    lost += 1
    return 'after'
  }
  const { worker, handle } = await begin(world, (context) => context.waitFor('payment', signal('paid')))
  await world.elsewhere.signal(handle.id, 'paid', 1)
  await world.advance(5_000)

  expect(await handle.result()).toMatchObject({ ok: true, value: 1 })
  expect(worker.stats()).toMatchObject({ running: 0, settling: 0, settled: { completed: 1 } })
})

test('a cancel request that is pending when the handler waits ends the execution there', async () => {
  await using world = createWorld()
  const { handle } = await begin(world, async (context) => {
    await world.elsewhere.execution(context.executionId).cancel('not wanted')
    try {
      await context.sleep('rest', '1h')
    } catch {
      await context.sleep('rest again', '1h')
    }
    return 'awake'
  })
  await world.advance(1_000)

  expect(await world.stateOf(handle.id)).toBe('cancelled')
})

test('a parked run is notified and cleans up, and its later calls never settle', async () => {
  await using world = createWorld()
  const seen: unknown[] = []
  let runs = 0
  const { worker, handle } = await begin(world, async (context) => {
    runs += 1
    const run = runs
    context.onPark(() => void seen.push(`clean ${run}`))
    context.signal.addEventListener('abort', () => {
      seen.push((context.signal.reason as { code: string }).code)
      void context.step('late', () => seen.push('must not run')).finally(() => seen.push('must not settle'))
    })
    try {
      return await context.waitFor('payment', signal('paid'))
    } finally {
      seen.push(`finally ${run}`)
    }
  })
  await world.advance(1_000)
  expect(seen).toEqual(['execution_parked', 'clean 1'])
  expect(worker.stats().running).toBe(0)
  await world.fabric.signal(handle.id, 'paid')

  await handle.result()
  expect(seen).toEqual(['execution_parked', 'clean 1', 'finally 2'])
})

test('recorded steps and signals are read in the turn that resumes the execution', async () => {
  await using world = createWorld()
  const { handle } = await begin(world, async (context) => {
    await context.step('before', () => 1)
    return await context.waitFor('payment', signal('paid'))
  })
  await world.fabric.signal(handle.id, 'paid', { amount: 3 })
  await handle.result()

  expect(world.store.callsOf('readSteps')).toHaveLength(1)
  expect(world.store.callsOf('readSignals')).toHaveLength(1)
  expect(world.store.callsOf('suspendExecution')).toHaveLength(1)
})

test('a member of a flow waits for children, for a time and for a signal in one handler', async () => {
  await using world = createWorld()
  world.fabric.engine()
  const parent = task<null>('parent')
  const child = task<number, number>('child')
  const done: string[] = []
  const family = flow('family', (f) => f.node('parent', parent, { input: null }))
  world.work([
    child.handle((number, context) => context.step('double', () => number * 2)),
    parent.handle(async (_, context) => {
      const own = await context.step('own', () => done.push('own'))
      await context.flow.add('child', child, 21)
      const { child: doubled } = await context.flow.wait()
      await context.sleep('rest', '1s')
      const answer = await context.waitFor('go', signal('go'))
      return [own, doubled, answer.ok, done.push('end')]
    }),
  ])
  const handle = await world.fabric.submit(family, undefined)
  await world.advance(2_000)
  await handle.member('parent').signal('go')

  expect(await handle.result()).toEqual([1, 42, true, 2])
  expect(world.linesOf('warn')).toEqual([])
})

test('a wait for children inside of a step is refused', async () => {
  await using world = createWorld()
  const parent = task<null>('parent')
  const lonely = flow('lonely', (f) => f.node('parent', parent, { input: null }))
  world.work([parent.handle((_, context) => context.step('outer', () => context.flow.wait()))])
  const handle = await world.fabric.submit(lonely, undefined)
  await world.settle()

  const { failure } = await handle.member('parent').describe()
  expect(failure?.message).toContain("ctx.flow.wait was called inside step 'outer'")
})

test('middleware is notified of a wait as handlers are', async () => {
  await using world = createWorld()
  world.fabric.engine()
  const said: string[] = []
  world.work([waiting.handle((_, context) => context.sleep('rest', '1s'))], {
    middleware: [
      async (context, next) => {
        context.onPark(() => void said.push('parked'))
        try {
          return await next()
        } finally {
          said.push('ended')
        }
      },
    ],
  })
  const handle = await world.fabric.submit(waiting, null)
  await world.advance(2_000)

  await handle.result()
  expect(said).toEqual(['parked', 'ended'])
})

test('sleepUntil resumes at a date, also of a later run, and a date in the past is no sleep', async () => {
  await using world = createWorld()
  const until = world.runtime.now() + 90_000
  const dated = task<null, number>('dated')
  world.work([
    dated.handle(async (_, ctx) => {
      await ctx.sleepUntil('past', new Date(until - 100_000))
      await ctx.sleepUntil('embargo', new Date(until))
      await ctx.sleepUntil(new Date(until - 1))
      await ctx.sleepUntil(new Date(until + 1_000))
      return await ctx.now()
    }),
  ])
  const execution = await world.fabric.submit(dated, null, { delay: new Date(until - 60_000) })
  await world.advance(29_000)
  expect(await world.stateOf(execution.id)).toBe('delayed')
  await world.advance(40_000)
  expect(await world.stateOf(execution.id)).toBe('suspended')

  await world.advance(30_000)

  const at = await execution.result()
  expect(at).toBeGreaterThanOrEqual(until + 1_000)
  expect(at).toBeLessThan(until + 4_000)
  const names: string[] = []
  for await (const { name } of world.fabric.steps(execution.id)) names.push(name)
  expect(names).toEqual(['past', 'embargo', 'sleepUntil', 'sleepUntil#2', 'now'])
})

test('sleepUntil refuses what is no date', async () => {
  await using world = createWorld()
  const dated = task('dated')
  world.work([dated.handle((_, ctx) => ctx.sleepUntil('embargo', 'tomorrow' as never))])
  const execution = await world.fabric.submit(dated, null)
  await world.settle()

  expect((await execution.describe()).failure?.message).toContain('must be a valid Date')
})
