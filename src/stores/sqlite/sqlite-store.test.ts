import { rmSync } from 'node:fs'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { recordTypes } from '../../kernel/index.ts'
import { virtualRuntime } from '../../runtime/index.ts'
import { eventColumns, recordColumns } from '../sql/columns.ts'
import type { EngineError } from '../../kernel/engine-error.ts'
import { PARTITION, call, claim, claimAll, creation, kindsOf, problemsOf, run, submit } from '../store.fixture.ts'
import { STORE_PARTITION, allPartitions } from '../partitions.ts'
import type { Wake } from '../store.ts'
import { WATCH_INTERVAL_MS } from './file/file-watch.ts'
import { fileWorld } from './sqlite.fixture.ts'
import type { FileWorld } from './sqlite.fixture.ts'

let world: FileWorld

beforeEach(() => {
  world = fileWorld()
})

afterEach(() => world.close())

const bytes = (text: string) => new TextEncoder().encode(text)

test('a whole life survives closing and opening the file', async () => {
  const first = await world.open()
  const input = creation({ payload: { blob: 0, size: 5, encoding: 'bytes' }, key: 'greeting' })
  await first.run(PARTITION, [call('createExecution', input, bytes('hello'))])
  const { executions } = await run(first, 'claimForWorker', claim())
  const result = { blob: 0, size: 3, encoding: 'bytes' as const }
  await run(first, 'completeExecution', { ...executions[0]!, result }, bytes('bye'))
  const before = await first.dump(PARTITION)
  await first.close()

  const second = await world.open()
  const [described] = await second.run(PARTITION, [
    call('describeExecution', { executionId: input.executionId, payload: true, result: true }),
  ])

  expect(described).toMatchObject({ kind: 'answered', result: { state: 'completed' } })
  expect(described?.kind === 'answered' && described.blobs.map((blob) => new TextDecoder().decode(blob))).toEqual([
    'hello',
    'bye',
  ])
  expect(await second.dump(PARTITION)).toEqual(before)
  expect(before.events.map((event) => [event.sequence, event.type])).toEqual([
    [1, 'execution_created'],
    [2, 'attempt_started'],
    [3, 'execution_ended'],
  ])
  expect(problemsOf(before)).toEqual([])
})

test('a person can query what executions do', async () => {
  const store = await world.open()
  await submit(store, { key: 'one', priority: 7, lane: 'main' })
  await submit(store, { key: 'two', delayMs: 60_000 })
  const { executions } = await run(store, 'claimForWorker', claim())
  await run(store, 'failExecution', {
    ...executions[0]!,
    failure: { category: 'network', message: 'no route', stack: undefined },
    seed: 1,
  })

  const rows = world
    .connect()
    .prepare('select key, state, priority, worker_id, failure_message from execution order by key')
    .all()

  expect(rows.map((row) => ({ ...row }))).toEqual([
    { key: 'one', state: 'failed', priority: 7, worker_id: 'worker', failure_message: 'no route' },
    { key: 'two', state: 'delayed', priority: 0, worker_id: null, failure_message: null },
  ])
})

test('each table has the columns that the records are described with', async () => {
  await world.open()
  const connection = world.connect()
  const columnsOf = (table: string) =>
    connection
      .prepare(`select name, lower(type) as type from pragma_table_info('${table}') order by name`)
      .all()
      .map((row) => `${String(row['name'])} ${String(row['type'])}`)
  const described = (columns: readonly { name: string; type: string }[]) =>
    columns.map((column) => `${column.name} ${column.type}`)

  for (const type of recordTypes) {
    const own = ['id text', 'partition integer', 'record text']
    expect(columnsOf(type)).toEqual([...described(recordColumns[type]), ...own].sort())
  }
  const own = ['partition integer', 'record text', 'sequence integer']
  expect(columnsOf('event')).toEqual([...described(eventColumns), ...own].sort())
})

test('the tables refuse a state that contradicts itself', async () => {
  const store = await world.open()
  await submit(store)
  const connection = world.connect()

  expect(() => connection.exec(`update execution set state = 'active'`)).toThrow(/CHECK/)
  expect(() => connection.exec(`update execution set state = 'completed'`)).toThrow(/CHECK/)
  expect(() => connection.exec(`update execution set ended_at = 1`)).toThrow(/CHECK/)
  expect(() => connection.exec(`update execution set state = 'gone'`)).toThrow(/CHECK/)
})

test('an operation whose rows are refused fails alone', async () => {
  const store = await world.open()
  await submit(store)
  world.connect().exec(`
    create trigger refuse_bad before insert on execution when new.key = 'bad'
    begin select raise(abort, 'bad is refused'); end`)
  const good = [creation(), creation(), creation()]
  const bad = creation({ key: 'bad' })

  const answers = await store.run(PARTITION, [
    call('createExecution', good[0]!),
    call('createExecution', bad),
    call('createExecution', good[1]!),
    call('createExecution', good[2]!),
  ])

  expect(kindsOf(answers)).toEqual(['created', 'fault', 'created', 'created'])
  expect(answers[1]).toEqual({ kind: 'fault', reason: 'bad is refused', recordId: bad.executionId })
  const dump = await store.dump(PARTITION)
  expect(dump.records.map((record) => record.id)).not.toContain(bad.executionId)
  expect(dump.events).toHaveLength(4)
  expect(problemsOf(dump)).toEqual([])
})

