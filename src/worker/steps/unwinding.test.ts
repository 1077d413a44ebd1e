import { expect, test } from 'vitest'
import { ExecutionCancelledError, PermanentError, approval, signal, task } from '../../client/index.ts'
import type { TaskContext } from '../../client/index.ts'
import { createWorld } from '../worker.fixture.ts'

const trip = task<null, string>('trip')

/** Books, waits for a signal that never comes, and cancels the booking if it is stopped. */
function booking(done: string[], wait: (context: TaskContext) => Promise<unknown>) {
  return trip.handle(async (_, context) => {
    await context.step('book', () => void done.push('book'))
    try {
      await wait(context)
    } catch (error) {
      done.push(error instanceof ExecutionCancelledError ? error.outcome : 'another error')
      await context.step('unbook', () => void done.push('unbook'))
      return 'never mind'
    }
    return 'away'
  })
}

test.each<[string, (context: TaskContext) => Promise<unknown>]>([
  ['a signal', (context) => context.waitFor('go', signal('go'))],
  ['an approval', (context) => context.waitFor('review', approval())],
  ['a sleep', (context) => context.sleep('nap', '1d')],
])('a cancel reaches a handler that is parked in %s, and its compensation is recorded', async (_, wait) => {
  await using world = createWorld()
  const done: string[] = []
  world.work([booking(done, wait)])
  const execution = await world.fabric.submit(trip, null)
  await world.settle()
  expect(await world.stateOf(execution.id)).toBe('suspended')

  expect(await execution.cancel('it rains', { by: 'ada' })).toBe('cancel_requested')
  await world.settle()

  expect(done).toEqual(['book', 'cancelled', 'unbook'])
  await expect(execution.result()).rejects.toMatchObject({ outcome: 'cancelled' })
  expect(await world.fabric.describe(execution.id)).toMatchObject({ reason: 'it rains', by: 'ada' })
  const names: string[] = []
  for await (const { name } of world.fabric.steps(execution.id)) names.push(name)
  expect(names).toContain('unbook')
})

test('a cancel of a running handler ends it as cancelled, whatever it returns after a durable call has thrown', async () => {
  await using world = createWorld()
  const done: string[] = []
  const gate = Promise.withResolvers<undefined>()
  world.work([
    booking(done, async (context) => {
      await gate.promise
      await context.step('board', () => void done.push('board'))
    }),
  ])
  const execution = await world.fabric.submit(trip, null)
  await world.settle()
  await execution.cancel('it rains')
  await world.settle()
  gate.resolve(undefined)

  await expect(execution.result()).rejects.toMatchObject({ outcome: 'cancelled' })
  expect(done).toEqual(['book', 'cancelled', 'unbook'])
})

test('a deadline reaches a parked handler, and the execution expires', async () => {
  await using world = createWorld()
  const done: string[] = []
  world.work([booking(done, (context) => context.waitFor('go', signal('go')))])
  const execution = await world.fabric.submit(trip, null, { timeout: { total: '1m' } })
  await world.settle()
  await world.advance(62_000)

  await expect(execution.result()).rejects.toMatchObject({ outcome: 'expired' })
  expect(done).toEqual(['book', 'expired', 'unbook'])
})

test('no call does new work before one of them has thrown', async () => {
  await using world = createWorld()
  const done: string[] = []
  let isStopped = false
  world.work([
    trip.handle(async (_, context) => {
      await context.step('book', () => void done.push('book'))
      if (!isStopped) await context.sleep('nap', '1d')
      const calls = ['board', 'fly'].map((name) => context.step(name, () => void done.push(name)))
      const results = await Promise.allSettled(calls)
      done.push(...results.map(({ status }) => status))
      await context.step('unbook', () => void done.push('unbook'))
      throw new ExecutionCancelledError('cancelled', {})
    }),
  ])
  const execution = await world.fabric.submit(trip, null)
  await world.settle()
  isStopped = true
  await execution.cancel('it rains')

  await expect(execution.result()).rejects.toMatchObject({ outcome: 'cancelled' })
  expect(done).toEqual(['book', 'rejected', 'rejected', 'unbook'])
})

