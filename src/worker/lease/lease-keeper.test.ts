import { expect, test } from 'vitest'
import { LeaseLostError, task } from '../../client/index.ts'
import type { TaskContext } from '../../client/index.ts'
import { createWorld } from '../worker.fixture.ts'
import type { World } from '../worker.fixture.ts'

const slow = task<number, string>('slow')

/** A handler that runs until the test lets it return or, if `stopsOnAbort` is set, until its signal aborts. */
function pausedHandler(options: { readonly stopsOnAbort: boolean }) {
  const contexts: TaskContext[] = []
  const done = Promise.withResolvers<string>()
  const handler = slow.handle((_, context) => {
    contexts.push(context)
    if (!options.stopsOnAbort) return done.promise
    return new Promise<string>((resolve, reject) => {
      void done.promise.then(resolve)
      context.signal.addEventListener('abort', () => reject(context.signal.reason as Error), { once: true })
    })
  })
  return { handler, contexts, finish: done.resolve }
}

function renewalsOf(world: World): number {
  return world.store.callsOf('renewLease').length
}

test('a lease is renewed at a third of its time for as long as its handler runs', async () => {
  await using world = createWorld()
  const { handler, finish } = pausedHandler({ stopsOnAbort: true })
  world.work([handler], { leaseTtl: '30s' })
  const execution = await world.fabric.submit(slow, 1)

  await world.advance(300_000)
  expect(renewalsOf(world)).toBe(30)
  expect(await world.stateOf(execution.id)).toBe('active')

  finish('late but held')
  expect(await execution.result()).toBe('late but held')
  await world.advance(60_000)
  expect(renewalsOf(world)).toBe(30)
})

test('executions claimed ahead keep their leases while they wait for a slot', async () => {
  await using world = createWorld()
  const { handler } = pausedHandler({ stopsOnAbort: true })
  const worker = world.work([handler], { concurrency: 1, prefetch: 2, prefetchHold: '1h', leaseTtl: '3s' })
  await world.fabric.submitMany(slow, [{ input: 1 }, { input: 2 }, { input: 3 }])

  await world.advance(60_000)

  expect(worker.stats()).toMatchObject({ running: 1, waiting: 2, claimed: 3 })
})

test('renewals that are due together are sent together', async () => {
  await using world = createWorld()
  const { handler } = pausedHandler({ stopsOnAbort: true })
  world.work([handler], { leaseTtl: '30s' })
  for (let i = 0; i < 10; i++) {
    await world.fabric.submit(slow, i)
    await world.advance(100)
  }
  const batches: number[] = []
  const run = world.store.run.bind(world.store)
  world.store.run = (partition, calls) => {
    const count = calls.filter((call) => call.operation === 'renewLease').length
    if (count > 0) batches.push(count)
    return run(partition, calls)
  }

  await world.advance(10_500)

  expect(batches).toEqual([10])
})

test('a renewal that is refused aborts the signal, discards the result and frees the slot when the handler returns', async () => {
  await using world = createWorld()
  const { handler, contexts, finish } = pausedHandler({ stopsOnAbort: false })
  const worker = world.work([handler], { concurrency: 1, prefetch: 0, leaseTtl: '30s' })
  const execution = await world.fabric.submit(slow, 1)
  await world.settle()
  world.store.isMute = true
  await world.fabric.revokeLease(execution.id, 'an operator wants it elsewhere')

  await world.advance(10_001)

  const reason: unknown = contexts[0]?.signal.reason
  expect(reason).toBeInstanceOf(LeaseLostError)
  expect(reason).toMatchObject({ code: 'lease_revoked' })
  await expect(contexts[0]?.progress(50)).rejects.toBe(reason)
  expect(worker.stats().running).toBe(1)
  finish('too late')
  await world.settle()
  expect(world.store.callsOf('completeExecution')).toHaveLength(1) // only that of the second attempt
  expect(worker.stats().settled).toMatchObject({ left: 1 })
  expect(world.linesOf('warn').map((line) => line.fields['code'])).toContain('lease_revoked')
})

test('a lease that cannot be confirmed counts as lost before the store would give it away', async () => {
  await using world = createWorld()
  const { handler, contexts } = pausedHandler({ stopsOnAbort: false })
  world.work([handler], { leaseTtl: '30s' })
  await world.fabric.submit(slow, 1)
  await world.settle()
  world.store.plan = () => 'before'

  await world.advance(26_900)
  expect(contexts[0]?.signal.aborted).toBe(false)
  await world.advance(200)

  expect(contexts[0]?.signal.reason).toMatchObject({ name: 'LeaseLostError', code: 'lease_expired' })
})

