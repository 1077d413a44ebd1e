import { expect, test } from 'vitest'
import { task } from '../client/index.ts'
import type { ExecutionId, OperationName } from '../kernel/index.ts'
import { createWorld } from './worker.fixture.ts'
import type { FaultPlan, World } from './worker.fixture.ts'

const work = task<number, number>('work', { retry: { attempts: 3, backoff: { kind: 'fixed', delay: 0 } } })

/** Fails the first calls of an operation. */
function failFirst(operation: OperationName, how: 'before' | 'after', count: number): FaultPlan {
  let failed = 0
  return (call) => (call.operation === operation && failed < count && ++failed > 0 ? how : undefined)
}

/** Fails calls at random, the same ones for the same seed. */
function failSome(seed: number, share: number): FaultPlan {
  let state = seed
  return () => {
    state = (state * 16_807) % 2_147_483_647
    const chance = state / 2_147_483_647
    if (chance < share / 2) return 'before'
    return chance < share ? 'after' : undefined
  }
}

async function submitAll(world: World, count: number): Promise<string[]> {
  const submitted = await world.fabric.submitMany(
    work,
    Array.from({ length: count }, (_, input) => ({ input })),
  )
  return submitted.flatMap((outcome) => (outcome.ok ? [outcome.execution.id] : []))
}

test('a store that fails does not end the worker, and is warned of once for each streak', async () => {
  await using world = createWorld()
  const worker = world.work([work.handle((input) => input)])
  await world.settle()
  world.store.plan = () => 'before'
  await world.advance(60_000)
  world.store.plan = () => undefined

  const execution = await world.fabric.submit(work, 1)
  await world.advance(6_000)

  expect(await world.stateOf(execution.id)).toBe('completed')
  expect(worker.state).toBe('running')
  expect(world.linesOf('warn')).toHaveLength(1)
  expect(world.linesOf('info').map((line) => line.message)).toContain('store responds again; calls resume')
})

test('an outage is logged once and its end once, for all workers, scanners and partitions', async () => {
  await using world = createWorld(8)
  world.fabric.engine()
  for (const lane of ['a', 'b']) world.work([work.handle((input) => input)], { lanes: [lane] })
  await world.settle()
  const [execution = ''] = await submitAll(world, 1)
  const about = () => [...world.linesOf('warn'), ...world.linesOf('error')].map(({ message }) => message)
  const ends = () => world.linesOf('info').filter(({ message }) => message.startsWith('store responds again'))

  for (const outage of [1, 2]) {
    world.store.plan = () => 'before'
    await world.advance(180_000)
    expect(about()).toHaveLength(outage)
    expect(ends()).toHaveLength(outage - 1)
    world.store.plan = () => undefined
    await world.advance(120_000)
    expect(about()).toHaveLength(outage)
    expect(ends()).toHaveLength(outage)
  }

  expect(new Set(about())).toEqual(new Set(['store call failed; retrying with backoff until the store responds']))
  expect(world.linesOf('info').filter(({ message }) => message === 'scanned' || message.includes('recovered'))).toEqual(
    [],
  )
  expect(await world.stateOf(execution as ExecutionId)).toBe('waiting')
})

test('an outage of a part of the store is over when that part answers', async () => {
  await using world = createWorld(4)
  world.fabric.engine()
  world.work([work.handle((input) => input)])
  await world.settle()
  const messages = () => world.lines.filter(({ level }) => level !== 'debug').map(({ message }) => message)

  world.store.down = 'fp:2'
  await world.advance(120_000)
  expect(messages()).toEqual(['store call failed; retrying with backoff until the store responds'])
  world.store.down = undefined
  await world.advance(120_000)

  expect(messages().slice(1)).toEqual(['store responds again; calls resume'])
})

test('a failing store is asked ever less often, and never less than every few seconds', async () => {
  await using world = createWorld()
  world.store.plan = () => 'before'
  world.work([work.handle((input) => input)])

  await world.advance(60_000)
  const claims = world.store.callsOf('claimForWorker').length

  expect(claims).toBeGreaterThanOrEqual(60_000 / 5_000)
  expect(claims).toBeLessThanOrEqual(60_000 / 2_500 + 8)
})