test('a compensation survives the death of its worker and repeats no recorded step', async () => {
  await using world = createWorld()
  const done: string[] = []
  const hangs = Promise.withResolvers<undefined>()
  let runs = 0
  const handler = trip.handle(async (_, context) => {
    await context.step('book', () => void done.push('book'))
    try {
      await context.waitFor('go', signal('go'))
    } catch {
      await context.step('unbook', () => void done.push('unbook'))
      runs += 1
      if (runs === 1) await hangs.promise
      await context.step('refund', () => void done.push('refund'))
    }
    return 'away'
  })
  const first = world.work([handler], { leaseTtl: '30s' })
  const execution = await world.fabric.submit(trip, null)
  await world.settle()
  await execution.cancel('it rains')
  await world.settle()
  first.crash()
  world.work([handler], { leaseTtl: '30s' })
  await world.advance(60_000)

  await expect(execution.result()).rejects.toMatchObject({ outcome: 'cancelled' })
  expect(done).toEqual(['book', 'unbook', 'refund'])
  hangs.resolve(undefined)
})

test('an error of the compensation is retried by the policy, and recorded after the last attempt', async () => {
  await using world = createWorld()
  let tries = 0
  world.work([
    trip.handle(async (_, context) => {
      await context.step('book', () => undefined)
      try {
        await context.waitFor('go', signal('go'))
      } catch {
        tries += 1
        throw tries < 3 ? new Error('the office is closed') : new PermanentError('the office is gone')
      }
      return 'away'
    }),
  ])
  const execution = await world.fabric.submit(trip, null, {
    retry: { attempts: 5, backoff: { kind: 'fixed', delay: 10 } },
  })
  await world.settle()
  await execution.cancel('it rains')
  await world.advance(10_000)

  expect(tries).toBe(3)
  expect(await execution.wait()).toMatchObject({
    outcome: 'cancelled',
    reason: 'it rains',
    failure: { message: 'the office is gone' },
  })
})

test('a compensation that takes too long ends with its time', async () => {
  await using world = createWorld()
  const hangs = Promise.withResolvers<undefined>()
  world.work([booking([], (context) => context.sleep('nap', '1d').catch(() => hangs.promise))])
  const execution = await world.fabric.submit(trip, null, { timeout: { compensation: '1m' } })
  await world.settle()
  await execution.cancel('it rains')
  await world.advance(59_000)
  expect(await world.stateOf(execution.id)).toBe('active')
  await world.advance(3_000)

  expect(await execution.wait()).toMatchObject({ outcome: 'cancelled', failure: { category: 'compensation_timeout' } })
  hangs.resolve(undefined)
})

test('why explains that a cancelled execution may undo its steps', async () => {
  await using world = createWorld()
  const worker = world.work([booking([], (context) => context.sleep('nap', '1d'))])
  const execution = await world.fabric.submit(trip, null)
  await world.settle()
  await worker.close()
  await execution.cancel('it rains', { by: 'ada' })

  const { text } = await execution.why()
  expect(text).toContain('ada cancelled it (it rains), and its handler may undo the steps that it has completed')
  expect(text).toContain('waits for a worker')
})

test('a failure of a handler that was not aware of the cancel does not end it before its steps are undone', async () => {
  await using world = createWorld()
  const done: string[] = []
  const gate = Promise.withResolvers<undefined>()
  let runs = 0
  world.work([
    trip.handle(async (_, context) => {
      await context.step('book', () => void done.push('book'))
      runs += 1
      if (runs === 1) {
        await gate.promise
        throw new Error('the network is down')
      }
      await context.sleep('nap', '1d').catch(() => context.step('unbook', () => void done.push('unbook')))
      return 'away'
    }),
  ])
  const execution = await world.fabric.submit(trip, null)
  await world.settle()
  await execution.cancel('it rains')
  await world.settle()
  gate.resolve(undefined)

  await expect(execution.result()).rejects.toMatchObject({ outcome: 'cancelled' })
  expect(done).toEqual(['book', 'unbook'])
})
