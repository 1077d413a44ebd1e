import { expect, test } from 'vitest'
import { virtualRuntime } from '../../runtime/index.ts'
import { eventTypes } from '../../kernel/index.ts'
import { EngineError } from '../../kernel/engine-error.ts'
import { EVENT_SWEEP_MS } from '../../stores/store.ts'
import { MemoryStore } from '../../stores/memory/memory-store.ts'
import { Client } from '../client.ts'
import { eventFamilyNames, typesOf } from './event-families.ts'
import type { SubscriptionItem } from './subscription.ts'
import { task } from '../define/task.ts'
import { UnsteadyStore } from '../transport/unsteady-store.fixture.ts'

const plain = task<number, number>('plain')
const other = task<number, number>('other')

function createClient(partitionCount = 1) {
  const runtime = virtualRuntime()
  const client = new Client(new MemoryStore(runtime, { executionPartitions: partitionCount, indexedTags: [] }), runtime)
  return { client, runtime }
}

async function take(items: AsyncIterable<SubscriptionItem>, count: number): Promise<SubscriptionItem[]> {
  const taken: SubscriptionItem[] = []
  for await (const item of items) {
    taken.push(item)
    if (taken.length === count) break
  }
  return taken
}

function kindsOf(items: readonly SubscriptionItem[]): string[] {
  return items.map((item) => (item.kind === 'event' ? item.event.type : item.kind))
}

test('a subscription sees what happens after it was asked for, even before it is read', async () => {
  const { client } = createClient()
  await using _ = client
  await client.submit(plain, 1, { id: 'before' })
  const events = client.subscribe()
  await client.submit(plain, 2, { id: 'after' })
  await client.cancel('after', 'enough')

  expect(kindsOf(await take(events, 2))).toEqual(['execution_created', 'execution_ended'])
})

test('a subscription resumes from the cursor of an earlier one and misses nothing', async () => {
  const { client } = createClient(4)
  await using _ = client
  const events = client.subscribe()
  for (let i = 0; i < 20; i++) await client.submit(plain, i, { id: `key ${i}` })
  const first = await take(events, 7)
  const rest = await take(client.subscribe({ cursor: first.at(-1)!.cursor }), 13)

  const ids = [...first, ...rest].map((item) => (item.kind === 'event' ? item.event.executionId : ''))
  expect(new Set(ids).size).toBe(20)
})

test('a subscription may begin at the oldest event kept', async () => {
  const { client } = createClient()
  await using _ = client
  await client.submit(plain, 1)

  expect(kindsOf(await take(client.subscribe({ fromStart: true }), 1))).toEqual(['execution_created'])
})

test('events that were trimmed before they could be read are counted', async () => {
  const { client, runtime } = createClient()
  await using _ = client
  const events = client.subscribe()
  for (let i = 0; i < 5; i++) await client.submit(plain, i)
  await client.store.trimEvents('fp:0', runtime.now(), 2)

  expect(await take(events, 3)).toMatchObject([{ kind: 'trimmed', missed: 3 }, { kind: 'event' }, { kind: 'event' }])
})

test('a subscription yields only the events that match its filters', async () => {
  const { client } = createClient()
  await using _ = client
  const wanted = await client.submit(plain, 1, { tags: { plan: 'pro' } })
  await client.submit(plain, 2, { tags: { plan: 'free' } })
  await client.cancel(wanted.id, 'enough')

  const byTag = client.subscribe({ fromStart: true, tag: { name: 'plan', value: 'pro' } })
  expect(kindsOf(await take(byTag, 2))).toEqual(['execution_created', 'execution_ended'])
  const byType = client.subscribe({ fromStart: true, types: ['execution_ended'] })
  expect(kindsOf(await take(byType, 1))).toEqual(['execution_ended'])
  const byFamily = client.subscribe({ fromStart: true, families: ['signals'], types: ['execution_ended'] })
  expect(kindsOf(await take(byFamily, 1))).toEqual(['execution_ended'])
  const byId = client.subscribe({ fromStart: true, executionId: wanted.id })
  const inLane = await client.submit(other, 3, { lane: 'slow' })
  const byLane = client.subscribe({ fromStart: true, lane: 'slow' })
  expect(await take(byLane, 1)).toMatchObject([{ event: { executionId: inLane.id } }])
  const byTask = client.subscribe({ fromStart: true, task: 'other' })
  expect(await take(byTask, 1)).toMatchObject([{ event: { executionId: inLane.id } }])
  expect(kindsOf(await take(byId, 2))).toEqual(['execution_created', 'execution_ended'])
})

test('a subscription ends when its signal aborts or the client closes', async () => {
  const { client } = createClient()
  const abort = new AbortController()
  const aborted = take(client.subscribe({ signal: abort.signal }), 1)
  const closed = take(client.subscribe(), 1)

  abort.abort()
  expect(await aborted).toEqual([])
  await client.close()
  expect(await closed).toEqual([])
})

test('a cursor that is none is refused when the first event is asked for', async () => {
  const { client } = createClient()
  await using _ = client

  await expect(client.subscribe({ cursor: 'nonsense' }).next()).rejects.toMatchObject({ code: 'invalid_cursor' })
})

