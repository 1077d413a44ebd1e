import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { cell, event, execution, record } from './any-record.fixture.ts'
import { packFields, unpackFields } from './codec.ts'
import type { Cell, Field } from './codec.ts'
import { packEvent, packRecord, unpackEvent, unpackRecord } from './schema.ts'

function depth(value: Cell): number {
  return Array.isArray(value) ? 1 + Math.max(0, ...value.map(depth)) : 0
}

/** The deepest nesting that every store's encoding is sure to keep. */
const RECORD_DEPTH_MAX = 6

describe('the stored form', () => {
  test('gives back every record as it was', () => {
    fc.assert(
      fc.property(record, (one) => {
        expect(unpackRecord(one.type, packRecord(one))).toStrictEqual(one)
      }),
    )
  })

  test('gives back every event as it was', () => {
    fc.assert(
      fc.property(event, (one) => {
        expect(unpackEvent(packEvent(one))).toStrictEqual(one)
      }),
    )
  })

  test('holds only text, numbers, false and lists of these, nested no deeper than any store can keep', () => {
    fc.assert(
      fc.property(record, (one) => {
        const cells = packRecord(one)

        expect(JSON.parse(JSON.stringify(cells))).toEqual(cells)
        expect(depth(cells)).toBeLessThanOrEqual(RECORD_DEPTH_MAX)
      }),
    )
  })

  test('keeps values behind the last field that the schema knows', () => {
    fc.assert(
      fc.property(record, fc.array(cell, { minLength: 1 }), (one, unknown) => {
        const newer = [...packRecord(one), ...unknown]

        expect(packRecord(unpackRecord(one.type, newer))).toEqual(newer)
      }),
    )
  })

  test('reads a record that an older schema wrote without its last fields', () => {
    fc.assert(
      fc.property(execution, fc.nat(6), (one, missing) => {
        const cells = packRecord(one)
        const older = unpackRecord('execution', cells.slice(0, cells.length - missing))

        expect(older.id).toBe(one.id)
        expect(older.state).toEqual(one.state)
      }),
    )
  })

  test('reads a schedule that was stored before schedules could start flows', () => {
    const timing: Cell[] = [false, false, 1000, 0, 0, false, false]
    const work: Cell[] = [
      'greet',
      false,
      'main',
      'greet',
      false,
      0,
      [],
      [1, [0, 0], 0, []],
      false,
      false,
      false,
      1,
      false,
    ]
    const head: Cell[] = ['default\u001fnightly', 'default', 'nightly', false, 'd', 't', 1, timing, work, 0, 1, false]
    const older: Cell[] = [
      ...head,
      [[1, 2, '0-1']],
      1,
      1,
      0,
      false,
      0,
      [],
      false,
      ['0-0'],
      [0, 0, '0-0'],
      1,
      false,
      1,
      1,
    ]

    expect(unpackRecord('schedule', older)).toMatchObject({
      name: 'nightly',
      planned: [{ at: 1, fireAt: 2, executionId: '0-1', memberIds: undefined }],
      open: ['0-0'],
      changedAt: 1,
      flow: undefined,
    })
  })
})

describe('a schema', () => {
  const fields: readonly Field[] = [
    { name: 'flag', of: { kind: 'flag' } },
    { name: 'word', of: { kind: 'word', words: ['yes', 'no'] } },
    {
      name: 'shape',
      of: {
        kind: 'union',
        tag: 'kind',
        variants: [
          { word: 'point', fields: [] },
          { word: 'circle', fields: [{ name: 'radius', of: { kind: 'number' } }] },
        ],
      },
    },
  ]

  test('stores words as small integers and what is absent as false', () => {
    expect(packFields(fields, { flag: true, word: 'no', shape: { kind: 'circle', radius: 2 } })).toEqual([1, 1, [1, 2]])
    expect(packFields(fields, { flag: false })).toEqual([0, false, false])
  })

  test('stores a word or a variant that it does not list as -1, and reads neither', () => {
    const cells: Cell[] = [0, -1, [-1]]

    expect(packFields(fields, { flag: false, word: 'maybe', shape: { kind: 'square' } })).toEqual(cells)
    expect(unpackFields(fields, cells)).toEqual({ flag: false, word: undefined, shape: undefined })
  })

  test('distinguishes an absent flag from one that is not set', () => {
    expect(unpackFields(fields, [false])['flag']).toBeUndefined()
    expect(unpackFields(fields, [0])['flag']).toBe(false)
  })

  test('keeps values behind the last field of a variant', () => {
    const cells: Cell[] = [1, 0, [1, 2, 'newer', false]]

    expect(packFields(fields, unpackFields(fields, cells))).toEqual(cells)
  })

  test('keeps no value of one variant when another takes its place', () => {
    const value = unpackFields(fields, [1, 0, [1, 2, 'newer']])
    value['shape'] = { kind: 'point' }

    expect(packFields(fields, value)).toEqual([1, 0, [0]])
  })
})