test('an operation that is refused when it comes alone is at fault too', async () => {
  const store = await world.open()
  await submit(store)
  world.connect().exec(`create trigger refuse before insert on event begin select raise(abort, 'no events'); end`)

  expect(await store.run(PARTITION, [call('createExecution', creation())])).toMatchObject([
    { kind: 'fault', reason: 'no events' },
  ])
})

test('the event log is trimmed by age and by count, and sequences continue', async () => {
  const runtime = virtualRuntime()
  const store = await world.open({ runtime })
  for (let i = 0; i < 4; i++) {
    await submit(store)
    runtime.jump(1_000)
  }
  const start = runtime.now() - 4_000

  expect(await store.trimEvents(PARTITION, start + 1, 100)).toBe(1)
  expect(await store.readEvents(PARTITION, 0, 100)).toMatchObject({ firstSequence: 2, lastSequence: 4 })
  expect(await store.trimEvents(PARTITION, 0, 2)).toBe(1)
  const page = await store.readEvents(PARTITION, 3, 1)
  expect([page.firstSequence, page.events.map((event) => event.sequence)]).toEqual([3, [4]])
  expect(await store.trimEvents(PARTITION, 0, 2)).toBe(0)
  expect(await store.trimEvents(PARTITION, runtime.now(), 0)).toBe(2)
  expect(await store.readEvents(PARTITION, 0, 100)).toEqual({ events: [], firstSequence: 5, lastSequence: 4 })
  await submit(store)
  expect(await store.readEvents(PARTITION, 0, 100)).toMatchObject({ firstSequence: 5, lastSequence: 5 })
})

test('more events than one transaction drops are trimmed in steps', async () => {
  const store = await world.open()
  await submit(store)
  world.connect().exec(`
    with recursive number (n) as (select 2 union all select n + 1 from number where n < 11000)
    insert into event (partition, sequence, at, type, execution_id, namespace, task, lane, record)
    select partition, n, at, type, execution_id, namespace, task, lane, record from event, number;
    update partition set last_sequence = 11000`)

  expect(await store.trimEvents(PARTITION, 0, 10)).toBe(10_990)
  expect(await store.readEvents(PARTITION, 0, 1)).toMatchObject({ firstSequence: 10_991, lastSequence: 11_000 })
})

test('a partition that was never written reads as empty', async () => {
  const store = await world.open()

  expect(await store.readEvents(PARTITION, 0, 10)).toEqual({ events: [], firstSequence: 1, lastSequence: 0 })
  expect(await store.dump(PARTITION)).toEqual({ records: [], entries: [], blobKeys: [], events: [] })
  expect(await store.trimEvents(PARTITION, 0, 0)).toBe(0)
})

test('damaged indexes are repaired, also where an id stands twice', async () => {
  const store = await world.open()
  const ids = [await submit(store), await submit(store), await submit(store)]
  await claimAll(store)
  const connection = world.connect()
  connection.exec(
    `insert into entry (partition, name, score, id) select partition, name, score + 5, id from entry where id = '${ids[0]!}'`,
  )
  connection.exec(`delete from entry where id = '${ids[1]!}' and name <> 'created'`)
  connection.exec(`update entry set score = score - 9 where id = '${ids[2]!}'`)
  connection.exec(`insert into entry (partition, name, score, id) values (1, 'due', 1, 'ghost')`)
  expect(problemsOf(await store.dump(PARTITION))).not.toEqual([])

  for (let pass = 0; pass < 2; pass++) {
    let { cursor } = await run(store, 'reconcileIndexes', {})
    while (cursor !== undefined) cursor = (await run(store, 'reconcileIndexes', { cursor })).cursor
  }

  expect(problemsOf(await store.dump(PARTITION))).toEqual([])
})

test.each(['nonsense', '[]', '["0-1"]'])(
  'a record that reads %s does not block the others, and is named by calls that read it',
  async (record) => {
    const store = await world.open()
    const damaged = await submit(store, { priority: 10 })
    const healthy = await submit(store)
    world.connect().prepare('update execution set record = ? where id = ?').run(record, damaged)

    const { executions } = await run(store, 'claimForWorker', claim())
    const [asked] = await store.run(PARTITION, [call('describeExecution', { executionId: damaged })])

    expect(executions.map((execution) => execution.executionId)).toEqual([healthy])
    expect(asked).toEqual({ kind: 'fault', reason: 'the record cannot be read', recordId: damaged })
  },
)

test('writes of this store wake its listeners with the queue and the timer that they concern', async () => {
  const runtime = virtualRuntime()
  const store = await world.open({ runtime })
  const wakes: Wake[] = []
  store.onWake((wake) => wakes.push(wake))

  await submit(store)
  await submit(store, { delayMs: 5_000 })

  expect(wakes).toMatchObject([
    { partition: PARTITION, ready: ['ready\u001fmain\u001fgreet'], hasEvents: true },
    { partition: PARTITION, ready: [], dueAt: runtime.now() + 5_000, hasEvents: true },
  ])
})