test('a store that fails a renewal and then recovers costs no lease', async () => {
  await using world = createWorld()
  const { handler, contexts, finish } = pausedHandler({ stopsOnAbort: true })
  world.work([handler], { leaseTtl: '30s' })
  const execution = await world.fabric.submit(slow, 1)
  await world.settle()
  world.store.plan = (call) => (call.operation === 'renewLease' ? 'before' : undefined)
  await world.advance(20_000)
  world.store.plan = () => undefined

  await world.advance(60_000)
  finish('held throughout')

  expect(await execution.result()).toBe('held throughout')
  expect(contexts).toHaveLength(1)
})

test('an execution whose lease ran out while it waited for a slot is never started', async () => {
  await using world = createWorld()
  const started: number[] = []
  const slowHandler = slow.handle((input) => (started.push(input), new Promise<string>(() => undefined)))
  const worker = world.work([slowHandler], { concurrency: 1, prefetch: 1, leaseTtl: '1s' })
  await world.fabric.submitMany(slow, [{ input: 1 }, { input: 2 }])
  await world.settle()
  world.store.plan = () => 'before'

  await world.advance(60_000)

  expect(started).toEqual([1])
  expect(worker.stats()).toMatchObject({ running: 1, waiting: 0 })
})

test('an execution that was lost and came back to the same worker is kept under its new lease', async () => {
  await using world = createWorld()
  const runs: { readonly context: TaskContext; readonly finish: (value: string) => void }[] = []
  const handler = slow.handle((_, context) => {
    const { promise, resolve } = Promise.withResolvers<string>()
    runs.push({ context, finish: resolve })
    return promise
  })
  world.work([handler], { leaseTtl: '30s' })
  const execution = await world.fabric.submit(slow, 1)
  await world.settle()
  await world.fabric.revokeLease(execution.id, 'again, please')
  await world.settle()

  runs[0]?.finish('from the first')
  await world.advance(120_000)

  expect(runs.map(({ context }) => [context.attempt, context.signal.aborted])).toEqual([
    [1, true],
    [2, false],
  ])
  runs[1]?.finish('from the second')
  expect(await execution.result()).toBe('from the second')
  expect(await world.endsOf(execution.id)).toBe(1)
})

test('an execution that comes back before its loss was noticed stops the handler that had it', async () => {
  await using world = createWorld()
  const { handler, contexts } = pausedHandler({ stopsOnAbort: false })
  world.work([handler], { leaseTtl: '30s' })
  const execution = await world.fabric.submit(slow, 1)
  await world.settle()

  world.runtime.jump(3_600_000)
  await world.advance(2_000)

  expect(contexts.map((context) => [context.attempt, context.signal.aborted])).toEqual([
    [1, true],
    [2, false],
  ])
  expect(contexts[0]?.signal.reason).toBeInstanceOf(LeaseLostError)
  expect(await world.fabric.describe(execution.id)).toMatchObject({ state: 'active', reclaimCount: 1 })
})

test('a follow-up that is claimed with the completion of the run before it is no loss', async () => {
  await using world = createWorld()
  const finish: ((value: string) => void)[] = []
  const handler = slow.handle((_, { attempt }) => {
    const { promise, resolve } = Promise.withResolvers<string>()
    finish[attempt] = resolve
    return promise
  })
  const worker = world.work([handler], { concurrency: 1, prefetch: 0 })
  const first = await world.fabric.submit(slow, 1, { id: 'sync' })
  await world.settle()
  await world.fabric.submit(slow, 2, { id: 'sync', ifExists: 'after', priority: 1 })
  // The completion carries a claim, because other work is ready.
  await world.fabric.submit(slow, 3)
  await world.settle()

  finish[1]?.('first')
  await world.settle()
  const [completion] = world.store.callsOf('completeExecution')
  finish[2]?.('second')

  expect((completion?.input as { readonly next?: unknown }).next).toBeDefined()
  expect(await first.result()).toBe('second')
  expect(worker.stats().settled).toMatchObject({ completed: 2, lost: 0 })
  expect(world.linesOf('warn')).toEqual([])
})