test('a claim whose reply was lost is repeated under its id and brings what it took', async () => {
  await using world = createWorld()
  let runs = 0
  const worker = world.work([work.handle((input) => (++runs, input))], { sweep: '1h' })
  await world.settle()
  world.store.plan = failFirst('claimForWorker', 'after', 1)

  const execution = await world.elsewhere.submit(work, 1)
  await world.advance(1_000)

  const [first, second] = world.store.callsOf('claimForWorker').slice(-2)
  expect(second?.input).toMatchObject({ repeated: true, requestId: (first?.input as { requestId: string }).requestId })
  expect(await execution.describe()).toMatchObject({ state: 'completed', attempt: 1, reclaimCount: 0 })
  expect(runs).toBe(1)
  expect(worker.stats()).toMatchObject({ claimed: 1 })
})

test('a completion whose reply was lost is repeated and brings its claim with it', async () => {
  await using world = createWorld()
  const ids = await submitAll(world, 8)
  let runs = 0
  world.store.plan = failFirst('completeExecution', 'after', 1)
  world.work([work.handle((input) => (++runs, input))], { concurrency: 2, prefetch: 0, sweep: '1h' })

  await world.advance(2_000)

  expect(runs).toBe(8)
  expect((await world.fabric.lanes())[0]?.counts).toEqual({ completed: 8 })
  expect(await Promise.all(ids.map((id) => world.endsOf(id as never)))).toEqual(Array.from({ length: 8 }, () => 1))
})

test('a completion that failed is retried while the lease lasts, and the lease is renewed meanwhile', async () => {
  await using world = createWorld()
  let runs = 0
  world.store.plan = (call) => (call.operation === 'completeExecution' ? 'before' : undefined)
  world.work([work.handle((input) => (++runs, input))], { leaseTtl: '30s' })
  const execution = await world.fabric.submit(work, 7)

  await world.advance(120_000)
  world.store.plan = () => undefined
  await world.advance(6_000)

  expect(await execution.describe()).toMatchObject({ state: 'completed', result: 7, reclaimCount: 0 })
  expect(runs).toBe(1)
})

test('a completion that comes too late is discarded, and the execution runs again', async () => {
  await using world = createWorld()
  let runs = 0
  const worker = world.work([work.handle((input) => (++runs, input))], { leaseTtl: '30s' })
  world.store.plan = (call) => (['completeExecution', 'renewLease'].includes(call.operation) ? 'before' : undefined)
  const execution = await world.fabric.submit(work, 7)

  await world.advance(29_000)
  world.store.plan = () => undefined
  await world.advance(10_000)

  expect(runs).toBe(2)
  expect(await execution.describe()).toMatchObject({ state: 'completed', reclaimCount: 1 })
  expect(await world.endsOf(execution.id)).toBe(1)
  expect(worker.stats().settled).toMatchObject({ completed: 1, lost: 1 })
})

test('once a lease is lost no more calls are made for its execution', async () => {
  await using world = createWorld()
  world.work([work.handle((input) => input)], { leaseTtl: '3s', sweep: '1h' })
  world.store.plan = (call) => (['completeExecution', 'renewLease'].includes(call.operation) ? 'before' : undefined)
  await world.fabric.submit(work, 7)
  await world.advance(8_000)
  const callCount = world.store.callsOf('completeExecution').length

  await world.advance(60_000)

  expect(callCount).toBeGreaterThan(1)
  expect(world.store.callsOf('completeExecution')).toHaveLength(callCount)
})

