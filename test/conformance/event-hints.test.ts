/** A reader of the event log that needs few events gets few: stores examine the others themselves. */
import { expect, test } from 'vitest'
import { task } from '../../src/client/index.ts'
import type { EventFilterOptions } from '../../src/client/index.ts'
import { isWanted } from '../../src/client/events/event-filter.ts'
import { logPartitions } from '../../src/stores/partitions.ts'
import { EVENT_SCAN_MAX } from '../../src/stores/store.ts'
import type { EventHint, StoredEvent } from '../../src/stores/store.ts'
import { conforms, conformsOnServers } from './harness.ts'
import type { Bench } from './harness.ts'
import { metered } from './metered-store.ts'
import { Working } from './working.ts'

/** All pages of a reader with a hint, and how many events they have. */
async function readHinted({ fabric }: Bench, hint: EventHint, limit: number) {
  const found = new Map<number, StoredEvent>()
  let transferred = 0
  for (let after = 0; ;) {
    const { events, lastSequence } = await fabric.store.readEvents(fabric.partition, after, limit, hint)
    expect(events.length).toBeLessThanOrEqual(limit)
    transferred += events.length
    for (const event of events) found.set(event.sequence, event)
    after = events.at(-1)?.sequence ?? lastSequence
    if (after >= lastSequence) return { found: [...found.values()], transferred }
  }
}

const texts = ['bill', 'it\'s "50 %" \\ of \u0000 it', 'ä€😀', '0198d5b0-3c52-7e1c-9d5a-0123456789ab', 'x'.repeat(200)]

conformsOnServers('events by a hint', (bench) => {
  const { fabric, given } = bench

  test('every event that matches is returned, unchanged and once, for any text', async () => {
    const ids: string[] = []
    for (const text of texts) {
      for (let i = 0; i < 3; i++) {
        const { executionId } = await given.eligibleExecution({
          lane: text.replace('\u0000', ''),
          tags: [{ name: 'tag', value: text, indexed: false }],
        })
        ids.push(executionId)
      }
      await given.endedExecution('completed')
    }
    const { events: all } = await fabric.store.readEvents(fabric.partition, 0, 1_000)
    const hints: EventHint[] = [
      ...[...texts, 'tag', ids[4]!, 'nothing'].map((text) => ({ texts: [text] })),
      { types: ['execution_ended'], texts: [] },
      { types: ['execution_created', 'execution_ended'], texts: [texts[1]!, 'tag'] },
      { types: [], texts: [] },
      { types: ['a_later_type'], texts: [] },
    ]
    for (const hint of hints) {
      const wanted = all.filter(
        (event) =>
          (hint.types?.includes(event.type) ?? true) &&
          hint.texts.every((text) => [event.lane, event.executionId, ...event.tags].includes(text)),
      )
      for (const limit of [1, 2, 7, 100]) {
        const { found } = await readHinted(bench, hint, limit)
        expect(found).toEqual(expect.arrayContaining(wanted))
        expect(all).toEqual(expect.arrayContaining(found))
        if (limit === 100) expect(found.length).toBeLessThanOrEqual(wanted.length + 2)
      }
    }
  })

  test('the first and the last event examined are returned, also after a trim and beyond the end', async () => {
    await given.executions(30)
    const hint = { texts: ['nothing'] }
    const read = async (after: number, limit = 10) => {
      const page = await fabric.store.readEvents(fabric.partition, after, limit, hint)
      return { ...page, events: page.events.map(({ sequence }) => sequence) }
    }
    expect(await read(0)).toEqual({ events: [1, 30], firstSequence: 1, lastSequence: 30 })
    expect(await read(28)).toEqual({ events: [29, 30], firstSequence: 1, lastSequence: 30 })
    expect(await read(29)).toEqual({ events: [30], firstSequence: 1, lastSequence: 30 })
    expect(await read(30)).toEqual({ events: [], firstSequence: 1, lastSequence: 30 })
    expect(await read(3, 1)).toEqual({ events: [4], firstSequence: 1, lastSequence: 30 })
    await fabric.store.trimEvents(fabric.partition, 0, 20)
    expect(await read(0)).toEqual({ events: [11, 30], firstSequence: 11, lastSequence: 30 })
  })
})

const plain = task<number, number>('plain')
const rare = task<number, number>('rare')

conforms('a subscription with a narrow filter', ({ fabric }) => {
  test('transfers few of the events of a long log', async () => {
    const { meter, proxy } = metered(fabric.store)
    await using working = new Working(fabric, {}, proxy)
    const { client } = working
    const total = EVENT_SCAN_MAX + 500
    for (let sent = 0; sent < total; sent += 250) {
      await working.until(
        client.submitMany(
          plain,
          Array.from({ length: 250 }, (_, i) => ({ input: i })),
        ),
      )
      if (sent === 1_000) await working.until(client.submit(rare, 1, { tags: { plan: 'pro' } }))
    }
    const { settings } = fabric.store
    const ends = await Promise.all(logPartitions(settings).map((one) => fabric.store.readEvents(one, 0, 1)))
    expect(ends.reduce((sum, { lastSequence }) => sum + lastSequence, 0)).toBe(total + 1)
    meter.events = 0
    meter.reads = 0
    const filters: EventFilterOptions[] = [
      { task: 'rare' },
      { tag: { name: 'plan', value: 'pro' } },
      { types: ['execution_created'], task: 'rare' },
    ]
    for (const filter of filters) {
      let count = 0
      for await (const item of client.subscribe({ ...filter, fromStart: true, follow: false })) {
        if (item.kind === 'event' && isWanted(item.event, { task: 'rare' })) count += 1
      }
      expect(count).toBe(1)
    }
    // The ends of each log are read before, and each page has its first and its last event.
    expect(meter.events).toBeLessThan(filters.length * ends.length * 10)
  })
})