test('a renewal that meets the end of its own execution is no loss', async () => {
  await using world = createWorld()
  const { handler, finish } = pausedHandler({ stopsOnAbort: false })
  const worker = world.work([handler])
  const execution = await world.fabric.submit(slow, 1)
  await world.settle()

  finish('done')
  await new Promise<void>((resolve) => world.runtime.nextTick(resolve))
  world.store.wake({ partition: 'fp:0', ready: [], hasEvents: true, holdersOf: [execution.id] })
  await world.settle()

  expect(world.store.calls.slice(-2).map((call) => call.operation)).toEqual(['completeExecution', 'renewLease'])
  expect(worker.stats().settled).toMatchObject({ completed: 1, lost: 0 })
  expect(world.linesOf('warn')).toEqual([])
})

test('a process that was stopped for longer than its leases last starts none of what waited', async () => {
  await using world = createWorld()
  const { handler, contexts, finish } = pausedHandler({ stopsOnAbort: false })
  world.work([handler], { concurrency: 1, prefetch: 1, leaseTtl: '30s', sweep: '1h' })
  await world.fabric.submitMany(slow, [{ input: 1 }, { input: 2 }])
  await world.settle()
  const monotonic = world.runtime.monotonic.bind(world.runtime)
  world.runtime.monotonic = () => monotonic() + 60_000

  finish('after the pause')
  await world.settle()

  expect(contexts).toHaveLength(1)
})

test('a cancel request reaches the handler at once and the execution ends as cancelled when it reacts', async () => {
  await using world = createWorld()
  const { handler, contexts } = pausedHandler({ stopsOnAbort: true })
  world.work([handler])
  const execution = await world.fabric.submit(slow, 1)
  await world.settle()

  expect(await execution.cancel('the user closed the tab', { by: 'ada' })).toBe('cancel_requested')
  await world.settle()

  expect(contexts[0]?.signal.reason).toMatchObject({ code: 'execution_cancelled' })
  expect(String(contexts[0]?.signal.reason)).toContain('the user closed the tab')
  expect(await world.fabric.describe(execution.id)).toMatchObject({
    state: 'cancelled',
    reason: 'the user closed the tab',
    by: 'ada',
  })
})

test('a cancel request from another process reaches the handler in a fraction of a second', async () => {
  await using world = createWorld()
  const { handler, contexts } = pausedHandler({ stopsOnAbort: true })
  world.store.isVague = true
  world.work([handler])
  const execution = await world.fabric.submit(slow, 1)
  await world.advance(1_000)

  await execution.cancel('stop')
  await world.advance(200)

  expect(contexts[0]?.signal.aborted).toBe(true)
  expect(await world.stateOf(execution.id)).toBe('cancelled')
})

test('what is held is looked at only so often, however much others write', async () => {
  await using world = createWorld()
  const { handler } = pausedHandler({ stopsOnAbort: true })
  world.store.isVague = true
  world.work([handler])
  const other = task<number, number>('other')
  await world.fabric.submit(slow, 1)
  await world.settle()
  const before = world.store.callsOf('describeExecution').length

  for (let i = 0; i < 200; i++) {
    await world.fabric.submit(other, i)
    await world.advance(5)
  }

  expect(world.store.callsOf('describeExecution').length - before).toBeLessThanOrEqual(8)
  expect(renewalsOf(world)).toBe(0)
})

test('a cancel request is delivered by the next renewal even if every wake-up is lost', async () => {
  await using world = createWorld()
  const { handler, contexts } = pausedHandler({ stopsOnAbort: true })
  world.work([handler], { leaseTtl: '30s' })
  const execution = await world.fabric.submit(slow, 1)
  await world.settle()
  world.store.isMute = true

  await execution.cancel('stop', { grace: '1m' })
  await world.advance(10_001)

  expect(contexts[0]?.signal.aborted).toBe(true)
  expect(await world.stateOf(execution.id)).toBe('cancelled')
})

test('a handler that finishes although it was to be cancelled has finished', async () => {
  await using world = createWorld()
  const { handler, finish } = pausedHandler({ stopsOnAbort: false })
  world.work([handler])
  const execution = await world.fabric.submit(slow, 1)
  await world.settle()

  await execution.cancel('stop')
  finish('done anyway')

  expect(await execution.result()).toBe('done anyway')
})

test('a handler that returns the reason of its signal has obeyed it', async () => {
  await using world = createWorld()
  world.work([
    slow.handle(
      (_, { signal }) =>
        new Promise<string>((resolve) => signal.addEventListener('abort', () => resolve(signal.reason as string))),
    ),
  ])
  const execution = await world.fabric.submit(slow, 1)
  await world.settle()

  await execution.cancel('stop')
  await world.settle()

  expect(await world.stateOf(execution.id)).toBe('cancelled')
})

