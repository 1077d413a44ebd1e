import { expect, test } from 'vitest'
import { task } from '../client/index.ts'
import { createWorld } from './worker.fixture.ts'
import type { World } from './worker.fixture.ts'

const slow = task<number, string>('slow', { retry: { attempts: 3 } })

function runsFor(world: World, ms: number) {
  return slow.handle(async (input) => {
    await new Promise<void>((resolve) => world.runtime.after(ms, resolve))
    return `done ${input}`
  })
}

/** Reacts to its signal after a while. */
function abortableAfter(world: World, ms: number) {
  return slow.handle(
    (_, { signal }) =>
      new Promise<string>((_resolve, reject) => {
        signal.addEventListener('abort', () => world.runtime.after(ms, () => reject(signal.reason as Error)))
      }),
  )
}

test('closing lets running handlers finish and hands back at once what was not started', async () => {
  await using world = createWorld()
  const worker = world.work([runsFor(world, 5_000)], { concurrency: 1, prefetch: 2 })
  const submitted = await world.fabric.submitMany(slow, [{ input: 1 }, { input: 2 }, { input: 3 }])
  const [first, second, third] = submitted.map((outcome) => (outcome.ok ? outcome.execution : undefined))
  await world.settle()

  const closing = worker.close()
  await world.settle()

  expect(worker.state).toBe('draining')
  expect(await Promise.all([first, second, third].map((execution) => execution!.state()))).toEqual([
    'active',
    'waiting',
    'waiting',
  ])
  await world.advance(5_000)
  expect(await closing).toEqual({ finished: 1, released: 2, abandoned: 0 })
  expect(worker.state).toBe('stopped')
  expect(await first!.state()).toBe('completed')
  expect(await second!.describe()).toMatchObject({ state: 'waiting', failureCount: 0, reclaimCount: 0 })
})

test('a closing worker claims nothing more', async () => {
  await using world = createWorld()
  const worker = world.work([runsFor(world, 5_000)])
  await world.fabric.submit(slow, 1)
  await world.settle()

  const closing = worker.close()
  const late = await world.fabric.submit(slow, 2)
  await world.advance(60_000)
  await closing

  expect(await world.stateOf(late.id)).toBe('waiting')
})

test('what a claim under way brings to a closing worker is handed back', async () => {
  await using world = createWorld()
  const worker = world.work([runsFor(world, 5_000)], { sweep: '1h' })
  await world.settle()
  const execution = await world.elsewhere.submit(slow, 1)

  const closing = worker.close()
  await world.settle()

  expect(await closing).toEqual({ finished: 0, released: 1, abandoned: 0 })
  expect(await execution.describe()).toMatchObject({ state: 'waiting', attempt: 1 })
})

test('handlers that outlast the drain are aborted, and those that react are released without using up an attempt', async () => {
  await using world = createWorld()
  const worker = world.work([abortableAfter(world, 1_000)], { drainTimeout: '10s', killTimeout: '5s' })
  const execution = await world.fabric.submit(slow, 1)
  await world.settle()

  const closing = worker.close()
  await world.advance(9_999)
  expect(worker.state).toBe('draining')
  await world.advance(1)
  expect(worker.state).toBe('stopping')
  await world.advance(1_000)

  expect(await closing).toEqual({ finished: 0, released: 1, abandoned: 0 })
  expect(await execution.describe()).toMatchObject({ state: 'waiting', failureCount: 0 })
  const events = await world.store.readEvents('fp:0', 0, 100)
  expect(events.events.at(-1)).toMatchObject({ type: 'execution_released', reason: 'the worker is stopping' })
})

test('handlers that do not stop keep their lease until it expires', async () => {
  await using world = createWorld()
  const worker = world.work([slow.handle(() => new Promise<string>(() => undefined))], {
    drainTimeout: '1s',
    killTimeout: '1s',
  })
  const execution = await world.fabric.submit(slow, 1)
  await world.settle()

  const closing = worker.close()
  await world.advance(2_000)

  expect(await closing).toEqual({ finished: 0, released: 0, abandoned: 1 })
  expect(await world.stateOf(execution.id)).toBe('active')
  world.work([runsFor(world, 0)])
  await world.advance(31_000)
  expect(await execution.describe()).toMatchObject({ state: 'completed', reclaimCount: 1 })
})

