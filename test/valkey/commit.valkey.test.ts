/** A commit is applied by group, each under its conditions. */
import { beforeEach, describe, expect, test } from 'vitest'
import { DUE_INDEX } from '../../src/kernel/index.ts'
import { startServer } from '../servers/server.ts'
import { READY, eventsOf, failedOf, listen, membersOf } from './commit-effects.ts'
import { locations } from './fabrics.ts'
import {
  LibraryPartition,
  SENDER,
  absent,
  entry,
  event,
  group,
  needs,
  newVersion,
  put,
  storedIn,
} from './library-calls.ts'

const bytes = new Uint8Array([0, 255, 13, 10])

/** The arguments behind the time of a commit without any items, but for a change. */
function malformed(more: { readonly counts?: Buffer; readonly expected?: Buffer } = {}): (string | Buffer)[] {
  const { counts = Buffer.alloc(24), expected = '' } = more
  return ['', '', '', '', '', '', '', counts, '', expected]
}

/** Counts of a commit, all of them zero but for some by their place. Those of one index are the last four. */
function counts(...some: readonly (readonly [place: number, count: number])[]): Buffer {
  const bytes = Buffer.alloc(32)
  for (const [place, count] of some) bytes.writeUInt16LE(count, 2 * place)
  return bytes
}

