import { expect, test } from 'vitest'
import { z } from 'zod'
import { virtualRuntime } from '../../runtime/index.ts'
import { EngineError } from '../../kernel/engine-error.ts'
import { MemoryStore } from '../../stores/memory/memory-store.ts'
import type { TransactionHandle } from '../../stores/store.ts'
import { Client } from '../client.ts'
import { partitionOf } from '../transport/ids.ts'
import { StagingStore } from './staging-store.fixture.ts'
import type { SubmitOptions } from './submit.ts'
import { task } from '../define/task.ts'

const plain = task<number, string>('plain')
const other = task<number, string>('other')

/** A transaction that accepts every statement. */
const open: TransactionHandle = { query: () => Promise.resolve() }

function createStaging(executionPartitions?: number) {
  const runtime = virtualRuntime()
  const store = new StagingStore(runtime, executionPartitions)
  return { runtime, store, client: new Client(store, runtime) }
}

/** How a promise stands after everything that needs no time has happened. */
async function standOf(promise: Promise<unknown>, runtime: { advance: (ms: number) => Promise<void> }) {
  let stand: 'pending' | 'settled' = 'pending'
  const settle = () => void (stand = 'settled')
  promise.then(settle, settle)
  await runtime.advance(5_000)
  return stand
}

test('a submit with a transaction is left there, and exists after the commit', async () => {
  const { client, store } = createStaging()
  await using _ = client

  const execution = await client.submit(plain, 1, { tx: open, tags: { plan: 'pro' } })

  expect(execution.created).toBe('staged')
  await expect(execution.state()).rejects.toMatchObject({ code: 'execution_not_found' })
  await expect(execution.describe()).rejects.toMatchObject({ code: 'execution_not_found' })
  await store.commit()
  expect(await execution.describe()).toMatchObject({ state: 'waiting', input: 1, tags: { plan: 'pro' } })
})

test('a staged submit runs one statement, sends nothing to the store and wakes no worker of its own process', async () => {
  const { client, store } = createStaging()
  await using _ = client
  let statementCount = 0
  let wakeCount = 0
  client.batcher.hints.onReady(() => (wakeCount += 1))
  store.run = () => Promise.reject(new Error('the store was asked'))

  await client.submit(plain, 1, { tx: { query: () => Promise.resolve((statementCount += 1)) } })

  expect([statementCount, wakeCount]).toEqual([1, 0])
})

test('staged submits are spread over the partitions, and those with an id go where their id belongs', async () => {
  const { client, store } = createStaging(4)
  await using _ = client

  for (let i = 0; i < 8; i++) await client.submit(plain, i, { tx: open })
  const keyed = await client.submit(plain, 9, { tx: open, id: 'mine' })

  expect(new Set(store.staged.map(({ partition }) => partition)).size).toBe(4)
  expect(store.staged.at(-1)?.partition).toBe(partitionOf(keyed.id))
  expect(keyed.id).toBe(client.try.resolve('mine'))
})

test('try.submit returns `staged` for a staged submit', async () => {
  const { client } = createStaging()
  await using _ = client

  const result = await client.try.submit(plain, 1, { tx: open, id: 'mine' })

  expect(result).toMatchObject({ kind: 'staged', executionId: client.try.resolve('mine') })
})

test('waiting for a staged execution lasts until it is committed and has ended', async () => {
  const { client, store, runtime } = createStaging()
  await using _ = client
  const execution = await client.submit(plain, 1, { tx: open })
  const waiting = execution.wait()

  expect(await standOf(waiting, runtime)).toBe('pending')
  await store.commit()
  expect(await standOf(waiting, runtime)).toBe('pending')
  await execution.cancel('enough')

  expect(await waiting).toMatchObject({ outcome: 'cancelled' })
  await expect(execution.result()).rejects.toMatchObject({ code: 'execution_cancelled' })
})

test('waiting for what was rolled back ends with the signal', async () => {
  const { client, store, runtime } = createStaging()
  await using _ = client
  const abort = new AbortController()
  const execution = await client.submit(plain, 1, { tx: open })
  const waiting = execution.result({ signal: abort.signal })
  store.rollback()

  expect(await standOf(waiting, runtime)).toBe('pending')
  abort.abort()

  await expect(waiting).rejects.toMatchObject({ code: 'aborted' })
})

test('waiting for a staged execution that ended and was removed is refused as not found', async () => {
  const { client, store, runtime } = createStaging()
  await using _ = client
  const execution = await client.submit(plain, 1, { tx: open, retention: 0 })
  const waiting = execution.wait()
  expect(await standOf(waiting, runtime)).toBe('pending')

  const { partition, call } = store.staged[0]!
  const cancel = { executionId: execution.id, reason: 'enough', by: 'test', force: true, graceMs: 0 }
  await store.run(partition, [call, { operation: 'cancelExecution', input: cancel, blobs: [] }])
  await store.run(partition, [{ operation: 'purgeExecutions', input: {}, blobs: [] }])

  await expect(waiting).rejects.toMatchObject({ code: 'execution_not_found' })
})