test('a cursor of a log that was replaced is answered with that, and resumes at the first event kept', async () => {
  const runtime = virtualRuntime()
  const store = new UnsteadyStore(runtime)
  await using client = new Client(store, runtime)
  for (let i = 0; i < 3; i++) await client.submit(plain, i)
  const [, , third] = await take(client.subscribe({ fromStart: true }), 3)
  store.forget()
  const replaced = { kind: 'log_replaced', partition: 0 }
  const resumed = client.subscribe({ cursor: third!.cursor })
  expect((await resumed.next()).value).toMatchObject(replaced)
  await resumed.return()

  // The new log has grown past the position of the cursor.
  await runtime.advance(1)
  for (let i = 0; i < 5; i++) await client.submit(plain, i)
  await store.trimEvents('fp:0', 0, 4)

  const items = await take(client.subscribe({ cursor: third!.cursor }), 5)
  expect(items[0]).toMatchObject(replaced)
  expect(items.map((item) => (item.kind === 'event' ? item.event.sequence : item.kind))).toEqual([
    'log_replaced',
    2,
    3,
    4,
    5,
  ])
  // Cursors of the new log are accepted.
  const [again] = await take(client.subscribe({ cursor: items[2]!.cursor }), 1)
  expect(again).toMatchObject({ kind: 'event', event: { sequence: 4 } })
})

test('a subscription whose log is replaced while it follows reports that, and yields the new log from its start', async () => {
  const runtime = virtualRuntime()
  const store = new UnsteadyStore(runtime)
  await using client = new Client(store, runtime)
  for (let i = 0; i < 3; i++) await client.submit(plain, i)
  const items = client.subscribe({ fromStart: true })
  for (let i = 0; i < 3; i++) await items.next()

  store.forget()
  await runtime.advance(1)
  for (let i = 0; i < 5; i++) await client.submit(plain, i)
  const rest = take(items, 6)
  await runtime.advance(EVENT_SWEEP_MS)

  expect((await rest).map((item) => (item.kind === 'event' ? item.event.sequence : item.kind))).toEqual([
    'log_replaced',
    1,
    2,
    3,
    4,
    5,
  ])
})

test('a subscription that does not follow ends also if its log is replaced while it reads', async () => {
  const runtime = virtualRuntime()
  const store = new UnsteadyStore(runtime)
  await using client = new Client(store, runtime)
  // More than one page.
  await Promise.all(Array.from({ length: 300 }, (_, i) => client.submit(plain, i)))
  const items = client.subscribe({ fromStart: true, follow: false })
  await items.next()
  store.forget()

  const kinds: string[] = []
  for await (const { kind } of items) kinds.push(kind)
  expect(kinds.at(-1)).toBe('log_replaced')
})

test('every type in the logs of executions is in a family', () => {
  const inOtherLogs = /^(worker|lane|budget)_/
  const covered = typesOf(eventFamilyNames)
  expect(eventTypes.filter((type) => !inOtherLogs.test(type) && !covered.includes(type))).toEqual([])
})

test('waiting for a result rejects with the failure that ends the reading of events', async () => {
  const { client, runtime } = createClient()
  await using _ = client
  const { store } = client
  const execution = await client.submit(plain, 1)
  const waiting = execution.wait()
  const failed = expect(waiting).rejects.toMatchObject({ code: 'corruption' })
  await runtime.advance(0)

  store.readEvents = () => Promise.reject(new EngineError('corruption'))
  await runtime.advance(EVENT_SWEEP_MS)

  await failed
})

test('all waiters of a result are notified', async () => {
  const { client, runtime } = createClient()
  await using _ = client
  const execution = await client.submit(plain, 1)
  const waits = Array.from({ length: 50 }, () => client.execution(execution.id).wait())
  await runtime.advance(0)

  await execution.cancel('enough')

  for (const description of await Promise.all(waits))
    expect(description).toMatchObject({ state: 'cancelled', reason: 'enough' })
})

test('waiting for a result rejects with `aborted` when its signal aborts', async () => {
  const { client } = createClient()
  await using _ = client
  const execution = await client.submit(plain, 1)
  const abort = new AbortController()
  const waiting = execution.result({ signal: abort.signal })

  abort.abort(new Error('the request was closed'))

  await expect(waiting).rejects.toMatchObject({ code: 'aborted', cause: { message: 'the request was closed' } })
})

test('a result that never comes because the execution ended otherwise is an error with its outcome', async () => {
  const { client } = createClient()
  await using _ = client
  const execution = await client.submit(plain, 1)
  await execution.cancel('the user closed the tab')

  await expect(execution.result()).rejects.toMatchObject({
    name: 'ExecutionEndedError',
    outcome: 'cancelled',
    code: 'execution_cancelled',
  })
  await expect(execution.result()).rejects.toThrow('the user closed the tab')
})

test('a subscription that is left while events are on their way ends all the same', async () => {
  const runtime = virtualRuntime()
  const store = new UnsteadyStore(runtime)
  await using client = new Client(store, runtime)
  const abort = new AbortController()
  const next = client.subscribe({ fromStart: true, signal: abort.signal }).next()
  await runtime.advance(0)
  const hold = Promise.withResolvers<undefined>()
  store.hold = hold.promise
  await client.submit(plain, 1)
  await runtime.advance(0)

  abort.abort()
  hold.resolve(undefined)

  expect(await next).toEqual({ done: true, value: undefined })
})

test('a type of event that does not exist is refused at the call', () => {
  const { client } = createClient()

  expect(() => client.subscribe({ types: ['execution_finished' as never] })).toThrow('execution_ended')
})

test('a subscription over several partitions sees the events of all of them, each once', async () => {
  const { client } = createClient(8)
  const items = client.subscribe({ types: ['execution_created'] })
  const submitted = await Promise.all(Array.from({ length: 40 }, (_, i) => client.submit(plain, i)))

  const seen = (await take(items, 40)).map((item) => (item.kind === 'event' ? item.event.executionId : item.kind))

  expect(seen.sort()).toEqual(submitted.map((execution) => execution.id).sort())
  await client.close()
})
