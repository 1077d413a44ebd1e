/** Random values of a schema: whatever has a place in its fields, present or absent. */
import fc from 'fast-check'
import type { Field, FieldKind } from '../../src/kernel/index.ts'
import { ABSENT_WHOLE } from '../../src/stores/valkey/layout.ts'

export type Values = Readonly<Record<string, unknown>>

const LIST_LENGTH_MAX = 4

/** Letters of every length in bytes, nothing at all, and texts whose length takes more than one byte. */
export const anyText = fc.oneof(
  { weight: 8, arbitrary: fc.string({ unit: 'binary' }) },
  { weight: 1, arbitrary: fc.constantFrom('', '\u00ff', 'ÿ'.repeat(128), '🐝'.repeat(2_000)) },
)

const anyWhole = fc.oneof(
  { weight: 4, arbitrary: fc.nat() },
  { weight: 2, arbitrary: fc.integer({ min: 0, max: ABSENT_WHOLE - 1 }) },
  { weight: 1, arbitrary: fc.constantFrom(0, 255, 65_535, 2 ** 32, 2 ** 48 - 2) },
)

/** There is one zero only: nobody counts down to the other. */
const anyNumber = fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => value + 0)

function anyValue(of: FieldKind): fc.Arbitrary<unknown> {
  switch (of.kind) {
    case 'text':
      return anyText
    case 'number':
      return of.whole === true ? anyWhole : anyNumber
    case 'flag':
      return fc.boolean()
    case 'word':
      return fc.constantFrom(...of.words)
    case 'list':
      return fc.array(anyValue(of.of), { maxLength: LIST_LENGTH_MAX })
    case 'object':
      return anyObject(of.fields)
    case 'union':
      return fc.oneof(...of.variants.map(({ word, fields }) => anyObject(fields, { [of.tag]: fc.constant(word) })))
  }
}

/**
 * Any field but the first may be absent; those in `always` are there as well. A table without fields is a list to a
 * server, and no object of ours is without any.
 */
export function anyObject(
  fields: readonly Field[],
  always: Readonly<Record<string, fc.Arbitrary<unknown>>> = {},
): fc.Arbitrary<Values> {
  const values = fields.map(({ name, of }, i) => {
    return [name, i === 0 ? anyValue(of) : fc.option(anyValue(of), { nil: undefined })] as const
  })
  return fc.record({ ...Object.fromEntries(values), ...always }, { noNullPrototype: true }).map(present)
}

function present(values: Values): Values {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined))
}
