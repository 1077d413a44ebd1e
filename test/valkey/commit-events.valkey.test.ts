/** The events of a commit, and the messages that it sends to listeners. */
import { beforeEach, describe, expect, test } from 'vitest'
import { DUE_INDEX } from '../../src/kernel/index.ts'
import { LEVEL_STEP } from '../../src/stores/valkey/layout/keys.ts'
import { readEventValue } from '../../src/stores/valkey/layout/stored-value.ts'
import { OwnMessages, readWakeMessage } from '../../src/stores/valkey/wire/wake-message.ts'
import { READY, eventsOf, listen } from './commit-effects.ts'
import { locations } from './fabrics.ts'
import { LibraryPartition, PARTITION, SENDER, entry, event, group, jsonForm, put } from './library-calls.ts'

describe.each(['valkey', 'redis'] as const)('on %s, a commit', (program) => {
  let at: LibraryPartition

  beforeEach(async () => {
    at = await LibraryPartition.open(locations()[program])
  })

  describe('with events', () => {
    /** Compares the time of a commit with the server's, and accepts any that is not ahead. */
    const BY_SERVER = { lagMs: 1e13 }
    const write = (id: string, now: number, clock: { lagMs?: number } = BY_SERVER) =>
      at.commit([group({ events: [event('execution_created', id)] })], { now, ...clock })

    test.each([
      ['the server', BY_SERVER],
      ['the caller', {}],
    ])('never stamps one earlier than the newest of the log, by the clock of %s', async (_owner, clock) => {
      const replies = [await write('a', 2_000, clock), await write('b', 1_500, clock), await write('c', 2_500, clock)]

      expect(await eventsOf(at)).toEqual([
        { at: 2_000, id: 'a' },
        { at: 2_000, id: 'b' },
        { at: 2_500, id: 'c' },
      ])
      expect(replies).toMatchObject([
        { lastSequence: 1, eventsAt: 2_000 },
        { lastSequence: 2, eventsAt: 2_000 },
        { lastSequence: 3, eventsAt: 2_500 },
      ])
    })

    test('keeps the time of a caller whose own clock has gone back', async () => {
      await at.commit([group({ events: [event('execution_created', 'a')] })], { now: 2_000 })
      const back = { now: 1_500, isClockBack: true }
      const later = await at.commit([group({ events: [event('execution_created', 'b')] })], back)

      expect(later).toMatchObject({ eventsAt: 1_500 })
      expect(await eventsOf(at)).toEqual([
        { at: 2_000, id: 'a' },
        { at: 1_500, id: 'b' },
      ])
    })

    test('numbers them without gaps, whatever was trimmed', async () => {
      for (let i = 1; i <= 6; i++) await write(`e${i}`, 1_000 * i)

      expect(await at.fcall('trimLog', [3_000, 100, 1])).toBe(1)
      expect(await at.fcall('trimLog', [3_000, 100, 50])).toBe(1)
      expect(await at.fcall('trimLog', [3_000, 100, 50])).toBe(0)
      expect(await at.fcall('trimLog', [0, 3, 50])).toBe(1)
      expect(await write('e7', 7_000)).toMatchObject({ lastSequence: 7 })
      expect(await at.commit([])).toMatchObject({ lastSequence: 7 })

      const [trimmed, count, found] = (await at.fcall('readLog', [4, 2])) as [number, number, Buffer[]]
      expect([trimmed, count]).toEqual([3, 4])
      expect(found.map((value) => readEventValue(value, jsonForm).executionId)).toEqual(['e5', 'e6'])
      expect(await at.fcall('readLog', [7, 5])).toEqual([3, 4, []])
      expect(await at.fcall('readLog', [0, 0])).toEqual([3, 4, []])
    })
  })

  describe('wakes listeners', () => {
    async function wakesOf(...commits: Parameters<LibraryPartition['commit']>[]): Promise<unknown[]> {
      const messages = await listen(at)
      for (const commit of commits) await at.commit(...commit)
      return (await messages()).map((message) => {
        expect(new OwnMessages(SENDER).has(Buffer.from(message))).toBe(true)
        expect(new OwnMessages(`${SENDER}2`).has(Buffer.from(message))).toBe(false)
        return readWakeMessage(PARTITION, Buffer.from(message))
      })
    }
    const adds = (index: string, id: string, score: number) => [group({ entries: [entry(index, id, score)] })]
    const nothing = { partition: PARTITION, ready: [], dueAt: undefined, hasEvents: false, holdersOf: [] }

    test('when a ready index is no longer empty, and not again while it has entries', async () => {
      const other = 'ready\u001fmain\u001f"quoted"'
      const taken = [group({ entries: [entry(READY, 'a', undefined), entry(READY, 'b', undefined)] })]

      const wakes = await wakesOf(
        [adds(READY, 'a', 1)],
        [adds(READY, 'b', 2)],
        [adds('created', 'b', 2)],
        [taken],
        [[...adds(READY, 'c', 1), ...adds(other, 'c', 1)]],
      )

      expect(wakes).toEqual([
        { ...nothing, ready: [READY] },
        { ...nothing, ready: [READY, other] },
      ])
    })

    test('when a timer is earlier than the first one was', async () => {
      const wakes = await wakesOf(
        [adds(DUE_INDEX, 'a', 1_700_000_000_123)],
        [adds(DUE_INDEX, 'b', 1_700_000_000_124)],
        [[...adds(DUE_INDEX, 'c', 1_600_000_000_002), ...adds(DUE_INDEX, 'd', 1_600_000_000_001)]],
        [adds(DUE_INDEX, 'd', 1_600_000_000_001)],
        [adds(DUE_INDEX, 'e', 0)],
      )

      expect(wakes).toEqual([
        { ...nothing, dueAt: 1_700_000_000_123 },
        { ...nothing, dueAt: 1_600_000_000_001 },
        { ...nothing, dueAt: 0 },
      ])
    })

    test('when there is news for holders', async () => {
      const wakes = await wakesOf([[group({ records: [put('a')] })], { holdersOf: ['a', 'b"'] }])

      expect(wakes).toEqual([{ ...nothing, holdersOf: ['a', 'b"'] }])
    })

    test('when executions have new frames or signals, with the growth of the log if there is some', async () => {
      const wakes = await wakesOf(
        [[group({ records: [put('a')] })], { grown: ['a', 'b"'] }],
        [[group({ records: [put('a')] })], { grown: [] }],
        [[group({ events: [event('signal_received', 'a')] })], { grown: ['a'], now: 7 }],
      )

      const growth = { first: 1, last: 1, at: 7, ended: [] }
      expect(wakes).toEqual([
        { ...nothing, grown: ['a', 'b"'] },
        { ...nothing, hasEvents: true, growth, grown: ['a'] },
      ])
    })

    test('of everything that the log grew by, with numbers of any size in full', async () => {
      const trimmed = LEVEL_STEP - 100
      await at.server.set(at.key('trimmed5'), trimmed)
      const now = 1_700_000_000_123

      const wakes = await wakesOf([
        [group({ events: [event('execution_created', 'a'), event('flow_ended', 'f')] })],
        { now },
      ])

      const growth = { first: trimmed + 1, last: trimmed + 2, at: now, ended: ['f'] }
      expect(wakes).toEqual([{ partition: PARTITION, ready: [], hasEvents: true, holdersOf: [], growth }])
    })
  })
})