test('the claim that a discarded completion carried is asked for again', async () => {
  await using world = createWorld()
  const ids = await submitAll(world, 4)
  world.work([work.handle((input) => input)], { concurrency: 1, prefetch: 0, leaseTtl: '1s', sweep: '1h' })
  let isLost = false
  world.store.plan = (call) => {
    isLost ||= call.operation === 'completeExecution'
    return isLost ? 'after' : undefined
  }
  await world.advance(950)
  world.store.plan = () => undefined

  await world.advance(20_000)

  expect(await Promise.all(ids.map((id) => world.endsOf(id as never)))).toEqual([1, 1, 1, 1])
  expect((await world.fabric.lanes())[0]?.counts).toEqual({ completed: 4 })
})

test('a failure is reported once however often its report is lost', async () => {
  await using world = createWorld()
  const once = task<number, number>('once')
  world.store.plan = failFirst('failExecution', 'after', 3)
  world.work([
    once.handle(() => {
      throw new Error('broken')
    }),
  ])

  const execution = await world.fabric.submit(once, 1)
  await world.advance(5_000)

  expect(await execution.describe()).toMatchObject({ state: 'failed', failureCount: 1 })
  expect(await world.endsOf(execution.id)).toBe(1)
})

test('progress that the store failed is stored before the end', async () => {
  await using world = createWorld()
  world.store.plan = failFirst('updateProgress', 'before', 3)
  world.work([
    work.handle((input, context) => {
      void context.progress(10, 'begun')
      void context.progress({ percent: 90 })
      return input
    }),
  ])

  const execution = await world.fabric.submit(work, 1)
  await world.advance(5_000)

  expect(await execution.describe()).toMatchObject({ state: 'completed', progress: { percent: 90, message: 'begun' } })
})

test('a closing worker asks once more for what a lost reply had taken, and hands it back', async () => {
  await using world = createWorld()
  const worker = world.work([work.handle((input) => input)], { sweep: '1h' })
  await world.settle()
  world.store.plan = (call) => (call.operation === 'claimForWorker' ? 'after' : undefined)
  const execution = await world.elsewhere.submit(work, 1)
  await world.settle()
  expect(await world.stateOf(execution.id)).toBe('active')
  world.store.plan = () => undefined

  const closing = worker.close()
  await world.settle()

  expect(await closing).toEqual({ finished: 0, released: 1, abandoned: 0 })
  expect(await world.stateOf(execution.id)).toBe('waiting')
})

test('damage in one partition does not slow down the others', async () => {
  await using world = createWorld(2)
  const run = world.store.run.bind(world.store)
  world.store.run = (partition, calls) =>
    partition === 'fp:1'
      ? Promise.resolve(calls.map(() => ({ kind: 'fault', reason: 'damaged', recordId: 'x' })))
      : run(partition, calls)
  world.work([work.handle((input) => input)])
  await world.advance(30_000)

  const ids = Array.from({ length: 30 }, (_, i) => `key:${i}`).filter((key) =>
    world.fabric.try.resolve(key).startsWith('0-'),
  )
  const submitted = await world.fabric.submitMany(
    work,
    ids.map((id) => ({ input: 1, options: { id } })),
  )
  await world.settle()

  const states = await Promise.all(submitted.flatMap((outcome) => (outcome.ok ? [outcome.execution.state()] : [])))
  expect(states).toHaveLength(ids.length)
  expect(new Set(states)).toEqual(new Set(['completed']))
})

test.each([1, 2, 3, 4, 5, 6, 7, 8])(
  'calls that fail at random lose nothing and end nothing twice (seed %i)',
  async (seed) => {
    await using world = createWorld()
    const ids = await submitAll(world, 60)
    world.store.plan = failSome(seed * 7_919, 0.3)
    world.work([work.handle((input) => (input % 7 === 3 ? Promise.reject(new Error('some fail')) : input))], {
      concurrency: 4,
      prefetch: 4,
      leaseTtl: '5s',
    })

    await world.advance(120_000)
    world.store.plan = () => undefined
    await world.advance(60_000)

    const described = await Promise.all(ids.map((id) => world.fabric.describe(id)))
    for (const [i, description] of described.entries()) {
      expect(description.state).toBe(i % 7 === 3 ? 'failed' : 'completed')
      expect(await world.endsOf(description.id)).toBe(1)
    }
  },
)
