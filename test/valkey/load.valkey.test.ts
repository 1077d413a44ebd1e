import { beforeEach, describe, expect, test } from 'vitest'
import type { Range } from '../../src/kernel/index.ts'
import { Needs, rangeKey, scoreKey } from '../../src/stores/working-set/load/needs.ts'
import { inRange } from '../../src/stores/working-set/overlay/index-overlay.ts'
import { startServer } from '../servers/server.ts'
import { until } from '../servers/until.ts'
import { locations } from './fabrics.ts'
import { LibraryPartition, entry, group, needs, newVersion, put, record, storedIn, within } from './library-calls.ts'

const READY = 'ready\u001fmain\u001fgreet'
const DUE = 'due'
const RESERVED_MS = 20
const WAITER_MS = 20
const LOCK_MS = 250
const LOCK_MAX_MS = 1_000
const WITHIN_MS = 5_000

describe.each(['valkey', 'redis'] as const)('on %s, a load', (program) => {
  let at: LibraryPartition

  async function renew(): Promise<void> {
    at = await LibraryPartition.open(locations()[program])
  }

  beforeEach(renew)

  const head = (limit: number, reserve: number, index = READY) =>
    needs((all) => all.head(index, limit, true, reserve, index === DUE ? 'now' : undefined))

  async function fill(ids: readonly string[], index = READY): Promise<void> {
    const entries = ids.map((id, i) => entry(index, id, i + 1))
    await at.commit([group({ entries, records: ids.map((id) => put(id)) })])
  }

  describe('of records', () => {
    test('returns each with its version and its length, and those that are absent as absent', async () => {
      const version = newVersion()
      await at.commit([group({ records: [put('a', { text: 'ä' }), put('f', { type: 'flow' })] })], { version })

      const { set } = await at.load(
        needs((all) => {
          all.record('execution', 'a')
          all.record('execution', 'b')
          all.record('flow', 'f')
        }),
      )

      const length = await at.server.strlen(at.key('execution', 'a'))
      expect(storedIn(set, 'execution', 'a')).toEqual({ record: record('a', { text: 'ä' }), version, length })
      expect(storedIn(set, 'execution', 'b')).toBeUndefined()
      expect(storedIn(set, 'flow', 'f')).toMatchObject({ record: { id: 'f' } })
      expect(set.isMissingAny).toBe(false)
    })

    test.each(['', 'short', 'version.', 'version.\u0001', 'version.\u0002\u0005x', 'version.\u0000no body'])(
      'returns one whose bytes are %j without its content',
      async (bytes) => {
        await at.server.set(at.key('execution', 'a'), bytes)
        await at.server.zadd(at.key('index', READY), 1, 'a')

        const { set } = await at.load(head(1, 1), { reserver: newVersion() })

        expect(storedIn(set, 'execution', 'a')).toEqual({
          record: undefined,
          version: bytes.slice(0, 8),
          length: bytes.length,
        })
      },
    )

    test('fetches more than fit into one command', async () => {
      const ids = Array.from({ length: 7_500 }, (_, i) => `id ${i}`)
      await at.commit([group({ records: ids.map((id) => put(id)) })])

      const { set } = await at.load(needs((all) => ids.forEach((id) => all.record('execution', id))))

      expect(ids.map((id) => storedIn(set, 'execution', id)?.record?.id)).toEqual(ids)
    })
  })

  describe('of the head of an index', () => {
    test('brings the records that its entries name, and what those bring along', async () => {
      const brings = ['f', 'gone']
      await at.commit([
        group({
          entries: [entry(READY, 'b', 1.5), entry(READY, 'a', 2), entry(READY, 'lost', 3), entry(READY, 'c', 4)],
          records: [put('a', { brings }), put('b', { brings }), put('c'), put('f', { type: 'flow' })],
        }),
      ])

      const { set } = await at.load(head(3, 0))

      expect(set.range({ index: READY, limit: 3 })).toEqual([
        { index: READY, score: 1.5, id: 'b' },
        { index: READY, score: 2, id: 'a' },
        { index: READY, score: 3, id: 'lost' },
      ])
      expect(storedIn(set, 'execution', 'a')?.record).toEqual(record('a', { brings }))
      expect(storedIn(set, 'execution', 'lost')).toBeUndefined()
      expect(storedIn(set, 'flow', 'f')?.record).toMatchObject({ id: 'f' })
      expect(storedIn(set, 'flow', 'gone')).toBeUndefined()
      expect(set.isMissingAny).toBe(false)
      expect([set.hides(READY), set.reserved]).toEqual([false, []])
      set.find('execution', 'c')
      expect(set.isMissingAny).toBe(true)
    })

    test('brings all records that an entry names', async () => {
      const index = 'out\u001fa'
      const edge = put('a\u001fb', { type: 'edge' })
      await at.commit([group({ entries: [entry(index, 'b', 1)], records: [edge, put('b')] })])

      const { set } = await at.load(head(5, 0, index))

      expect(storedIn(set, 'edge', 'a\u001fb')?.record).toMatchObject({ type: 'edge' })
      expect(storedIn(set, 'execution', 'b')?.record).toMatchObject({ id: 'b' })
    })
  })

  describe.each([READY, DUE])('that reserves in %j', (index) => {
    test('hides what it was given from other loads, but not from those of its own batch', async () => {
      const [first, second, mine, all] = await within(RESERVED_MS, async () => {
        const reserver = newVersion()
        await renew()
        await fill(['a', 'b', 'c', 'd'], index)
        return Promise.all([
          at.load(head(3, 2, index), { reserver }),
          at.load(head(3, 1, index), { reserver: newVersion() }),
          at.load(head(3, 2, index), { reserver }),
          at.load(head(4, 0, index)),
        ])
      })

      const seen = [first, second, mine, all].map(({ set }) => set.range({ index, limit: 4 }, 0))
      expect(seen.map((entries) => entries.map(({ id }) => id).join(''))).toEqual(['abc', 'cd', 'abd', 'abcd'])
      expect([first, second, mine, all].map(({ set }) => set.hides(index))).toEqual([false, true, true, false])
      expect(first.set.reserved.map(({ id }) => id)).toEqual(['a', 'b'])
    })

    test('shows what was reserved again after a while', async () => {
      await fill(['a'], index)
      const { now } = await at.load(head(1, 1, index), { reserver: newVersion() })

      const seen = await until('the entry is seen', WITHIN_MS, async () => {
        const { set } = await at.load(head(1, 1, index), { reserver: newVersion() })
        return set.range({ index, limit: 1 }, 0)[0]
      })

      expect(seen.id).toBe('a')
      expect(await at.now()).toBeGreaterThanOrEqual(now + RESERVED_MS)
    })

    test.each([
      ['names it', [], { reserved: [{ index, score: 1, id: 'a' }] }],
      ['names it and is refused', [], { lagMs: 0, now: 1, reserved: [{ index, score: 1, id: 'a' }] }],
      ['adds it to the index', [group({ entries: [entry(index, 'a', 9)] })], {}],
      ['removes it', [group({ entries: [entry(index, 'a', undefined)] })], {}],
    ])('shows what was reserved once a commit %s', async (_, groups, more) => {
      const [, , after] = await within(RESERVED_MS, async () => {
        await renew()
        await fill(['a'], index)
        return Promise.all([
          at.load(head(1, 1, index), { reserver: newVersion() }),
          at.commit(groups, more),
          at.load(head(1, 1, index), { reserver: newVersion() }),
        ])
      })

      expect(after.set.hides(index)).toBe(false)
    })
  })

  describe('that reserves', () => {
    test.each([
      [DUE, ['a', 'a', 'a']],
      // What a claimer gives back of a ready index is for the next one alone.
      [READY, ['a', 'a', '']],
    ])('shows what was given back in %j to all if it is due, else to the next load', async (index, expected) => {
      const reserved = [{ index, score: 1, id: 'a' }]
      const [first, , second, third] = await within(RESERVED_MS, async () => {
        await renew()
        await fill(['a'], index)
        return Promise.all([
          at.load(head(1, 1, index), { reserver: newVersion() }),
          at.commit([], { reserved }),
          at.load(head(1, 1, index), { reserver: newVersion() }),
          at.load(head(1, 1, index), { reserver: newVersion() }),
        ])
      })

      const seen = [first, second, third].map(({ set }) => set.range({ index, limit: 1 }, 0))
      expect(seen.map((entries) => entries.map(({ id }) => id).join(''))).toEqual(expected)
    })

    test('reserves nothing that is not due yet, and brings the first such entry', async () => {
      const [first, second, early] = await within(RESERVED_MS, async () => {
        await renew()
        const scores = { a: 1, b: 2, c: 8_000_000_000_000, d: 9_000_000_000_000 }
        await at.commit([group({ entries: Object.entries(scores).map(([id, score]) => entry(DUE, id, score)) })])
        return Promise.all([
          at.load(head(9, 9, DUE), { reserver: newVersion() }),
          at.load(head(9, 9, DUE), { reserver: newVersion() }),
          // The time of a caller with a clock of its own.
          at.load(head(9, 0, DUE), { now: 1 }),
        ])
      })

      const seen = [first, second, early].map(({ set }) => set.range({ index: DUE, limit: 9 }, 0))
      expect(seen.map((entries) => entries.map(({ id }) => id).join(''))).toEqual(['abc', 'c', 'ab'])
      expect([first, second].map(({ set }) => [set.reserved.length, set.hides(DUE)])).toEqual([
        [2, false],
        [0, true],
      ])
      first.set.range({ index: DUE, to: first.now, limit: 9 })
      expect(first.set.isMissingAny).toBe(false)
      first.set.range({ index: DUE, limit: 9 })
      expect(first.set.isMissingAny).toBe(true)
    })

    test('takes more than it can remember', async () => {
      await fill(Array.from({ length: 11_000 }, (_, i) => `id ${i}`))
      const others = `${READY}2`
      await fill(['x'], others)

      const later = await Promise.all([
        at.load(head(1, 1, others), { reserver: newVersion() }),
        at.load(head(11_000, 5_500), { reserver: newVersion() }),
        at.load(head(11_000, 5_500), { reserver: newVersion() }),
        at.load(head(1, 1, others), { reserver: newVersion() }),
      ])

      expect(later.map(({ set }) => set.reserved.length)).toEqual([1, 5_500, 5_500, 1])
    })
  })

  describe('of a range', () => {
    const index = 'created'
    // Several share a score: their order is that of their bytes, which is no order of words.
    const stored = ['a', 'B', 'ab', 'b', 'c', 'd', 'z', 'é'].flatMap((id, i) => [
      { index, score: Math.floor(i / 3), id },
      { index, score: 7, id: `${id}7` },
    ])
    const byBytes = (a: string, b: string) => Buffer.compare(Buffer.from(a), Buffer.from(b))
    const froms = [undefined, { score: 1 }, { score: 0, id: 'ab' }, { score: 7, id: 'b' }, { score: 7, id: 'zzz' }]

    test('returns what stands in it, in both directions, also behind entries that are gone', async () => {
      await at.commit([group({ entries: stored.map(({ id, score }) => entry(index, id, score)) })])
      const ranges = froms.flatMap((from) =>
        [undefined, 1, 7].flatMap((to) =>
          [false, true].flatMap((reverse) => [1, 4, 50].map((limit): Range => ({ index, from, to, reverse, limit }))),
        ),
      )

      const wanted = needs((all) => {
        for (const range of ranges) {
          all.page(range, false)
          all.count(rangeKey(range), range)
        }
      })
      const { set } = await at.load(wanted)

      for (const range of ranges) {
        const sorted = stored
          .filter(({ score, id }) => inRange(range, score, id))
          .sort((a, b) => a.score - b.score || byBytes(a.id, b.id))
        const expected = (range.reverse === true ? sorted.reverse() : sorted).slice(0, range.limit)
        expect(set.range(range), JSON.stringify(range)).toEqual(expected)
        expect(set.count(range), JSON.stringify(range)).toBe(expected.length)
      }
    })

    test('returns the scores of ids, and that there is none', async () => {
      await at.commit([group({ entries: [entry(index, 'a', 1_700_000_000_123.5)] })])
      const wanted = new Needs()
      for (const id of ['a', 'b']) wanted.score(scoreKey(index, id), { index, id, expected: 1 })

      const { set } = await at.load(wanted)

      expect([set.score(index, 'a', 1), set.score(index, 'b', 1)]).toEqual([1_700_000_000_123.5, undefined])
      expect(set.isMissingAny).toBe(false)
    })
  })

  describe('of blobs', () => {
    const wanted = (keys: readonly string[]) => needs((all) => keys.forEach((key) => all.blob(key)))

    test('returns their bytes, and that one is missing', async () => {
      const bytes = new Uint8Array([0, 255, 10, 13])
      await at.commit([group({ blobs: [{ key: 'a', bytes, mayExist: false }] })])

      const { set } = await at.load(wanted(['a', 'b']))

      expect([set.blob('a'), set.blob('b'), set.isMissingAny]).toEqual([bytes, undefined, false])
    })

    test('stops when the reply is large, and continues with the next load', async () => {
      const keys = Array.from({ length: 20 }, (_, i) => `blob ${i}`)
      const bytes = new Uint8Array(300 * 1_024)
      await at.commit([group({ blobs: keys.map((key) => ({ key, bytes, mayExist: false })) })])
      let loads = 0
      let left = keys

      for (; left.length > 0; loads++) {
        const { set } = await at.load(wanted(left))
        left.forEach((key) => set.blob(key))
        left = [...set.takeNeeds().blobs]
      }

      expect(loads).toBe(5)
    })
  })

  describe('with the lock', () => {
    const lock = (token: string, holdsLock = false) => at.load(new Needs(), { lock: token, holdsLock })
    const release = (token: string) => at.commit([], { lock: token })

    test('loads nothing while another token holds it', async () => {
      const wanted = needs((all) => all.record('execution', 'a'))
      const [first, second] = await within(LOCK_MS, async () => {
        await renew()
        return Promise.all([lock('token 1.'), at.load(wanted, { lock: 'token 2.' })])
      })

      expect(first.busyMs).toBeUndefined()
      expect(second.busyMs).toBeGreaterThanOrEqual(1)
      expect(second.busyMs).toBeLessThanOrEqual(5)
      second.set.find('execution', 'a')
      expect(second.set.isMissingAny).toBe(true)
    })

    test('does not keep out loads that do not ask for it, nor other partitions', async () => {
      const other = await LibraryPartition.open(locations()[program])
      const [, plain, elsewhere] = await Promise.all([
        lock('token 1.'),
        at.load(new Needs()),
        other.load(new Needs(), { lock: 'token 2.' }),
      ])

      expect([plain.busyMs, elsewhere.busyMs]).toEqual([undefined, undefined])
    })

    test('is given to those that wait in the order in which they came', async () => {
      const replies = await within(WAITER_MS, async () => {
        await renew()
        return Promise.all([
          ...['token 1.', 'token 2.', 'token 3.', 'token 4.'].map((token) => lock(token)),
          release('token 1.'),
          ...['token 4.', 'token 3.', 'token 2.'].map((token) => lock(token)),
          release('token 2.'),
          ...['token 5.', 'token 4.', 'token 3.'].map((token) => lock(token)),
        ])
      })

      const waits = replies.map((reply) => ('kind' in reply ? 'released' : (reply.busyMs ?? 'taken')))
      expect(waits).toEqual(['taken', 1, 2, 3, 'released', 3, 2, 'taken', 'released', 3, 2, 'taken'])
    })

    test('is not kept for one that has stopped asking', async () => {
      const [, , third] = await within(WAITER_MS, async () => {
        await renew()
        return Promise.all([lock('token 1.'), lock('token 2.'), lock('token 3.')])
      })
      expect(third.busyMs).toBe(2)

      await release('token 1.')
      const got = await until('it is free', WITHIN_MS, async () => {
        const { busyMs } = await lock('token 3.')
        return busyMs === undefined ? 'taken' : undefined
      })

      expect(got).toBe('taken')
    })

    test('expires, and then is not extended but lost', async () => {
      const { now } = await lock('token 1.')

      const taken = await until('it expires', WITHIN_MS, async () => {
        const reply = await lock('token 2.')
        return reply.busyMs === undefined ? reply : undefined
      })

      expect(taken.now - now).toBeGreaterThanOrEqual(LOCK_MS)
      expect(await lock('token 1.', true)).toMatchObject({ isLockLost: true })
      expect(await at.commit([], { lock: 'token 1.' })).toMatchObject({ kind: 'refused', reason: 'lock_lost' })
      await at.commit([], { lock: 'token 2.' })
      expect(await lock('token 2.', true)).toMatchObject({ isLockLost: true })
    })

    test('is extended by the loads of its holder, up to a second', async () => {
      const { now } = await lock('token 1.')
      let lastHeldAt = now

      const lost = await until('it is lost', WITHIN_MS, async () => {
        const reply = await lock('token 1.', true)
        if (reply.isLockLost === true) return reply
        lastHeldAt = reply.now
        return undefined
      })

      expect(lastHeldAt - now).toBeLessThan(LOCK_MAX_MS)
      // On a busy machine the holder may itself have come too late.
      expect(lost.now >= now + LOCK_MAX_MS || lost.now >= lastHeldAt + LOCK_MS).toBe(true)
    })
  })

  test.each([
    [['', '', '', 'z'], 'an unknown need'],
    [['', '', '', 'k', 'many'], 'not a count'],
    [['', '', '', 'h', 'index', '-1', '0', '', '0'], 'not a count'],
    [['', '', '', 'p', 'index', '', 'id', '', '', '5', '0'], 'not a range'],
    [['', '', '', 'p', 'index', '', '', '', '', '', ''], 'not a count'],
    [['', '', '', 'h', 'index', '5', '5', '', '0'], 'no reserver'],
    [['', ''], 'no load'],
  ])('is refused if its arguments are %j', async (args, reason) => {
    await expect(at.fcall('load', args)).rejects.toThrow(`ERR malformed arguments: ${reason}`)
  })
})

test.each(['valkey-server', 'redis-server'] as const)('on a %s, a lock is gone with the functions', async (program) => {
  await using server = await startServer({ program })
  const at = await LibraryPartition.open(server.location)
  await at.load(new Needs(), { lock: 'token 1.' })

  await server.call('FUNCTION', 'FLUSH')
  await LibraryPartition.open(server.location)

  expect(await at.commit([], { lock: 'token 1.' })).toMatchObject({ kind: 'refused', reason: 'lock_lost' })
})
