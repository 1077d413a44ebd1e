import { expect, test } from 'vitest'
import { z } from 'zod'
import { PAYLOAD_BYTES, TAG_COUNT_MAX } from '../../kernel/index.ts'
import { virtualRuntime } from '../../runtime/index.ts'
import { MemoryStore } from '../../stores/memory/memory-store.ts'
import { Client } from '../client.ts'
import type { SubmitOptions } from './submit.ts'
import { task } from '../define/task.ts'

function createClient(): Client {
  const runtime = virtualRuntime()
  return new Client(new MemoryStore(runtime, { executionPartitions: 1, indexedTags: ['plan'] }), runtime)
}

async function storedCount(client: Client): Promise<number> {
  return (await client.store.dump('fp:0')).records.length
}

const greet = task('greet', { input: z.object({ name: z.string(), times: z.number().default(1) }), output: z.string() })
const plain = task('plain')

test('what is submitted is stored as it was given, and the schema applies where it is read', async () => {
  await using client = createClient()

  const execution = await client.submit(greet, { name: 'Ada' })

  expect(await execution.describe()).toMatchObject({ input: { name: 'Ada' }, state: 'waiting' })
})

test('an input that does not fit the schema is refused with every issue named, and nothing is stored', async () => {
  await using client = createClient()

  const refused = client.submit(greet, { name: 7, times: 'x' } as never)

  await expect(refused).rejects.toMatchObject({
    code: 'invalid_payload',
    detail: { issues: [{ path: 'input.name' }, { path: 'input.times' }] },
  })
  await expect(refused).rejects.toThrow(/input\.name: .*; input\.times: /)
  expect(await storedCount(client)).toBe(0)
})

test('a schema may take its time', async () => {
  await using client = createClient()
  const slow = task('slow', {
    input: z.string().refine(async (text) => Promise.resolve(text !== 'taken')),
    output: z.string(),
  })

  await expect(client.submit(slow, 'taken')).rejects.toMatchObject({ code: 'invalid_payload' })
  expect((await client.submit(slow, 'free')).created).toBe('created')
})

test('an input over the limit is refused with its size', async () => {
  await using client = createClient()

  await expect(client.submit(plain, 'x'.repeat(PAYLOAD_BYTES))).rejects.toThrow(`the limit is ${PAYLOAD_BYTES}`)
  expect(await storedCount(client)).toBe(0)
})

test.each<[string, unknown]>([
  ['id', { id: '' }],
  ['id', { id: 'tab\there' }],
  ['id', { id: '0-0190a7a0-1111-7222-8333-444455556666' }],
  ['ifExists', { ifExists: 'ignore' }],
  ['delay', { delay: 'tomorrow' }],
  ['delay', { delay: new Date('tomorrow') }],
  ['lane', { lane: 'a\u001fb' }],
  ['priority', { priority: -1 }],
  ['tags', { tags: { 'Not A Name': 'x' } }],
  ['tags.plan', { tags: { plan: 7 } }],
  ['retry', { retry: null }],
  ['retry.attempts', { retry: { attempts: 0 } }],
  ['timeout', { timeout: '5s' }],
  ['timeout.attempt', { timeout: { attempt: -1 } }],
  ['retention', { retention: 'ever' }],
])('a wrong %s is refused by name, and nothing is stored', async (field, options) => {
  await using client = createClient()

  await expect(client.submit(plain, 1, options as SubmitOptions)).rejects.toMatchObject({
    code: 'invalid_input',
    detail: { field },
  })
  expect(await storedCount(client)).toBe(0)
})

test('one tag too many is refused by name, and the tags stay as they were', async () => {
  await using client = createClient()
  const tags = Object.fromEntries(Array.from({ length: TAG_COUNT_MAX }, (_, i) => [`tag${i}`, 'x']))
  const execution = await client.submit(plain, 1, { tags })

  await expect(execution.setTags({ another: 'x' })).rejects.toMatchObject({
    code: 'invalid_input',
    detail: { field: 'tags' },
  })
  expect((await execution.describe()).tags).toEqual(tags)
})

test('an instant that is none is refused by name when a list is asked for', async () => {
  await using client = createClient()

  for (const field of ['createdFrom', 'createdTo']) {
    await expect(client.list({ [field]: 'yesterday' })).rejects.toMatchObject({ detail: { field } })
  }
})

test('a delay in the past is no delay', async () => {
  await using client = createClient()

  expect(await (await client.submit(plain, 1, { delay: '-5s' })).state()).toBe('waiting')
  expect(await (await client.submit(plain, 1, { delay: '5s' })).state()).toBe('delayed')
})

test('tags that the store indexes are marked', async () => {
  await using client = createClient()

  await client.submit(plain, 1, { tags: { plan: 'pro', other: 'x' } })

  expect((await client.list({ tag: { name: 'plan', value: 'pro' } })).items).toHaveLength(1)
  expect((await client.list({ tag: { name: 'other', value: 'x' } })).items).toHaveLength(1)
})

test('submitting twice with one id starts one execution', async () => {
  await using client = createClient()

  const first = await client.submit(plain, 1, { id: 'one' })
  const second = await client.submit(plain, 2, { id: 'one' })

  expect([first.created, second.created]).toEqual(['created', 'joined'])
  expect(second.id).toBe(first.id)
  await expect(client.submit(plain, 3, { id: 'one', ifExists: 'reject' })).rejects.toMatchObject({
    code: 'execution_exists',
  })
  expect(await client.try.submit(plain, 3, { id: 'one', ifExists: 'reject' })).toMatchObject({
    kind: 'refused',
    code: 'execution_exists',
  })
})

test('many are submitted in one go, and each has its own outcome', async () => {
  await using client = createClient()

  const outcomes = await client.submitMany(greet, [
    { input: { name: 'Ada' } },
    { input: { name: 7 } as never },
    { input: { name: 'Eve' } },
  ])

  expect(outcomes.map((outcome) => (outcome.ok ? 'ok' : outcome.error.code))).toEqual(['ok', 'invalid_payload', 'ok'])
  await expect(
    client.submitMany(
      plain,
      Array.from({ length: 10_001 }, () => ({ input: 1 })),
    ),
  ).rejects.toMatchObject({
    detail: { field: 'items' },
  })
})

test('a closed client refuses everything', async () => {
  const client = createClient()
  await client.close()

  await expect(client.submit(plain, 1)).rejects.toMatchObject({ code: 'fabric_closed' })
  await expect(client.list()).rejects.toMatchObject({ code: 'fabric_closed' })
  expect(() => client.subscribe()).toThrow('closed')
})
