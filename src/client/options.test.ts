import { expect, test } from 'vitest'
import { z } from 'zod'
import { virtualRuntime } from '../runtime/index.ts'
import { MemoryStore } from '../stores/memory/memory-store.ts'
import { Client } from './client.ts'
import { task } from './define/task.ts'

const plain = task('plain')
const run = () => 1

function createClient(): Client {
  const runtime = virtualRuntime()
  return new Client(new MemoryStore(runtime, { executionPartitions: 1, indexedTags: [] }), runtime)
}

/** What a program without types may pass. */
type Loose = (...values: unknown[]) => unknown

/** The refusal of a call, whether it throws at once or later. */
async function refusalOf(call: () => unknown): Promise<unknown> {
  try {
    await call()
  } catch (error) {
    return error
  }
  return expect.fail('it was not refused')
}

function refusal(field: string, text: string, code = 'invalid_input'): unknown {
  return expect.objectContaining({
    code,
    detail: expect.objectContaining({ field, message: expect.stringContaining(text) as unknown }) as unknown,
  })
}

test.each<[string, string, () => unknown]>([
  ['options', 'schema', () => (task as Loose)('x', { schema: z.string() })],
  ['options', 'retries', () => (task as Loose)('x', { retries: 5 })],
  ['retry', 'backof', () => (task as Loose)('x', { retry: { attempts: 3, backof: 'fixed' } })],
  ['timeout', 'atempt', () => (task as Loose)('x', { timeout: { atempt: '5s' } })],
  [
    'retry.backoff',
    'initial',
    () => (task as Loose)('x', { retry: { attempts: 3, backoff: { kind: 'fixed', initial: '1s' } } }),
  ],
  [
    'retry.backoff',
    'delay',
    () => (task as Loose)('x', { retry: { attempts: 3, backoff: { kind: 'exponential', delay: '1s' } } }),
  ],
  ['options', 'concurency', () => (plain.handle as Loose)({ concurency: 4 }, run)],
])('in the %s of a task, the unknown key %s is refused', async (field, key, define) => {
  expect(await refusalOf(define)).toEqual(refusal(field, `unknown key "${key}"`))
})

test.each<[string, string, (client: Record<string, Loose>) => unknown]>([
  ['options', 'dealy', (client) => client['submit']?.(plain, 1, { dealy: '5s' })],
  ['options', 'Id', (client) => client['submit']?.(plain, 1, { Id: 'x' })],
  ['timeout', 'atempt', (client) => client['submit']?.(plain, 1, { timeout: { atempt: 5 } })],
  ['options', 'froce', (client) => client['cancel']?.('x', 'why', { froce: true })],
  ['options', 'resaon', (client) => client['replay']?.('x', { resaon: 'y' })],
  ['options', 'lease', (client) => client['revokeLease']?.('x', 'why', { lease: 'y' })],
  ['options', 'stat', (client) => client['list']?.({ stat: 'failed' })],
  ['parts', 'payloads', (client) => client['describe']?.('x', { payloads: true })],
  ['tag', 'plan', (client) => client['list']?.({ tag: { plan: 'pro' } })],
  ['options', 'typs', (client) => client['subscribe']?.({ typs: [] })],
  ['options', 'timeout', (client) => (client['execution']?.('x') as { result: Loose }).result({ timeout: 5 })],
])('in the %s of a call, the unknown key %s is refused', async (field, key, call) => {
  await using client = createClient()

  expect(await refusalOf(() => call(client as never))).toEqual(refusal(field, `unknown key "${key}"`))
})

test.each<[string, string, () => unknown]>([
  ['options', 'must be an object', () => (task as Loose)('x', null)],
  ['retry.backoff', "must be 'fixed'", () => (task as Loose)('x', { retry: { attempts: 2, backoff: null } })],
  ['input', 'must be a schema', () => (task as Loose)('x', { input: { foo: 1 } })],
  ['output', 'must be a schema', () => (task as Loose)('x', { output: { '~standard': { validate: 1 } } })],
  ['inputs', 'one for each input by name', () => (task as Loose)('x', { inputs: z.string() })],
  ['inputs', 'must be an object', () => (task as Loose)('x', { inputs: [z.string()] })],
  ['inputs.build', 'must be a schema', () => (task as Loose)('x', { inputs: { build: 'text' } })],
  ['options', 'must be an object', () => (plain.handle as Loose)(null, run)],
])('a wrong %s of a task is refused: it %s', async (field, text, define) => {
  expect(await refusalOf(define)).toEqual(refusal(field, text))
})

test.each<[string, string, (client: Record<string, Loose>) => unknown]>([
  ['items', 'must be a list', (client) => client['submitMany']?.(plain)],
  ['options', 'must be an object', (client) => client['submit']?.(plain, 1, null)],
  ['options', 'must be an object', (client) => client['submit']?.(plain, 1, ['x'])],
  ['tags', 'must be an object of texts', (client) => client['submit']?.(plain, 1, { tags: new Map() })],
  ['tags', 'must be an object of texts', (client) => client['setTags']?.('x', new Map())],
  ['options', 'must be an object', (client) => client['cancel']?.('x', 'why', null)],
  ['force', 'true or false', (client) => client['cancel']?.('x', 'why', { force: 'yes' })],
  ['options', 'must be an object', (client) => client['replay']?.('x', null)],
  ['options', 'must be an object', (client) => client['list']?.(null)],
  ['tag', 'must be an object', (client) => client['list']?.({ tag: null })],
  ['options', 'must be an object', (client) => client['subscribe']?.(null)],
  ['types', 'must be a list', (client) => client['subscribe']?.({ types: 'execution_ended' })],
  ['signal', 'must be an AbortSignal', (client) => client['subscribe']?.({ signal: 5 })],
  ['options', 'must be an object', (client) => (client['execution']?.('x') as { result: Loose }).result(5_000)],
  ['signal', 'must be an AbortSignal', (client) => (client['execution']?.('x') as { wait: Loose }).wait({ signal: 5 })],
])('a wrong %s of a call is refused: it %s', async (field, text, call) => {
  await using client = createClient()

  expect(await refusalOf(() => call(client as never))).toEqual(refusal(field, text))
})

test('a cursor that is no text is refused as a cursor', async () => {
  await using client = createClient()

  await expect(client.subscribe({ cursor: 5 as never }).next()).rejects.toMatchObject({ code: 'invalid_cursor' })
  await expect(client.list({ cursor: 5 as never })).rejects.toMatchObject({ code: 'invalid_cursor' })
})

test('only what task made is a task', async () => {
  await using client = createClient()

  for (const made of [undefined, 'plain', { name: 'plain', policy: {} }, { ...plain }, Object.create(null)]) {
    expect(await refusalOf(() => client.submit(made as never, 1))).toMatchObject({ code: 'unknown_task' })
  }
})

test('an item of many that is a bare input is refused in its place', async () => {
  await using client = createClient()

  const outcomes = await client.submitMany(plain, [{ input: undefined }, {}, { url: 'x' }, null] as never)

  expect(outcomes.map((outcome) => (outcome.ok ? 'ok' : outcome.error.detail.field))).toEqual([
    'ok',
    'ok',
    'items[2]',
    'items[3]',
  ])
})
