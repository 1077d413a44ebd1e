import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { cell, event, execution, record } from '../../../kernel/model/any-record.fixture.ts'
import { SEPARATOR, UNKNOWN_VALUES, packEvent, packRecord, recordTypes, unpackRecord } from '../../../kernel/index.ts'
import type { AnyRecord, Cell, Queue } from '../../../kernel/index.ts'
import { ByteReader } from './byte-reader.ts'
import { ByteWriter } from './byte-writer.ts'
import { putCell } from './put-value.ts'
import { readEvent, readRecord, writeEvent, writeRecord } from './record-bytes.ts'

const anyNumber = fc.oneof(
  fc.integer({ min: 0, max: 300 }),
  fc.maxSafeNat(),
  fc.maxSafeInteger(),
  fc.double(),
  fc.constantFrom(0, -0, 127, 128, 255, 256, 2 ** 32 - 1, 2 ** 32, 2 ** 40, 2 ** 48 - 1, 2 ** 48),
)
const anyText = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 100, size: 'max' }),
  fc.string({ unit: 'grapheme-ascii', maxLength: 300, size: 'max' }),
  fc.constantFrom('', 'x'.repeat(31), 'x'.repeat(32), 'é'.repeat(15), 'é'.repeat(16), 'x'.repeat(255), 'x'.repeat(256)),
)
const uuid = fc.uuid({ version: [4, 7, 8] })
const executionId = fc.tuple(fc.oneof(fc.nat(31), fc.nat(1_023)), uuid).map(([number, id]) => `${number}-${id}`)
const anyId = fc.oneof(
  uuid,
  executionId,
  executionId.map((id) => `f${id}`),
  executionId.map((id) => `0${id}`),
  executionId.map((id) => id.toUpperCase()),
)
const { tree: anyCell } = fc.letrec<{ tree: Cell }>((tie) => ({
  tree: fc.oneof(
    { maxDepth: 4 },
    anyText,
    anyId,
    anyNumber,
    fc.constant<false>(false),
    fc.array(tie('tree'), { maxLength: 40 }),
  ),
}))

const ID = '0190a6e0-5c2a-7b10-8f00-0123456789ab'
const ID_HEX = ID.replaceAll('-', '')

function bytesOf(one: AnyRecord): Buffer {
  const writer = new ByteWriter()
  writeRecord(one, writer)
  return writer.take()
}

function bytesOfCell(value: Cell): Buffer {
  const writer = new ByteWriter()
  writer.value(putCell, value)
  return writer.take()
}

function readCell(bytes: Buffer, ownId?: string): Cell {
  const reader = new ByteReader(bytes, 0, ownId)
  const value = reader.cell()
  reader.end()
  return value
}

/** The cells that bytes hold, without the absent values at the end of a list of fields. */
function trimmed(cells: Cell[]): Cell[] {
  const last = cells.findLastIndex((one) => one !== false)
  return cells.slice(0, last + 1)
}

/** The object that a path of fields leads to in a record. */
function within(one: object, ...path: string[]): Record<string, unknown> {
  return path.reduce((value, name) => value[name] as Record<string, unknown>, one as Record<string, unknown>)
}

const queue: Queue = {
  type: 'queue',
  id: 'default:',
  lane: 'default',
  class: '',
  createdAt: 1_760_000_000_000,
  needs: undefined,
  keeps: undefined,
}