test('an execution that is cancelled while it waits for a slot is never started', async () => {
  await using world = createWorld()
  const { handler, contexts } = pausedHandler({ stopsOnAbort: true })
  world.work([handler], { concurrency: 1, prefetch: 1 })
  await world.fabric.submit(slow, 1)
  await world.settle()
  const second = await world.fabric.submit(slow, 2)
  await world.settle()

  await second.cancel('not needed')
  await world.settle()

  expect(await world.stateOf(second.id)).toBe('cancelled')
  expect(contexts).toHaveLength(1)
})

test('a forced cancel takes the execution away at once', async () => {
  await using world = createWorld()
  const { handler, contexts } = pausedHandler({ stopsOnAbort: true })
  world.work([handler])
  const execution = await world.fabric.submit(slow, 1)
  await world.settle()

  await execution.cancel('now', { force: true })
  await world.settle()

  expect(contexts[0]?.signal.reason).toMatchObject({ name: 'LeaseLostError' })
  expect(await world.endsOf(execution.id)).toBe(1)
})

test('an attempt that runs out of time is aborted, and the due pass decides what follows', async () => {
  await using world = createWorld()
  const timed = task<number, string>('timed', {
    timeout: { attempt: '5s' },
    retry: { attempts: 2, backoff: { kind: 'fixed', delay: '1m' }, jitter: false },
  })
  const reasons: unknown[] = []
  world.work([
    timed.handle(
      (_, { signal }) =>
        new Promise<string>((_resolve, reject) => {
          signal.addEventListener('abort', () => {
            reasons.push(signal.reason)
            reject(signal.reason as Error)
          })
        }),
    ),
  ])
  const execution = await world.fabric.submit(timed, 1)

  await world.advance(7_000)

  expect(reasons).toMatchObject([{ code: 'execution_expired' }])
  const description = await world.fabric.describe(execution.id)
  expect(description).toMatchObject({ state: 'delayed', failure: { category: 'timeout' } })
  expect(description.attempts).toMatchObject([{ outcome: 'timed_out' }])
  await world.advance(70_000)
  expect(await world.fabric.describe(execution.id)).toMatchObject({ state: 'expired', failureCount: 2 })
})

/** A task whose attempts have five seconds, and a handler that runs until the test ends its nth run. */
function timedHandler() {
  const timed = task<number, string>('timed', { timeout: { attempt: '5s' } })
  const contexts: TaskContext[] = []
  const ends: (() => void)[] = []
  const handler = timed.handle((_, context) => {
    contexts.push(context)
    return new Promise<string>((resolve) => ends.push(() => resolve('done')))
  })
  return { timed, handler, contexts, ends }
}

test('the time that an execution waits for a slot is not counted against its attempt', async () => {
  await using world = createWorld()
  const { timed, handler, contexts, ends } = timedHandler()
  world.work([handler], { concurrency: 1, prefetch: 1, prefetchHold: '1h', leaseTtl: '1m' })
  const first = await world.fabric.submit(timed, 1, { timeout: { attempt: '1h' } })
  const second = await world.fabric.submit(timed, 2)

  await world.advance(60_000)
  ends[0]?.()
  expect(await first.result()).toBe('done')
  await world.advance(4_000)
  expect(contexts[1]?.signal.aborted).toBe(false)
  ends[1]?.()

  expect(await second.result()).toBe('done')
})

test('an attempt that waited for a slot still runs out of its own time', async () => {
  await using world = createWorld()
  const { timed, handler, contexts, ends } = timedHandler()
  world.work([handler], { concurrency: 1, prefetch: 1, prefetchHold: '1h' })
  await world.fabric.submit(timed, 1, { timeout: { attempt: '1h' } })
  const second = await world.fabric.submit(timed, 2)

  await world.advance(60_000)
  ends[0]?.()
  await world.advance(6_000)

  expect(contexts[1]?.signal.aborted).toBe(true)
  expect(await world.stateOf(second.id)).toBe('expired')
})

test('the total deadline aborts a running handler too', async () => {
  await using world = createWorld()
  const { handler, contexts } = pausedHandler({ stopsOnAbort: true })
  world.work([handler])
  const execution = await world.fabric.submit(slow, 1, { timeout: { total: '3s' } })

  await world.advance(5_000)

  expect(contexts[0]?.signal.aborted).toBe(true)
  expect(await world.stateOf(execution.id)).toBe('expired')
})
