import { describe, expect, test } from 'vitest'
import { WORKERS_INDEX, timersIndex } from '../../src/kernel/index.ts'
import type { OperationResult, ReconcileCursor, Worker } from '../../src/kernel/index.ts'
import { STORE_PARTITION, allPartitions, limitPartition } from '../../src/stores/partitions.ts'
import { conformsOnServers } from './harness.ts'

type ReconcileResult = OperationResult<'reconcileIndexes'>

const DUE = { limit: 100, seed: 1, family: 'm' } as const

conformsOnServers('a partition of another family', ({ fabric, clock, given }) => {
  function worker(id: string, heartbeatAt: number): Worker {
    return {
      type: 'worker',
      id,
      workerId: 'pool',
      bootId: 'first',
      namespace: 'default',
      state: { phase: 'running' },
      lanes: ['default'],
      tasks: [{ name: 'greet', version: undefined }],
      capabilities: [],
      slots: 4,
      runningCount: 1,
      host: 'here',
      pid: 7,
      version: '0.0.0',
      startedAt: heartbeatAt,
      registeredAt: heartbeatAt,
      heartbeatAt,
      ttlMs: 1_000,
      leaseTtlMs: 1_000,
      drain: undefined,
      sweptAt: undefined,
    }
  }

  test('has its own records, indexes and events', async () => {
    await given.executions(1)
    const before = await fabric.dump()
    await fabric.plant(worker('one', clock.now()), STORE_PARTITION)
    clock.advance(1_000)
    await fabric.runIn(STORE_PARTITION, 'runDue', DUE)

    const { records, entries, events } = await fabric.dump(STORE_PARTITION)

    expect(records).toMatchObject([{ type: 'worker', id: 'one', state: { phase: 'lost', silentMs: 1_000 } }])
    expect(entries.map(({ index }) => index)).toContain(WORKERS_INDEX)
    expect(events).toMatchObject([{ sequence: 1, type: 'worker_lost', executionId: 'one', workerId: 'pool' }])
    expect(await fabric.store.readEvents(STORE_PARTITION, 0, 10)).toMatchObject({ firstSequence: 1, lastSequence: 1 })
    expect(await fabric.dump()).toEqual(before)
    for (const other of allPartitions(fabric.store.settings)) {
      if (other === STORE_PARTITION || other === fabric.partition) continue
      expect(await fabric.dump(other)).toEqual({ records: [], entries: [], blobKeys: [], events: [] })
    }
  })

  test('has a due pass, which finds nothing before the time has come and names the next timer', async () => {
    await fabric.plant(worker('later', clock.now() + 500), STORE_PARTITION)
    await fabric.plant(worker('one', clock.now()), STORE_PARTITION)

    clock.advance(999)
    const early = await fabric.runIn(STORE_PARTITION, 'runDue', DUE)
    clock.advance(1)
    const [first, second] = await Promise.all([
      fabric.runIn(STORE_PARTITION, 'runDue', DUE),
      fabric.runIn(STORE_PARTITION, 'runDue', DUE),
    ])

    expect(early).toMatchObject({ handled: [], nextDueAt: clock.now() })
    expect([...first.handled, ...second.handled]).toEqual([{ case: 'worker_expiry', executionId: 'one' }])
    expect((await fabric.runIn(STORE_PARTITION, 'runDue', DUE)).nextDueAt).toBe(clock.now() + 500)
  })

  test('handles more due records than one pass has room for in further passes', async () => {
    for (let i = 0; i < 25; i++) await fabric.plant(worker(`worker ${i}`, clock.now()), STORE_PARTITION)
    clock.advance(1_000)

    const counts: number[] = []
    for (let next = true; next;) {
      const pass = await fabric.runIn(STORE_PARTITION, 'runDue', DUE)
      counts.push(pass.handled.length)
      next = pass.next !== undefined
    }

    expect(counts.reduce((sum, count) => sum + count, 0)).toBe(25)
  })

  test('has its index entries repaired', async () => {
    for (const id of ['late', 'lost', 'fine']) await fabric.plant(worker(id, clock.now()), STORE_PARTITION)
    await fabric.setEntry(timersIndex('worker'), 'late', 5, STORE_PARTITION)
    await fabric.setEntry(timersIndex('worker'), 'lost', undefined, STORE_PARTITION)
    await fabric.setEntry(timersIndex('worker'), 'gone', 5, STORE_PARTITION)
    await fabric.setEntry(WORKERS_INDEX, '3-gone', 0, STORE_PARTITION)

    const problems: string[] = []
    let cursor: ReconcileCursor | undefined
    do {
      const page: ReconcileResult = await fabric.runIn(STORE_PARTITION, 'reconcileIndexes', { family: 'm', cursor })
      problems.push(...page.repaired.map(({ problem, id }) => `${problem} ${id}`))
      cursor = page.cursor
    } while (cursor !== undefined)

    expect(problems.sort()).toEqual([
      'extra_entry 3-gone',
      'extra_entry gone',
      'missing_entry lost',
      'wrong_score late',
    ])
  })

  test('can be inspected, purged and trimmed like any other', async () => {
    await fabric.plant(worker('one', clock.now()), STORE_PARTITION)
    clock.advance(1_000)
    await fabric.runIn(STORE_PARTITION, 'runDue', DUE)

    expect(await fabric.runIn(STORE_PARTITION, 'inspectPartition', { limit: 10 })).toMatchObject({ executions: 0 })
    expect(await fabric.runIn(STORE_PARTITION, 'purgeExecutions', {})).toMatchObject({ purged: [], purgedFlows: [] })
    expect(await fabric.store.trimEvents(STORE_PARTITION, clock.now() + 1, 0)).toBe(1)
    expect((await fabric.dump(STORE_PARTITION)).events).toEqual([])
  })

  test('is the same for all processes, and limits are spread over theirs', () => {
    const { settings } = fabric.store
    const names = Array.from({ length: 100 }, (_, i) => `limit ${i}`)

    const used = new Set(names.map((name) => limitPartition(name, settings)))

    expect([...used].sort()).toEqual(allPartitions(settings).filter((partition) => partition.startsWith('q:')))
    expect(limitPartition('openai', { ...settings, limitPartitions: 4 })).toBe('q:3')
  })
})

describe('the partitions of a store', () => {
  test('are those of executions, of limits, and one of the store', () => {
    const settings = { executionPartitions: 2, limitPartitions: 3, indexedTags: [] }

    expect(allPartitions(settings)).toEqual(['fp:0', 'fp:1', 'q:0', 'q:1', 'q:2', 'm:0'])
  })
})