describe('values as bytes', () => {
  test('are read as they were written', () => {
    fc.assert(
      fc.property(anyCell, (value) => {
        expect(readCell(bytesOfCell(value))).toStrictEqual(value)
      }),
    )
  })

  test.each<[Cell, string]>([
    [0, '00'],
    [127, '7f'],
    [128, 'c180'],
    [256, 'c20001'],
    [1_760_000_000_000, 'c600c02cc89901'],
    [-1, 'c7000000000000f0bf'],
    [false, 'c0'],
    ['', '80'],
    ['hé', '8368c3a9'],
    ['x'.repeat(32), `c820${'78'.repeat(32)}`],
    ['é'.repeat(128), `c90001${'c3a9'.repeat(128)}`],
    ['x'.repeat(65_536), `ca00000100${'78'.repeat(65_536)}`],
    [`f12-${ID}`, `cf0c${ID_HEX}`],
    [`255-${ID}`, `ceff${ID_HEX}`],
    [`256-${ID}`, `c828${Buffer.from(`256-${ID}`).toString('hex')}`],
    [ID, `cd${ID_HEX}`],
    [[], 'a0'],
    [[1, ['a']], 'a201a18161'],
    [new Array<Cell>(32).fill(7), `cb20${'07'.repeat(32)}`],
    [new Array<Cell>(256).fill(7), `cc0001${'07'.repeat(256)}`],
  ])('are small: example %#', (value, hex) => {
    expect(bytesOfCell(value).toString('hex')).toBe(hex)
    expect(readCell(Buffer.from(hex, 'hex'))).toEqual(value)
  })

  test('that stand for an id of the record need one', () => {
    for (const tag of [0xd0, 0xd1, 0xd2]) expect(() => readCell(Buffer.of(tag))).toThrow(RangeError)
    for (const tag of [0xd1, 0xd2]) expect(() => readCell(Buffer.of(tag), 'one')).toThrow(RangeError)
    for (const tag of [0xd3, 0xff]) expect(() => readCell(Buffer.of(tag), `a${SEPARATOR}b`)).toThrow(RangeError)
    expect([0xd0, 0xd1, 0xd2].map((tag) => readCell(Buffer.of(tag), 'a\u001fb\u001fc'))).toEqual([
      'a\u001fb\u001fc',
      'a',
      'b\u001fc',
    ])
  })

  test('follow bytes that are written as they are', () => {
    const writer = new ByteWriter()
    writer.byte(1)
    writer.bytes('v\xff')
    writeRecord(queue, writer)
    const bytes = writer.take()

    expect(bytes.subarray(0, 3).toString('latin1')).toBe('\x01v\xff')
    expect(readRecord('queue', queue.id, bytes, 3)).toStrictEqual(queue)
    expect(writer.take()).toHaveLength(0)
  })

  test('are not taken for a text that was read before', () => {
    expect(readCell(Buffer.from('82c3a9', 'hex'))).toBe('é')
    expect(readCell(Buffer.from('81e9', 'hex'))).toBe('\ufffd')
    expect(readCell(Buffer.from('81e9', 'hex'))).toBe('\ufffd')
  })

  test('do not end in a stack overflow when lists are nested without end', () => {
    expect(() => readCell(Buffer.alloc(100_000, 0xa1))).toThrow(RangeError)
  })
})

