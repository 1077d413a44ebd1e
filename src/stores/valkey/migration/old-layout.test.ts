import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Field, FieldKind } from '../../../kernel/index.ts'
import { oldBytes } from './old-layout.fixture.ts'
import { readOldEvent, readOldRecord } from './old-layout.ts'
import { oldEventFields, oldFields, oldRecordTypes } from './old-schema.ts'

type Values = Readonly<Record<string, unknown>>

const whole = fc.oneof(fc.nat(), fc.constantFrom(0, 65_535, 2 ** 32, 2 ** 48 - 2))
const text = fc.oneof(fc.string({ unit: 'grapheme' }), fc.constantFrom('', 'ÿ'.repeat(200)))

/** Whatever has a place in the fields of a schema, present or absent. */
function anyObject(fields: readonly Field[]): fc.Arbitrary<Values> {
  return fc.record(
    Object.fromEntries(fields.map(({ name, of }) => [name, fc.option(anyValue(of), { nil: undefined })])),
  )
}

function anyValue(of: FieldKind): fc.Arbitrary<unknown> {
  switch (of.kind) {
    case 'text':
      return text
    case 'number':
      return of.whole === true ? whole : fc.double({ noNaN: true })
    case 'flag':
      return fc.boolean()
    case 'word':
      return fc.constantFrom(...of.words)
    case 'list':
      return fc.array(anyValue(of.of), { maxLength: 3 })
    case 'object':
      return anyObject(of.fields)
    case 'union':
      return fc.oneof(
        ...of.variants.map(({ word, fields }) => anyObject(fields).map((values) => ({ [of.tag]: word, ...values }))),
      )
  }
}

describe.each(oldRecordTypes)('a record of type %s of layout 3', (type) => {
  const fields = oldFields[type]

  test('is read as it was written, absent values included', () => {
    fc.assert(
      fc.property(anyObject(fields), (record) => {
        expect(readOldRecord(type, oldBytes(fields, record))).toEqual({ type, ...record })
      }),
    )
  })

  test('is not read from bytes that end too early or too late', () => {
    fc.assert(
      fc.property(anyObject(fields), fc.nat(), (record, number) => {
        const bytes = oldBytes(fields, record)

        expect(readOldRecord(type, bytes.subarray(0, number % bytes.length))).toBeUndefined()
        expect(readOldRecord(type, Buffer.concat([bytes, Buffer.of(0)]))).toBeUndefined()
      }),
    )
  })
})

test('an event of layout 3 is read as it was written, by its type', () => {
  const [field] = oldEventFields
  if (field === undefined) expect.fail('there is one field')
  fc.assert(
    fc.property(anyValue(field.of), (event) => {
      expect(readOldEvent(oldBytes(oldEventFields, { event }))).toEqual(event)
    }),
    { numRuns: 500 },
  )
})