describe.each(['valkey', 'redis'] as const)('on %s, a commit', (program) => {
  let at: LibraryPartition

  beforeEach(async () => {
    at = await LibraryPartition.open(locations()[program])
  })

  describe('under conditions', () => {
    const everything = (id: string) => ({
      records: [put(id, { text: 'new' }), { type: 'flow', id: 'f', record: undefined } as const],
      entries: [entry(READY, id, 5), entry('created', 'old', undefined), entry(DUE_INDEX, id, 1)],
      blobs: [
        { key: `${id} new`, bytes, mayExist: false },
        { key: 'old', bytes: undefined, mayExist: true },
      ],
      events: [event('execution_ended', id)],
    })

    beforeEach(async () => {
      await at.commit([
        group({
          records: [put('a'), put('f', { type: 'flow' })],
          entries: [entry('created', 'old', 1)],
          blobs: [{ key: 'old', bytes, mayExist: false }],
        }),
      ])
    })

    test('that hold is applied as a whole, and every record gets its version', async () => {
      const conditions = [await at.asStored('a'), await at.asStored('f', 'flow'), absent('b')]
      const version = newVersion()

      const reply = await at.commit([group({ conditions, ...everything('a') })], { version })

      expect(reply).toMatchObject({ kind: 'applied', failed: [], lastSequence: 1, sent: [] })
      const found = await at.contents()
      expect(Object.keys(found)).toEqual(['b5:a new', 'events5', `i5:${DUE_INDEX}`, `i5:${READY}`, 'x5:a'])
      expect(await at.asStored('a')).toMatchObject({ version })
      expect(await at.server.getBuffer(at.key('blob', 'a new'))).toEqual(Buffer.from(bytes))
    })

    test.each([
      ['a version that is another one', async () => ({ ...(await at.asStored('a')), version: newVersion() })],
      ['a length that is another one', async () => ({ ...(await at.asStored('a')), length: 5 })],
      ['a record that is absent', async () => ({ ...(await at.asStored('a')), id: 'b' })],
      ['a record that is not absent', async () => absent('a')],
    ])('that fail for %s leaves everything as it is', async (_, condition) => {
      const messages = await listen(at)
      const conditions = [await at.asStored('f', 'flow'), await condition()]
      const before = await at.contents()

      const reply = await at.commit([group({ conditions, ...everything('a') })], { holdersOf: ['a'] })

      expect(reply).toMatchObject({ kind: 'applied', failed: [0], sent: [], lastSequence: 0 })
      expect(await at.contents()).toEqual(before)
      expect(await messages()).toEqual([])
    })

    test('compares small and large records, in whichever order they stand', async () => {
      const ids = ['small 1', 'large 1', 'small 2', 'large 2', 'large 3']
      const textOf = (id: string) => (id.startsWith('large') ? 'x'.repeat(5_000) : '')
      await at.commit([group({ records: ids.map((id) => put(id, { text: textOf(id) })) })])
      const stored = await Promise.all(ids.map((id) => at.asStored(id)))
      const wrong = (one: (typeof stored)[number], i: number) =>
        i === 4 ? { ...one, length: one.length - 1 } : { ...one, version: newVersion() }
      const gone = { ...stored[1]!, id: 'gone' }

      const matching = await at.commit([group({ conditions: stored })])
      const differing = await at.commit([...stored.map((one, i) => group({ conditions: [wrong(one, i)] })), group({})])
      const partly = await at.commit([
        group({ conditions: [gone] }),
        group({ conditions: stored }),
        group({ conditions: [stored[0]!, wrong(stored[3]!, 3)] }),
      ])

      expect([matching, differing, partly].map(failedOf)).toEqual([[], [0, 1, 2, 3, 4], [0, 2]])
    })

    test('applies every group that holds, whichever others fail', async () => {
      const messages = await listen(at)
      await at.commit([group({ blobs: [{ key: 'sent', bytes, mayExist: false }] })])
      const ids = ['g0', 'g1', 'g2', 'g3', 'g4']
      const groups = ids.map((id, i) =>
        group({
          conditions: [i === 1 || i === 3 ? absent('a') : absent(id)],
          records: [put(id), { type: 'step', id, record: undefined }],
          entries: [entry(READY, id, i), entry(DUE_INDEX, id, 10 + i), entry('created', `${id} gone`, undefined)],
          blobs: [{ key: id, bytes, mayExist: false }],
          events: [event('execution_created', id), event('execution_ended', id)],
          sends: i === 2 ? ['sent', 'missing'] : ['sent'],
        }),
      )
      for (const id of ids) {
        await at.server.zadd(at.key('index', 'created'), 1, `${id} gone`)
        await at.server.set(at.key('step', id), 'to be removed')
      }

      const reply = await at.commit(groups)

      expect(reply).toMatchObject({ kind: 'applied', failed: [1, 3], lastSequence: 6 })
      expect(reply.kind === 'applied' && reply.sent).toEqual([bytes, bytes, bytes, undefined, bytes, bytes])
      expect(await membersOf(at, READY)).toEqual(['g0', 'g2', 'g4'])
      expect(await membersOf(at, DUE_INDEX)).toEqual(['g0', 'g2', 'g4'])
      expect(await membersOf(at, 'created')).toEqual(['g1 gone', 'g3 gone', 'old'])
      const found = Object.keys(await at.contents())
      expect(found.filter((key) => /^[xsb]5:g/.test(key))).toEqual([
        'b5:g0',
        'b5:g2',
        'b5:g4',
        's5:g1',
        's5:g3',
        'x5:g0',
        'x5:g2',
        'x5:g4',
      ])
      expect((await eventsOf(at)).map(({ id }) => id)).toEqual(['g0', 'g0', 'g2', 'g2', 'g4', 'g4'])
      const head = `{"v":1,"sender":"${SENDER}"`
      expect(await messages()).toEqual([
        `${head},"first":1,"last":6,"at":1000,"ended":["g0","g1","g2","g3","g4"]}`,
        `${head},"ready":["ready\\u001fmain\\u001fgreet"],"dueAt":10,"holdersOf":[]}`,
      ])
    })

    test('without writes confirms them, sends blobs and wakes no listener', async () => {
      const messages = await listen(at)
      const stored = await at.asStored('a')
      const before = await at.contents()

      const replies = [
        await at.commit([group({ conditions: [stored], sends: ['old'] }), group({ conditions: [absent('a')] })]),
        await at.commit([], { holdersOf: ['a'] }),
      ]

      expect(replies.map(failedOf)).toEqual([[1], []])
      expect(replies[0]).toMatchObject({ sent: [bytes] })
      expect(await at.contents()).toEqual(before)
      expect(await messages()).toEqual([])
    })

    test('is applied although a blob is missing, and reports it as missing', async () => {
      const reply = await at.commit([group({ records: [put('z')], sends: ['nothing', 'old'] })])

      expect(reply).toMatchObject({ failed: [], sent: [undefined, bytes] })
      expect((await at.asStored('z')).version).toBeDefined()
    })
  })

  test.each([
    ['a record', 'execution', 'a'],
    ['an index', 'index', 'created'],
    ['an index of timers', 'index', DUE_INDEX],
    ['an index that wakes', 'index', READY],
    ['the log', 'events5', ''],
    ['the count of trimmed events', 'trimmed5', ''],
  ] as const)(
    'that meets another kind of value instead of %s raises an error and writes nothing',
    async (_, kind, id) => {
      await at.server.sadd(at.key(kind, id), 'a set')
      const before = await at.contents()

      const committing = at.commit([
        group({
          conditions: [absent('a'), absent('b')],
          records: [put('b')],
          entries: [entry('created', 'b', 1), entry(READY, 'b', 1), entry(DUE_INDEX, 'b', 1)],
          events: [event('execution_created', 'b')],
        }),
      ])

      await expect(committing).rejects.toThrow('WRONGTYPE')
      expect(await at.contents()).toEqual(before)
    },
  )

  test('of more than the stack of Lua holds is applied, and fails, like any other', async () => {
    const ids = Array.from({ length: 8_000 }, (_, i) => `id ${i}`)
    const groups = (isAbsent: (i: number) => boolean, version: string | undefined, length: number) =>
      ids.map((id, i) =>
        group({
          conditions: [isAbsent(i) ? absent(id) : { type: 'execution', id, version, length }],
          records: [put(id, { text: String(version) })],
          entries: [entry('created', id, i), entry('purge', id, undefined)],
          events: [event('execution_created', id)],
        }),
      )
    const version = 'version1'

    const created = await at.commit(
      groups(() => true, undefined, 0),
      { version },
    )
    const length = (await at.asStored('id 1000')).length
    const changed = await at.commit(groups((i) => i === 7_999, version, length))

    expect(failedOf(created)).toEqual([])
    const odd = ids.flatMap((id, i) => (id.length === 'id 1000'.length ? [] : [i]))
    expect(failedOf(changed)).toEqual([...odd, 7_999])
    expect(await at.server.zcard(at.key('index', 'created'))).toBe(8_000)
    expect(changed).toMatchObject({ lastSequence: 8_000 + 8_000 - odd.length - 1 })

    const removed = await at.commit([
      group({
        records: ids.map((id) => ({ type: 'execution', id, record: undefined })),
        entries: ids.map((id) => entry('created', id, undefined)),
      }),
    ])
    expect(failedOf(removed)).toEqual([])
    expect(Object.keys(await at.contents())).toEqual(['events5'])
  })

  test('fails the groups for which an index is not clear, and applies the others', async () => {
    await at.commit([group({ entries: [entry('ready', 'a', 5)] })])
    const clear = (index: string, upTo?: number) => [{ index, upTo }]

    const reply = await at.commit([
      group({ clear: clear('ready'), records: [put('any entry')] }),
      group({ clear: clear('ready', 5), records: [put('an entry up to the score')] }),
      group({ clear: clear('ready', 4.5), records: [put('later entries')] }),
      group({ clear: clear('empty'), records: [put('no entries')] }),
    ])

    expect(failedOf(reply)).toEqual([0, 1])
    expect(Object.keys(await at.contents()).sort()).toEqual(['i5:ready', 'x5:later entries', 'x5:no entries'])
  })

  test.each([
    ['no commit', []],
    ['no commit', ['now', ...malformed()]],
    ['no commit', ['1', ...malformed({ counts: Buffer.alloc(23) })]],
    ['counts and arguments differ', ['1', ...malformed(), 'key']],
    ['counts and arguments differ', ['1', ...malformed({ counts: Buffer.alloc(32) })]],
    ['counts and arguments differ', ['1', ...malformed({ counts: counts([1, 1]) }), 'key', 'value', 'more']],
    ['counts and arguments differ', ['1', ...malformed({ counts: counts([11, 1]) })]],
    ['counts and arguments differ', ['1', ...malformed({ counts: counts([11, 1], [15, 9]) }), 'key', '1', 'id']],
    ['counts and arguments differ', ['1', ...malformed({ expected: Buffer.alloc(12) })]],
    ['not a score', ['1', ...malformed({ counts: counts([11, 1], [15, 1]) }), 'key', 'nan', 'id']],
  ])('is refused as malformed: %s', async (reason, args) => {
    await expect(at.fcall('commit', args)).rejects.toThrow(`ERR malformed arguments: ${reason}`)
  })
})

test.each(['valkey-server', 'redis-server'] as const)(
  'at full memory a %s still takes commits that finish work',
  async (program) => {
    await using server = await startServer({ program })
    const at = await LibraryPartition.open(server.location)
    const writes = [
      group({ records: [put('a')], entries: [entry(READY, 'a', 1)], events: [event('execution_created', 'a')] }),
    ]
    await server.call('CONFIG', 'SET', 'maxmemory', '1')

    await expect(at.commit(writes)).rejects.toThrow('OOM')
    expect((await at.asStored('a')).version).toBeUndefined()
    const reply = await at.commit(writes, { finishesWork: true })
    const { set } = await at.load(
      needs((all) => all.head(READY, 1, true, 1)),
      { reserver: newVersion() },
    )

    expect(failedOf(reply)).toEqual([])
    expect(storedIn(set, 'execution', 'a')?.record).toMatchObject({ id: 'a' })
    expect(await at.fcall('trimLog', [5_000, 10, 10])).toBe(1)
  },
)