test('a store is woken by writes of another store to the same file', async () => {
  const [writing, listening] = [await world.open(), await world.open()]
  const heard = new Promise<Wake>((resolve) => void listening.onWake(resolve))

  await submit(writing)

  expect(await heard).toEqual({ partition: PARTITION, hasEvents: true })
})

test('a commit of another store without news wakes nothing', async () => {
  const runtime = virtualRuntime()
  const [writing, listening] = [await world.open(), await world.open({ runtime })]
  await submit(writing)
  const wakes: Wake[] = []
  listening.onWake((wake) => wakes.push(wake))

  const partitions = allPartitions(writing.settings)
  await writing.run(STORE_PARTITION, [call('renewDuties', { engineId: 'other', ttlMs: 60_000, partitions })])
  await writing.recordFacts('retired_key', ['k1'])
  await runtime.advance(WATCH_INTERVAL_MS)
  expect(wakes).toEqual([])

  await submit(writing)
  await runtime.advance(WATCH_INTERVAL_MS)
  expect(wakes).toEqual([{ partition: PARTITION, hasEvents: true }])
})

test('a commit of another store that sets a timer without an event is news', async () => {
  const runtime = virtualRuntime()
  const [writing, listening] = [await world.open(), await world.open({ runtime })]
  await submit(writing)
  const { executions } = await run(writing, 'claimForWorker', claim())
  const wakes: Wake[] = []
  listening.onWake((wake) => wakes.push(wake))

  for (let renewal = 1; renewal <= 2; renewal++) {
    await run(writing, 'renewLease', { ...executions[0]!, leaseTtlMs: 60_000 * renewal })
    await runtime.advance(WATCH_INTERVAL_MS)
    expect(wakes).toHaveLength(renewal)
  }
})

test('a commit while nothing listens does not wake a later listener', async () => {
  const runtime = virtualRuntime()
  const [writing, listening] = [await world.open(), await world.open({ runtime })]
  listening.onWake(() => undefined)()
  await submit(writing)
  const wakes: Wake[] = []
  listening.onWake((wake) => wakes.push(wake))
  await runtime.advance(WATCH_INTERVAL_MS)
  expect(wakes).toEqual([])

  await submit(writing)
  await runtime.advance(WATCH_INTERVAL_MS)
  expect(wakes).toHaveLength(1)
})

test('a file is watched only while there are listeners', async () => {
  const runtime = virtualRuntime()
  const store = await world.open({ runtime })
  const idle = runtime.nextTimerAt()

  const stops = [store.onWake(() => undefined), store.onWake(() => undefined)]
  stops[0]!()
  expect(runtime.nextTimerAt()).toBeLessThan(idle!)
  stops[1]!()
  expect(runtime.nextTimerAt()).toBe(idle)
})

test('how much survives a power failure is a setting, and is reported as it is', async () => {
  const normal = await world.open()
  expect(await normal.report()).toMatchObject({ kind: 'sqlite', location: world.file, warnings: [] })
  expect((await normal.report()).durability).toContain('synchronous normal')
  await world.settle()

  const full = await world.open({ synchronous: 'full' })
  expect((await full.report()).durability).toContain('synchronous full')
  await submit(full)
  expect((await full.dump(PARTITION)).events).toHaveLength(1)
})

test('a file that was removed under a store is reported', async () => {
  const store = await world.open()
  rmSync(world.file)

  expect((await store.report()).warnings).toEqual([expect.stringContaining('was removed')])
})

test.each(['removed', 'replaced'])('nothing is acknowledged into a file that was %s', async (how) => {
  const runtime = virtualRuntime()
  const store = await world.open({ runtime })
  await submit(store)
  for (const suffix of ['', '-wal', '-shm']) rmSync(world.file + suffix, { force: true })
  if (how === 'replaced') await world.open()
  await runtime.advance(1_000)

  await expect(submit(store)).rejects.toMatchObject({ code: 'store_unavailable' })
})

test('a store in memory works like a file and warns that nothing is kept', async () => {
  const store = await world.open({ file: ':memory:' })
  const id = await submit(store)

  expect(await run(store, 'describeExecution', { executionId: id })).toMatchObject({ state: 'waiting' })
  expect(problemsOf(await store.dump(PARTITION))).toEqual([])
  expect((await store.report()).warnings).toHaveLength(1)
})

test('closing finishes what was begun and refuses what comes later', async () => {
  const store = await world.open()
  const begun = [submit(store), submit(store)]

  await Promise.all([store.close(), store.close()])

  await Promise.all(begun)
  const refusal = await submit(store).catch((error: unknown) => error as EngineError)
  expect(refusal).toMatchObject({ code: 'fabric_closed' })
  store.onWake(() => expect.fail('a closed store must not wake listeners'))()
  const again = await world.open()
  expect((await again.dump(PARTITION)).events).toHaveLength(2)
})
