/** Arbitraries of every record and event, derived from their schemas. */
import fc from 'fast-check'
import type { Cell, Field, FieldKind } from './codec.ts'
import { eventFields } from './events.ts'
import type { FabricEvent } from './events.ts'
import { recordSchemas } from './records.ts'
import type { AnyRecord, Execution } from './records.ts'

const text = fc.string()
/** Small counts and instants. */
const whole = fc.oneof(fc.nat(1_000), fc.integer({ min: 0, max: 4_000_000_000_000 }))
const number = fc.oneof(fc.nat(1_000), fc.double({ min: 1, max: 100, noNaN: true }))

function valueOf(of: FieldKind): fc.Arbitrary<unknown> {
  switch (of.kind) {
    case 'text':
      return text
    case 'number':
      return of.whole === true ? whole : number
    case 'flag':
      return fc.boolean()
    case 'word':
      return fc.constantFrom(...of.words.filter((word) => of.reserved?.includes(word) !== true))
    case 'list':
      return fc.array(valueOf(of.of), { maxLength: 3 })
    case 'object':
      return objectOf(of.fields)
    case 'union':
      return fc.oneof(...of.variants.map(({ word, fields }) => objectOf(fields, { [of.tag]: fc.constant(word) })))
  }
}

/** Plain objects, as the kernel makes them. */
function objectOf(fields: readonly Field[], tags: Record<string, fc.Arbitrary<unknown>> = {}): fc.Arbitrary<object> {
  const values = fields.map(({ name, of, optional }): [string, fc.Arbitrary<unknown>] => {
    return [name, optional === true ? fc.option(valueOf(of), { nil: undefined }) : valueOf(of)]
  })
  return fc.record({ ...tags, ...Object.fromEntries(values) }, { noNullPrototype: true })
}

function recordOf({
  type,
  fields,
}: {
  readonly type: string
  readonly fields: readonly Field[]
}): fc.Arbitrary<object> {
  return objectOf(fields, { type: fc.constant(type) })
}

export const execution = recordOf(recordSchemas.execution) as fc.Arbitrary<Execution>
export const event = objectOf(eventFields) as fc.Arbitrary<FabricEvent>
export const record = fc.oneof(...Object.values(recordSchemas).map(recordOf)) as fc.Arbitrary<AnyRecord>

/** A value that a newer schema wrote behind the fields which this one knows. */
export const cell: fc.Arbitrary<Cell> = fc.oneof(text, fc.nat(1_000), fc.constant<false>(false), fc.array(text))