test('waiting for what was staged with the id of another task is refused', async () => {
  const { client, store } = createStaging()
  await using _ = client
  await client.submit(other, 1, { id: 'taken' })

  const execution = await client.submit(plain, 1, { tx: open, id: 'taken' })
  await store.commit()

  await expect(execution.result()).rejects.toMatchObject({
    code: 'execution_exists',
    detail: { executionId: execution.id, state: 'waiting' },
  })
})

test('waiting for what was staged with the id of another input is refused, unless it was to join', async () => {
  const { client, store, runtime } = createStaging()
  await using _ = client
  const first = await client.submit(plain, 1, { id: 'taken' })

  const same = await client.submit(plain, 1, { tx: open, id: 'taken' })
  const another = await client.submit(plain, 2, { tx: open, id: 'taken' })
  const joining = await client.submit(plain, 2, { tx: open, id: 'taken', ifExists: 'join' })
  await store.commit()

  await expect(another.result()).rejects.toMatchObject({ code: 'input_differs', detail: { executionId: another.id } })
  const waiting = Promise.all([same.wait(), joining.wait()])
  expect(await standOf(waiting, runtime)).toBe('pending')
  await client.submit(plain, 3, { id: 'taken', ifExists: 'replace' })
  await first.cancel()
  expect(await waiting).toMatchObject([{ outcome: 'cancelled' }, { outcome: 'cancelled' }])
})

test('what the transaction throws reaches the caller as it is', async () => {
  const { client } = createStaging()
  await using _ = client
  const failure = new Error('current transaction is aborted')
  const tx = { query: () => Promise.reject(failure) }

  await expect(client.submit(plain, 1, { tx })).rejects.toBe(failure)
  await expect(client.submitMany(plain, [{ input: 1, options: { tx } }])).rejects.toBe(failure)
})

test('many are staged one after the other, and what is refused before has touched no transaction', async () => {
  const { client, store } = createStaging()
  await using _ = client
  const checked = task('checked', { input: z.number(), output: z.number() })
  let underWay = 0
  const tx = {
    query: async () => {
      underWay += 1
      expect(underWay).toBe(1)
      await Promise.resolve()
      underWay -= 1
    },
  }

  const outcomes = await client.submitMany(checked, [
    { input: 1, options: { tx } },
    { input: 'x' as never, options: { tx } },
    { input: 3 },
    { input: 4, options: { tx } },
  ])

  expect(outcomes.map((outcome) => (outcome.ok ? outcome.execution.created : outcome.error.code))).toEqual([
    'staged',
    'invalid_payload',
    'created',
    'staged',
  ])
  expect(store.staged).toHaveLength(2)
})

test.each<[string, string, unknown]>([
  ['tx', 'must be a client of pg', { tx: null }],
  ['tx', 'must be a client of pg', { tx: 'begin' }],
  ['tx', 'must be a client of pg', { tx: {} }],
  ['tx', 'must be a client of pg', { tx: { query: 'select 1' } }],
  ['tx', 'a pool', { tx: { ...open, totalCount: 0, idleCount: 0 } }],
  ['ifExists', "can only be 'join'", { tx: open, id: 'mine', ifExists: 'reject' }],
  ['ifExists', "can only be 'join'", { tx: open, id: 'mine', ifExists: 'replace' }],
  ['ifExists', "can only be 'join'", { tx: open, id: 'mine', ifExists: 'after' }],
])('a wrong %s of a staged submit is refused: it %s', async (field, text, options) => {
  const { client, store } = createStaging()
  await using _ = client

  const refused = client.submit(plain, 1, options as SubmitOptions)

  await expect(refused).rejects.toThrow(text)
  await expect(refused).rejects.toMatchObject({ code: 'invalid_input', detail: { field } })
  expect(store.staged).toEqual([])
})

test('a store without staging refuses tx, and the error names the alternative', async () => {
  const runtime = virtualRuntime()
  await using client = new Client(new MemoryStore(runtime, { executionPartitions: 1, indexedTags: [] }), runtime)

  const refused = client.submit(plain, 1, { tx: open })

  await expect(refused).rejects.toThrow('submit after the commit and pass an id')
  await expect(refused).rejects.toMatchObject({ code: 'invalid_input', detail: { field: 'tx' } })
  await expect(client.try.submit(plain, 1, { tx: open })).rejects.toBeInstanceOf(EngineError)
  const [outcome] = await client.submitMany(plain, [{ input: 1, options: { tx: open } }])
  expect(outcome).toMatchObject({ ok: false, error: { detail: { field: 'tx' } } })
  expect((await client.list()).items).toEqual([])
})
