import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Field, FieldKind } from '../../kernel/index.ts'
import { LayoutReader, LayoutWriter } from './layout.ts'

const text: FieldKind = { kind: 'text' }
const whole: FieldKind = { kind: 'number', whole: true }
const number: FieldKind = { kind: 'number' }
const flag: FieldKind = { kind: 'flag' }
const colour: FieldKind = { kind: 'word', words: ['red', 'green'] }
const point: readonly Field[] = [
  { name: 'x', of: whole },
  { name: 'label', of: text, rare: true },
]
const shape: FieldKind = {
  kind: 'union',
  tag: 'kind',
  variants: [
    { word: 'nothing', fields: [] },
    { word: 'circle', fields: [{ name: 'centre', of: { kind: 'object', fields: point } }] },
  ],
}

const fields: readonly Field[] = [
  { name: 'text', of: text },
  { name: 'whole', of: whole },
  { name: 'number', of: number },
  { name: 'flag', of: flag },
  { name: 'colour', of: colour },
  { name: 'texts', of: { kind: 'list', of: text } },
  { name: 'points', of: { kind: 'list', of: { kind: 'object', fields: point } } },
  { name: 'point', of: { kind: 'object', fields: point } },
  { name: 'shape', of: shape },
  { name: 'rareText', of: text, rare: true },
  { name: 'rareFlag', of: flag, rare: true },
  { name: 'rareList', of: { kind: 'list', of: text }, rare: true },
  { name: 'rareShape', of: shape, rare: true },
]

const anyText = fc.string({ unit: 'grapheme', maxLength: 30, size: 'max' })
const anyWhole = fc.integer({ min: 0, max: 2 ** 48 - 2 })
const anyPoint = fc.record({ x: optional(anyWhole), label: optional(anyText) })
const anyShape = fc.oneof(
  fc.constant({ kind: 'nothing' }),
  fc.record({ kind: fc.constant('circle'), centre: optional(anyPoint) }),
)

function optional<T>(values: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> {
  return fc.option(values, { nil: undefined })
}

const anyValue = fc.record({
  text: optional(anyText),
  whole: optional(anyWhole),
  number: optional(fc.double({ noNaN: true })),
  flag: optional(fc.boolean()),
  colour: optional(fc.constantFrom('red', 'green')),
  texts: optional(fc.array(anyText, { maxLength: 4 })),
  points: optional(fc.array(anyPoint, { maxLength: 3 })),
  point: optional(anyPoint),
  shape: optional(anyShape),
  rareText: optional(anyText),
  rareFlag: optional(fc.boolean()),
  rareList: optional(fc.array(anyText, { maxLength: 3 })),
  rareShape: optional(anyShape),
})

function written(value: object): Buffer {
  const writer = new LayoutWriter()
  writer.fields(fields, value)
  return writer.take()
}

describe('the layout', () => {
  test('gives back every value as it was, absent ones included', () => {
    fc.assert(
      fc.property(anyValue, (value) => {
        expect(new LayoutReader(written(value)).fields(fields)).toEqual(value)
      }),
    )
  })

  test('has room for any amount, whatever it is that no longer fits', () => {
    for (let length = 900; length < 1_100; length++) {
      const value = { text: 'x'.repeat(length), whole: 7, number: 0.5, flag: true, texts: ['a'], point: { x: 1 } }

      expect(new LayoutReader(written(value)).fields(fields)).toMatchObject(value)
    }
  })

  test('takes one byte for a rare field that is absent', () => {
    const before = written({}).length

    expect(written({ rareText: 'five!' })).toHaveLength(before + 2 + 'five!'.length)
  })

  test.each([-1, 0.5, 2 ** 48 - 1, Number.NaN])('does not write %d where a whole number belongs', (whole) => {
    const writer = new LayoutWriter()

    expect(writer.tries(() => writer.fields(fields, { text: 'kept out', whole }))).toBe(false)
    expect(writer.take()).toHaveLength(0)
  })

  test('begins again without what it could not write, whatever the reason', () => {
    const writer = new LayoutWriter()

    expect(() => writer.tries(() => writer.fields(fields, { whole: 7, text: 5 }))).toThrow(TypeError)
    expect(writer.take()).toHaveLength(0)
  })

  test('does not write a text that is longer than its length can say', () => {
    const writer = new LayoutWriter()

    expect(writer.tries(() => writer.fields(fields, { text: 'x'.repeat(2 ** 16) }))).toBe(false)
    expect(writer.tries(() => writer.fields(fields, { text: 'x'.repeat(2 ** 16 - 1) }))).toBe(true)
  })
})
