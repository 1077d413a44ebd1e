import { expect, test } from 'vitest'
import { PermanentError, task } from '../client/index.ts'
import { testFabric } from './index.ts'
import type { TestFabric } from './index.ts'

const mail = task<{ to: string }, string>('mail', { retry: { attempts: 2, backoff: { kind: 'fixed', delay: '1s' } } })

function batching(seen: string[][], resultOf: (to: string) => string | Error = (to) => `sent to ${to}`) {
  return mail.handleBatch({ max: 3, wait: '2s' }, (items) => {
    seen.push(items.map(({ input }) => input.to))
    return items.map(({ input }) => resultOf(input.to))
  })
}

async function submitAll(t: TestFabric, names: readonly string[]) {
  return await Promise.all(names.map((to) => t.submit(mail, { to })))
}

test('one call handles many executions, when the batch is full or its time is over', async () => {
  const seen: string[][] = []
  await using t = await testFabric([batching(seen)])

  const executions = await submitAll(t, ['a', 'b', 'c', 'd', 'e'])
  await t.advance('1s')
  expect(seen).toEqual([['a', 'b', 'c']])
  await t.advance('1s')

  expect(seen).toEqual([
    ['a', 'b', 'c'],
    ['d', 'e'],
  ])
  const results = await Promise.all(executions.map((execution) => execution.result()))
  expect(results).toEqual(['a', 'b', 'c', 'd', 'e'].map((to) => `sent to ${to}`))
})

test('each execution has its own outcome and its own retries', async () => {
  const seen: string[][] = []
  let failures = 1
  const handler = batching(seen, (to) => {
    if (to === 'b' && failures-- > 0) return new Error('mailbox is busy')
    return to === 'c' ? new PermanentError('no such mailbox') : `sent to ${to}`
  })
  await using t = await testFabric([handler])
  const executions = await submitAll(t, ['a', 'b', 'c'])
  await t.advance('10s')

  expect(seen).toEqual([['a', 'b', 'c'], ['b']])
  const found = await Promise.all(executions.map((execution) => execution.describe()))
  expect(found.map(({ state, attempt }) => [state, attempt])).toEqual([
    ['completed', 1],
    ['completed', 2],
    ['failed', 1],
  ])
})

test('a thrown error or a result that is missing fails all executions of the call', async () => {
  let call = 0
  const handler = mail.handleBatch({ max: 2, wait: 0 }, () => {
    call = call + 1
    if (call === 1) throw new Error('the server is down')
    return []
  })
  await using t = await testFabric([handler])
  const executions = await submitAll(t, ['a', 'b'])
  await t.advance('10s')

  for (const { id } of executions) {
    const { state, failure, attempts } = await t.describe(id, { attempts: true })
    expect(state).toBe('failed')
    expect(attempts[0]?.failure?.message).toBe('the server is down')
    expect(failure?.message).toContain('returned a list of 0')
  }
})

test('an execution that is cancelled while it waits is no part of the batch, and a crash loses none', async () => {
  const seen: string[][] = []
  await using t = await testFabric([batching(seen)])
  const [first, second] = await submitAll(t, ['a', 'b'])
  await t.until(second?.id ?? '', 'active')
  await first?.cancel('not needed')
  await t.advance('1s')
  await t.crashWorker()
  await t.advance('5m')

  expect((await first?.describe())?.state).toBe('cancelled')
  expect(await second?.result()).toBe('sent to b')
  expect(seen.flat()).not.toContain('a')
})

test('refuses sizes that no batch can have', async () => {
  const run = () => []
  expect(() => mail.handleBatch({ max: 0, wait: '1s' }, run)).toThrow('max must be a whole number')
  expect(() => mail.handleBatch({ max: 2, wait: '2m' }, run)).toThrow('at most 60000 ms')
  const large = mail.handleBatch({ max: 100, wait: '1s' }, run)
  await expect(testFabric([large])).rejects.toThrow('no batch could ever be full')
})
