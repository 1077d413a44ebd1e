import { expect, test } from 'vitest'
import { allOf, flow, task } from '../client/index.ts'
import type { TaskContext } from '../client/index.ts'
import { testFabric } from './test-fabric.ts'

const flaky = task<number, string>('flaky', {
  retry: { attempts: 3, backoff: { kind: 'fixed', delay: '1h' }, jitter: false },
})

function failing(times: number) {
  let runs = 0
  return flaky.handle(() => {
    if (++runs <= times) throw new Error(`failure ${runs}`)
    return 'finally'
  })
}

test('time stands still unless the test moves it', async () => {
  await using t = await testFabric([failing(1)])
  const execution = await t.submit(flaky, 1)
  await t.until(execution, 'delayed')
  const before = t.clock.now()

  expect(await execution.state()).toBe('delayed')
  expect(t.clock.now()).toBe(before)
})

test('retries come when their time comes, and not before', async () => {
  await using t = await testFabric([failing(2)])
  const execution = await t.submit(flaky, 1)
  await t.until(execution, 'delayed')

  await t.advance('59m')
  expect(await execution.describe()).toMatchObject({ state: 'delayed', failureCount: 1 })
  await t.advance('1m')
  expect(await execution.describe()).toMatchObject({ state: 'delayed', failureCount: 2 })
  await t.advance('1h')

  expect(await execution.result()).toBe('finally')
})

test('until lets as much time pass as the state needs', async () => {
  await using t = await testFabric([failing(2)], { startAt: 1_000_000 })
  const execution = await t.submit(flaky, 1, { delay: '3d' })

  const description = await t.until(execution, 'completed')

  expect(description).toMatchObject({ result: 'finally', failureCount: 2 })
  expect(t.clock.now() - 1_000_000).toBe((3 * 24 + 2) * 3_600_000)
})

test('until takes a key as well as a handle', async () => {
  await using t = await testFabric([failing(0)])
  await t.submit(flaky, 1, { id: 'the:one' })

  expect(await t.until('the:one', 'completed')).toMatchObject({ key: 'the:one' })
})

test('an execution that ends in another state is reported at once, with its failure', async () => {
  await using t = await testFabric([failing(9)])
  const execution = await t.submit(flaky, 1)

  await expect(t.until(execution, 'completed')).rejects.toThrow(/is 'failed' and not 'completed'.*failure 3/)
})

test('an execution that is stuck is reported with the reason', async () => {
  await using t = await testFabric([failing(0)])
  const execution = await t.submit(flaky, 1, { lane: 'unserved' })

  await expect(t.until(execution, 'completed', { within: '1h' })).rejects.toThrow(
    /is 'waiting' and not 'completed'.*waits for a worker/,
  )
})

test('a crashed worker records nothing more, and another one takes over when the lease has expired', async () => {
  const contexts: TaskContext[] = []
  const first = Promise.withResolvers<string>()
  await using t = await testFabric([
    flaky.handle((_, context) => {
      contexts.push(context)
      return contexts.length === 1 ? first.promise : 'from the second worker'
    }),
  ])
  const execution = await t.submit(flaky, 1)
  await t.until(execution, 'active')
  const worker = t.currentWorker

  await t.crashWorker()
  first.resolve('from beyond')
  await t.advance('1s')

  expect(contexts[0]?.signal.aborted).toBe(true)
  expect(await execution.state()).toBe('active')
  expect(t.currentWorker).not.toBe(worker)
  expect(await t.until(execution, 'completed')).toMatchObject({
    result: 'from the second worker',
    reclaimCount: 1,
    attempt: 2,
  })
})

test('events are returned for everything or for one execution', async () => {
  await using t = await testFabric([failing(1)])
  const execution = await t.submit(flaky, 1)
  await t.submit(flaky, 2, { lane: 'elsewhere' })
  await t.until(execution, 'completed')

  expect((await t.events(execution)).map((event) => event.type)).toEqual([
    'execution_created',
    'attempt_started',
    'attempt_failed',
    'execution_promoted',
    'attempt_started',
    'execution_ended',
  ])
  expect(await t.events()).toHaveLength(7)
})

const twice = flow('twice', (f, input: number) => {
  const first = f.node('first', flaky, { input })
  return f.node('second', flaky, { after: allOf(first), input })
})

test('until waits for a flow as well, however long its members take', async () => {
  await using t = await testFabric([failing(2)])
  const handle = await t.submit(twice, 1)

  expect(await t.until(handle, 'blocked')).toMatchObject({ counts: { delayed: 1, waiting_dependencies: 1 } })
  expect(await t.until(handle, 'completed')).toMatchObject({ counts: { completed: 2 } })
  expect(await handle.result()).toBe('finally')
})

test('a flow that ends in another state is reported with what its members wait for', async () => {
  await using t = await testFabric([failing(9)])
  const handle = await t.submit(twice, 1)

  await expect(t.until(handle, 'completed')).rejects.toThrow(
    /twice \(f0-.*\) is 'failed' and not 'completed'.*\n {2}first: .*failure 3.*\n {2}second: /,
  )
  await expect(t.until(handle, 'active' as 'completed')).rejects.toThrow("'active' is not a state")
})

test('the events of a flow are its own and those of its members', async () => {
  await using t = await testFabric([failing(0)])
  await t.submit(flaky, 1)
  const handle = await t.submit(twice, 1)
  await t.until(handle, 'completed')

  const events = await t.events(handle)

  expect(events.map((event) => event.type)).toContain('flow_ended')
  expect(new Set(events.map((event) => event.executionId)).size).toBe(3)
})

test('a long wait takes no time', async () => {
  await using t = await testFabric([failing(0)])
  const execution = await t.submit(flaky, 1, { delay: '12h' })

  await t.advance('12h')

  expect(await execution.state()).toBe('completed')
})

test('an ended execution is purged when its retention is over', async () => {
  await using t = await testFabric([failing(0)])
  const execution = await t.submit(flaky, 1, { retention: '1h' })
  await t.until(execution, 'completed')

  await t.advance('3h')

  await expect(execution.describe()).rejects.toMatchObject({ code: 'execution_not_found' })
})

test('closing waits for no handler and leaves no timer', async () => {
  const t = await testFabric([flaky.handle(() => new Promise<string>(() => undefined))])
  const execution = await t.submit(flaky, 1)
  await t.until(execution, 'active')

  await t.close()

  expect(t.clock.nextTimerAt()).toBeUndefined()
  await expect(t.submit(flaky, 1)).rejects.toMatchObject({ code: 'fabric_closed' })
})

test('the same seed makes the same chance', async () => {
  const retryAfter = async (seed: number) => {
    const handler = flaky.handle(() => Promise.reject(new Error('no')))
    await using t = await testFabric([handler], { seed })
    const execution = await t.submit(flaky, 1, { retry: { attempts: 2, backoff: { kind: 'fixed', delay: '1h' } } })
    const { delayedUntil, changedAt } = await t.until(execution, 'delayed')
    return delayedUntil! - changedAt
  }

  const waits = [await retryAfter(7), await retryAfter(7), await retryAfter(8)]

  expect(waits[1]).toBe(waits[0])
  expect(waits[2]).not.toBe(waits[0])
})