describe('records as bytes', () => {
  test('are read as they were written', () => {
    fc.assert(
      fc.property(record, (one) => {
        expect(readRecord(one.type, one.id, bytesOf(one), 0)).toStrictEqual(one)
      }),
      { numRuns: 300 },
    )
  })

  test('whose texts are ids, or parts of their own id, are read as they were written', () => {
    const part = fc.oneof(anyId, anyText, fc.constantFrom('', SEPARATOR))
    fc.assert(
      fc.property(record, part, part, part, fc.boolean(), (one, first, second, other, isOther) => {
        const ids = isOther ? [other, first] : [first, second]
        const names = { executionId: ids[0], upstreamId: ids[0], downstreamId: ids[1], flowId: second }
        const own = Object.fromEntries(Object.entries(names).filter(([name]) => name in one))
        const changed = { ...one, ...own, id: first + SEPARATOR + second } as AnyRecord

        expect(readRecord(one.type, changed.id, bytesOf(changed), 0)).toStrictEqual(changed)
      }),
      { numRuns: 500 },
    )
  })

  test('have the values of the stored form', () => {
    fc.assert(
      fc.property(record, (one) => {
        const cells = readCell(bytesOf(one), one.id) as Cell[]
        const unpacked: AnyRecord = unpackRecord(one.type, cells)

        expect(unpacked).toStrictEqual(one)
        expect(cells).toHaveLength(trimmed(packRecord(one)).length)
      }),
    )
  })

  test('do not depend on where the buffer has to grow', () => {
    fc.assert(
      fc.property(record, fc.integer({ min: 0, max: 1_024 }), (one, before) => {
        const writer = new ByteWriter()
        writer.bytes('x'.repeat(before))
        writeRecord(one, writer)

        expect(writer.take().subarray(before)).toEqual(bytesOf(one))
      }),
      { numRuns: 300 },
    )
  })

  test('do not depend on the order of fields', () => {
    fc.assert(
      fc.property(record, (one) => {
        const turned = Object.fromEntries(Object.entries(one).reverse()) as unknown as AnyRecord

        expect(bytesOf(turned)).toEqual(bytesOf(one))
      }),
    )
  })

  test('are read into objects with the type first and every field in its stored order', () => {
    for (const type of recordTypes) {
      expect(Object.keys(readRecord(type, 'an-id', Buffer.from([0xa0]), 0))).toEqual(
        Object.keys(unpackRecord(type, [])),
      )
    }
  })

  test('keep values behind the last known field', () => {
    fc.assert(
      fc.property(record, fc.array(cell, { minLength: 1 }), (one, unknown) => {
        const newer = [...packRecord(one), ...trimmed(unknown), 'last']
        const bytes = bytesOfCell(newer)
        const read = readRecord(one.type, one.id, bytes, 0)

        expect(within(read)[UNKNOWN_VALUES]).toEqual([...trimmed(unknown), 'last'])
        expect(readRecord(one.type, one.id, bytesOf(read), 0)).toStrictEqual(read)
      }),
    )
  })

  test('keep values behind the last known field of objects, lists of objects and variants', () => {
    fc.assert(
      fc.property(execution, anyCell, (one, newer) => {
        const unknown = [newer, 'last']
        const tag = { name: 'colour', value: 'red', indexed: true }
        const changed = { ...one, tags: [tag], payload: { size: 1, encoding: 'json' as const } }
        for (const owner of [
          within(changed),
          within(changed, 'payload'),
          within(changed, 'retry', 'backoff'),
          within(changed, 'state'),
          within(tag),
        ]) {
          owner[UNKNOWN_VALUES] = unknown
        }

        expect(readRecord('execution', one.id, bytesOf(changed), 0)).toStrictEqual(changed)
      }),
    )
  })

  test('read what an older schema did not write as absent', () => {
    const older = readRecord('execution', 'an-id', bytesOfCell(['an-id']), 0)

    expect(older).toStrictEqual(unpackRecord('execution', ['an-id']))
  })

  test.each<[string, Cell]>([
    ['a number in the place of a text', [1]],
    ['a text in the place of a number', ['id', 'lane', 'class', 'soon']],
    ['a list in the place of a text', [['id']]],
    ['a text in the place of an object', 'id'],
  ])('are refused with %s', (_, cells) => {
    expect(() => readRecord('queue', 'id', bytesOfCell(cells), 0)).toThrow(RangeError)
  })

  test.each<[string, number, Cell]>([
    ['an unknown word', 5, 3],
    ['a fraction for a word', 5, 0.5],
    ['an unknown variant', 4, [2]],
    ['a variant without its number', 4, []],
    ['a text in the place of a union', 4, 'input'],
    ['a text in the place of a result', 6, 'json'],
  ])('are refused with %s', (_, position, value) => {
    const cells: Cell[] = ['id', 'flow', 'up', 'down', false, 0, false, 1]
    cells[position] = value

    expect(() => readRecord('edge', 'id', bytesOfCell(cells), 0)).toThrow(RangeError)
  })

  test('are refused with a flag that is neither set nor clear', () => {
    expect(() => readRecord('execution', 'an-id', bytesOfCell(flaggedTag(2)), 0)).toThrow(RangeError)
    expect(readRecord('execution', 'an-id', bytesOfCell(flaggedTag(1)), 0).tags[0]?.indexed).toBe(true)
  })

  test('are refused when cut off at any byte, or with bytes behind them', () => {
    fc.assert(
      fc.property(record, fc.nat(), (one, at) => {
        const bytes = bytesOf(one)

        expect(() => readRecord(one.type, one.id, bytes.subarray(0, at % bytes.length), 0)).toThrow(RangeError)
        expect(() => readRecord(one.type, one.id, Buffer.concat([bytes, Buffer.from([0])]), 0)).toThrow(RangeError)
      }),
    )
  })

  test('with any damage are read as something or refused with a RangeError', () => {
    fc.assert(
      fc.property(record, fc.nat(), fc.nat(255), (one, at, byte) => {
        const bytes = bytesOf(one)
        bytes[at % bytes.length] = byte
        try {
          readRecord(one.type, one.id, bytes, 0)
        } catch (error) {
          expect(error).toBeInstanceOf(RangeError)
        }
      }),
      { numRuns: 500 },
    )
  })

  test.each([
    ['a text of more than 65,535 bytes', { lane: 'x'.repeat(65_536) }],
    ['a text whose UTF-8 has more than 65,535 bytes', { lane: '€'.repeat(21_846) }],
  ])('are not written with %s', (_, fields) => {
    const writer = new ByteWriter()
    writer.byte(7)

    expect(() => writeRecord({ ...queue, ...fields }, writer)).toThrow(RangeError)
    expect(writer.take()).toEqual(Buffer.from([7]))
  })

  test('are not written with a word that the schema lacks', () => {
    const damaged = { type: 'attempt', kind: 'guess' } as unknown as AnyRecord

    expect(() => bytesOf(damaged)).toThrow(RangeError)
  })

  test('have room for the longest text', () => {
    const long = { ...queue, lane: 'x'.repeat(65_535) }

    expect(readRecord('queue', long.id, bytesOf(long), 0)).toStrictEqual(long)
  })
})

function flaggedTag(flag: number): Cell {
  return ['id', false, false, 'namespace', 'task', 'lane', 'class', 0, [['colour', 'red', flag]]]
}

describe('events as bytes', () => {
  test('are read as they were written, without their time', () => {
    fc.assert(
      fc.property(event, ({ at: _at, ...stored }) => {
        const writer = new ByteWriter()
        writeEvent(stored, writer)

        expect(readEvent(writer.take(), 0)).toStrictEqual(stored)
      }),
    )
  })

  test('do not write the time of an event that has one', () => {
    fc.assert(
      fc.property(event, (one) => {
        const writer = new ByteWriter()
        writeEvent(one, writer)
        const cells = readCell(writer.take()) as Cell[]

        expect(cells).toEqual(trimmed(packEvent(one).toSpliced(1, 1)))
      }),
    )
  })
})