test('what a handler does after its worker gave up on it is not recorded', async () => {
  await using world = createWorld()
  const late = Promise.withResolvers<string>()
  const worker = world.work([slow.handle(() => late.promise)], { drainTimeout: 0, killTimeout: 0 })
  const execution = await world.fabric.submit(slow, 1)
  await world.settle()
  const closing = worker.close()
  await world.settle()
  await closing

  late.resolve('too late')
  await world.settle()

  expect(await world.stateOf(execution.id)).toBe('active')
  expect(world.store.callsOf('completeExecution')).toHaveLength(0)
})

test('closing again with a drain of 0 skips the rest of the drain', async () => {
  await using world = createWorld()
  const worker = world.work([abortableAfter(world, 0)])
  await world.fabric.submit(slow, 1)
  await world.settle()

  const closing = worker.close()
  await world.advance(1_000)
  expect(worker.state).toBe('draining')
  const again = worker.close({ drain: 0 })
  await world.advance(1)

  expect(await closing).toEqual({ finished: 0, released: 1, abandoned: 0 })
  expect(await again).toEqual(await closing)
})

test('closing an idle worker takes no time and leaves no timer', async () => {
  await using world = createWorld()
  const worker = world.work([runsFor(world, 0)])
  await world.settle()

  expect(await worker.close()).toEqual({ finished: 0, released: 0, abandoned: 0 })
  expect(world.runtime.nextTimerAt()).toBeUndefined()
})

test('leases are kept while the worker drains', async () => {
  await using world = createWorld()
  const worker = world.work([runsFor(world, 20_000)], { leaseTtl: '3s' })
  const execution = await world.fabric.submit(slow, 1)
  await world.settle()

  const closing = worker.close()
  await world.advance(20_000)
  await closing

  expect(await execution.describe()).toMatchObject({ state: 'completed', reclaimCount: 0 })
})

test('a signal drains the worker and a second one hurries it', async () => {
  await using world = createWorld()
  const before = process.listenerCount('SIGTERM')
  const worker = world.work([abortableAfter(world, 0)], { signals: true })
  await world.fabric.submit(slow, 1)
  await world.settle()

  process.emit('SIGTERM')
  await world.advance(1_000)
  expect(worker.state).toBe('draining')
  process.emit('SIGINT')
  await world.advance(1)

  expect(await worker.closed).toEqual({ finished: 0, released: 1, abandoned: 0 })
  expect(process.listenerCount('SIGTERM')).toBe(before)
})

test('a crashed worker releases nothing, records nothing and aborts its handlers', async () => {
  await using world = createWorld()
  const reasons: unknown[] = []
  const worker = world.work(
    [
      slow.handle(
        (_, { signal }) =>
          new Promise<string>((resolve) =>
            signal.addEventListener('abort', () => {
              reasons.push(signal.reason)
              resolve('from beyond')
            }),
          ),
      ),
    ],
    { concurrency: 1, prefetch: 1 },
  )
  const submitted = await world.fabric.submitMany(slow, [{ input: 1 }, { input: 2 }])
  await world.settle()

  worker.crash()
  await world.advance(5_000)

  expect(reasons).toMatchObject([{ code: 'worker_stopping' }])
  expect(await Promise.all(submitted.flatMap((outcome) => (outcome.ok ? [outcome.execution.state()] : [])))).toEqual([
    'active',
    'active',
  ])
  expect(world.runtime.nextTimerAt()).toBeUndefined()
})

test('a worker whose fabric was closed first stops and logs an error', async () => {
  await using world = createWorld()
  const worker = world.work([runsFor(world, 0)])
  await world.settle()

  await world.fabric.batcher.close()
  await world.advance(1_500)

  expect(worker.state).toBe('stopped')
  expect(
    world
      .linesOf('error')
      .map((line) => line.message)
      .join(),
  ).toContain('closed before its worker')
  expect(world.runtime.nextTimerAt()).toBeUndefined()
})
