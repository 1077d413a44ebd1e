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
  ['dedupe', { id: 'one', dedupe: 'ever' }],
  ['dedupe', { id: 'one', dedupe: -1 }],
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
  const second = await client.submit(plain, 1, { id: 'one' })
  const third = await client.submit(plain, 2, { id: 'one', ifExists: 'join' })

  expect([first.created, second.created, third.created]).toEqual(['created', 'joined', 'joined'])
  expect(second.id).toBe(first.id)
  await expect(client.submit(plain, 3, { id: 'one', ifExists: 'reject' })).rejects.toMatchObject({
    code: 'execution_exists',
  })
  expect(await client.try.submit(plain, 3, { id: 'one', ifExists: 'reject' })).toMatchObject({
    kind: 'refused',
    code: 'execution_exists',
  })
})

test('another input under one id is refused, as JSON, as bytes and as none', async () => {
  await using client = createClient()
  const inputs: unknown[] = [{ a: 1, b: 2 }, { b: 2, a: 1 }, '1', 1, new Uint8Array([49]), null, undefined]

  for (const [i, input] of inputs.entries()) {
    await client.submit(plain, input, { id: `id ${i}` })
    for (const [j, other] of inputs.entries()) {
      const submitted = client.try.submit(plain, other, { id: `id ${i}` })
      await expect(submitted).resolves.toMatchObject(i === j ? { kind: 'joined' } : { code: 'input_differs' })
    }
  }
  const refused = client.submit(plain, 'other', { id: 'id 0' })
  await expect(refused).rejects.toThrow('another input')
  await expect(refused).rejects.toMatchObject({ code: 'input_differs', isRetryable: false })
})

test('only a submit with an id stores a digest of its input', async () => {
  await using client = createClient()

  expect((await (await client.submit(plain, 1)).describe()).inputDigest).toBeUndefined()
  expect((await (await client.submit(plain, 1, { id: 'one' })).describe()).inputDigest).toHaveLength(43)
})

test('an id stays taken for as long as asked, and only with an id', async () => {
  await using client = createClient()
  const kept = { id: 'one', retention: '1h', dedupe: '30d' } as const
  const first = await client.submit(plain, 1, kept)
  await first.cancel('done', { force: true })
  const { endedAt, idTakenUntil } = await first.describe()

  expect(idTakenUntil).toBe(endedAt! + 30 * 86_400_000)
  await expect(client.submit(plain, 1, { dedupe: '30d' })).rejects.toMatchObject({ detail: { field: 'dedupe' } })
})

test('a submit after the present run says what became of it', async () => {
  await using client = createClient()
  const after = { id: 'one', ifExists: 'after' } as const
  const first = await client.submit(plain, 1, after)
  const second = await client.submit(plain, 2, after)
  const third = await client.submit(plain, 3, after)

  expect([first.created, second.created, third.created]).toEqual(['created', 'follow_up', 'follow_up_replaced'])
  expect(await first.describe()).toMatchObject({ input: 1, followUp: { task: 'plain' } })
  await first.cancel()
  expect(await first.describe()).toMatchObject({ state: 'cancelled', followUp: undefined })
  expect((await client.submit(plain, 4, after)).created).toBe('replaced')
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
