import { expect, test } from 'vitest'
import type { StoredEvent } from '../../src/stores/store.ts'
import type { Bench } from './harness.ts'
import { conformsOnServers } from './harness.ts'

async function readAll({ fabric }: Bench, limit: number): Promise<StoredEvent[]> {
  const events: StoredEvent[] = []
  for (;;) {
    const page = await fabric.store.readEvents(fabric.partition, events.at(-1)?.sequence ?? 0, limit)
    events.push(...page.events)
    if (page.events.length === 0) return events
  }
}

conformsOnServers('the event log', (bench) => {
  const { fabric, given, clock } = bench

  test('of a partition where nothing happened is empty', async () => {
    expect(await fabric.store.readEvents(fabric.partition, 0, 10)).toEqual({
      events: [],
      firstSequence: 1,
      lastSequence: 0,
    })
  })

  test('numbers events without a gap, in the order in which they happened', async () => {
    const first = await given.endedExecution('completed')
    const second = await given.eligibleExecution()

    const { events, firstSequence, lastSequence } = await fabric.store.readEvents(fabric.partition, 0, 100)

    expect(events.map(({ sequence, type, executionId }) => [sequence, type, executionId])).toEqual([
      [1, 'execution_created', first.executionId],
      [2, 'attempt_started', first.executionId],
      [3, 'execution_ended', first.executionId],
      [4, 'execution_created', second.executionId],
    ])
    expect([firstSequence, lastSequence]).toEqual([1, 4])
  })

  test('is read page by page, each event once', async () => {
    await given.executions(57)

    const events = await readAll(bench, 10)

    expect(events.map((event) => event.sequence)).toEqual(Array.from({ length: 57 }, (_, i) => i + 1))
  })

  test('read from its end returns nothing, until something happens', async () => {
    await given.executions(3)
    expect((await fabric.store.readEvents(fabric.partition, 3, 10)).events).toEqual([])
    expect((await fabric.store.readEvents(fabric.partition, 99, 10)).events).toEqual([])

    await given.eligibleExecution()

    expect((await fabric.store.readEvents(fabric.partition, 3, 10)).events).toMatchObject([{ sequence: 4 }])
  })

  test('carries what a reader needs to filter without a look-up', async () => {
    const { executionId } = await given.eligibleExecution({
      namespace: 'acme',
      task: 'write',
      lane: 'docs',
      tags: [
        { name: 'plan', value: 'pro', indexed: false },
        { name: 'team', value: 'red', indexed: true },
      ],
    })

    expect((await fabric.store.readEvents(fabric.partition, 0, 10)).events).toMatchObject([
      {
        executionId,
        namespace: 'acme',
        task: 'write',
        lane: 'docs',
        tags: ['plan', 'pro', 'team', 'red'],
        at: clock.now(),
      },
    ])
  })

  test('a refusal leaves no event', async () => {
    const held = await given.abandonedExecution()
    const before = await fabric.events()

    await fabric.run('completeExecution', held)
    await fabric.run('replayExecution', { executionId: held.executionId, requestId: given.requestId() })

    expect(await fabric.events()).toEqual(before)
  })

  test('trimmed by count keeps the newest and returns the first sequence it holds', async () => {
    await given.executions(20)

    expect(await fabric.store.trimEvents(fabric.partition, 0, 5)).toBe(15)

    const page = await fabric.store.readEvents(fabric.partition, 0, 100)
    expect(page.events.map((event) => event.sequence)).toEqual([16, 17, 18, 19, 20])
    expect([page.firstSequence, page.lastSequence]).toEqual([16, 20])
  })

  test('trimmed by age keeps what is not older', async () => {
    await given.executions(5)
    clock.advance(1_000)
    await given.executions(5)

    expect(await fabric.store.trimEvents(fabric.partition, clock.now(), 1_000)).toBe(5)
    expect(await fabric.store.trimEvents(fabric.partition, clock.now(), 1_000)).toBe(0)
    expect((await fabric.store.readEvents(fabric.partition, 0, 100)).firstSequence).toBe(6)
  })

  test('trimmed to nothing keeps counting', async () => {
    await given.executions(5)
    clock.advance(1)

    expect(await fabric.store.trimEvents(fabric.partition, clock.now(), 1_000)).toBe(5)
    expect(await fabric.store.readEvents(fabric.partition, 0, 10)).toEqual({
      events: [],
      firstSequence: 6,
      lastSequence: 5,
    })
    await given.eligibleExecution()
    expect(await fabric.store.readEvents(fabric.partition, 0, 10)).toMatchObject({
      events: [{ sequence: 6 }],
      firstSequence: 6,
      lastSequence: 6,
    })
  })

  test('a reader that comes after a trim sees from the sequence that something is missing', async () => {
    await given.executions(10)
    await fabric.store.trimEvents(fabric.partition, 0, 4)

    const page = await fabric.store.readEvents(fabric.partition, 2, 2)

    expect(page).toMatchObject({ events: [{ sequence: 7 }, { sequence: 8 }], firstSequence: 7, lastSequence: 10 })
  })

  test('trimming takes no record with it', async () => {
    const { executionId } = await given.eligibleExecution()
    clock.advance(1)
    await fabric.store.trimEvents(fabric.partition, clock.now(), 0)

    expect(await fabric.exists(executionId)).toBe(true)
  })
})
