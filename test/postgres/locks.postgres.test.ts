/** Lock waits: writers of one partition wait for each other, for a bounded time; readers never wait. */
import { describe, expect, test } from 'vitest'
import { systemRuntime } from '../../src/runtime/index.ts'
import { PARTITION, call, kindsOf, run, submit } from '../../src/stores/store.fixture.ts'
import { executionPartition } from '../../src/stores/store.ts'
import { versions } from './places.ts'
import { ONE_TRANSACTION, createIn, holdLock, newStore, runInEach } from './store-place.ts'

/** Enough for a busy machine to answer a call that waits for no lock. */
const PATIENCE_MS = 3_000

describe.each(versions)('writers on %s', (version) => {
  test('that wait too long for the lock of a partition are refused as busy, and succeed later', async () => {
    const place = await newStore(version, 'partitions=2', { postgres: { requestTimeoutMs: PATIENCE_MS } })
    const { store, query } = place
    await holdLock(place, 0)

    const refused = store.run(executionPartition(0), [createIn(0)])
    expect(kindsOf(await store.run(executionPartition(1), [createIn(1)]))).toEqual(['created'])
    await expect(refused).rejects.toMatchObject({ code: 'store_busy' })

    await query('commit')
    await submit(store)
    expect((await store.dump(PARTITION)).events).toHaveLength(1)
  })

  test('of several partitions share a transaction', async () => {
    const { store, query } = await newStore(version, 'partitions=4', ONE_TRANSACTION)

    const answers = await runInEach(
      store,
      [0, 1, 2, 3].map((number) => [createIn(number), createIn(number)]),
    )

    expect(answers.map(kindsOf)).toEqual(Array.from({ length: 4 }, () => ['created', 'created']))
    expect(await query('select count(*) as rows, count(distinct xmin::text) as transactions from event_batch')).toEqual(
      [{ rows: 4, transactions: 1 }],
    )
  })

  test('of several partitions in any order do not meet in a deadlock', async () => {
    const { store, openAnother, query } = await newStore(version, 'partitions=4', ONE_TRANSACTION)
    const other = await openAnother(ONE_TRANSACTION)
    const forth = [0, 1, 2, 3]
    const back = forth.toReversed()

    const rounds = [
      { writer: store, order: forth },
      { writer: other, order: back },
    ].map(async ({ writer, order }) => {
      for (let round = 0; round < 40; round++) {
        const batches = order.map((number) => writer.run(executionPartition(number), [createIn(number)]))
        for (const answers of await Promise.all(batches)) expect(kindsOf(answers)).toEqual(['created'])
      }
    })
    await Promise.all(rounds)

    expect(await query('select count(*) as executions from execution')).toEqual([{ executions: 2 * 40 * 4 }])
    expect(
      await query('select min(last_sequence) as least, max(last_sequence) as most from partition where number < 4'),
    ).toEqual([{ least: 80, most: 80 }])
  })
})

/** Longer than a transaction may be idle. */
const STANDSTILL_MS = 5_600

/** Does nothing at all, as a process does that is stopped. */
function standStill(): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, STANDSTILL_MS)
}

describe.each(versions)('a process that stands still inside a transaction on %s', (version) => {
  test('while it computes runs its batch again', async () => {
    let isStill = false
    const now = () => {
      if (isStill) standStill()
      isStill = false
      return Date.now()
    }
    const { store } = await newStore(version, 'partitions=1', {
      clock: 'runtime',
      runtime: { ...systemRuntime(), now },
    })
    await submit(store)

    isStill = true
    await submit(store)

    expect((await store.dump(PARTITION)).events).toHaveLength(2)
  })
})

describe.each(versions)('readers on %s', (version) => {
  test('do not wait for a writer that holds the lock and has not committed', async () => {
    const place = await newStore(version, 'partitions=1', { postgres: { requestTimeoutMs: PATIENCE_MS } })
    const { store, query } = place
    const executionId = await submit(store)
    await holdLock(place, 0)
    await query(`update execution set record = 'nonsense'`)
    await query('delete from event_batch')
    await query('delete from entry')

    const answers = await store.run(PARTITION, [
      call('describeExecution', { executionId, attempts: true, payload: true }),
      call('explainExecution', { executionId }),
      call('listExecutions', { limit: 10 }),
      call('countExecutions', {}),
      call('inspectPartition', { limit: 10 }),
    ])

    expect(kindsOf(answers)).toEqual(['described', 'explained', 'listed', 'counted', 'inspected'])
    expect(await store.readEvents(PARTITION, 0, 10)).toMatchObject({ events: [{ sequence: 1 }] })
    expect(await store.trimEvents(PARTITION, 0, 10)).toBe(0)
    await store.report()
    await query('rollback')
  })

  test('keep no writer waiting', async () => {
    const { store, query } = await newStore(version, 'partitions=1', { postgres: { requestTimeoutMs: PATIENCE_MS } })
    const executionId = await submit(store)
    await query('begin isolation level repeatable read, read only')
    expect(await query('select state from execution')).toEqual([{ state: 'waiting' }])

    await run(store, 'cancelExecution', { executionId, reason: 'no', by: 'me', force: true, graceMs: 0 })

    expect(await query('select state from execution')).toEqual([{ state: 'waiting' }])
    await query('commit')
    expect(await query('select state from execution')).toEqual([{ state: 'cancelled' }])
  })
})
