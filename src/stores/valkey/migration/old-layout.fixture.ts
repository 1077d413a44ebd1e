/** Writes records and events as programs of layout 3 did, for tests that need a store of theirs. */
import type { AnyRecord, FabricEvent, Field, FieldKind, Variant } from '../../../kernel/index.ts'
import { oldEventFields, oldFields } from './old-schema.ts'
import type { OldRecordType } from './old-schema.ts'

const ABSENT_WHOLE = 2 ** 48 - 1
const ABSENT_COUNT = 2 ** 16 - 1
const ABSENT_BYTE = 255

type Values = Readonly<Record<string, unknown>>

export function oldRecordBytes(record: AnyRecord): Buffer {
  return oldBytes(oldFields[record.type as OldRecordType], record)
}

export function oldEventBytes(event: FabricEvent): Buffer {
  return oldBytes(oldEventFields, { event })
}

export function oldBytes(fields: readonly Field[], value: object): Buffer {
  return Buffer.concat([...fieldsBytes(fields, value as Values)])
}

/** The plain fields of an object, then its parts. */
function* fieldsBytes(fields: readonly Field[], value: Values): Generator<Buffer> {
  for (const { name, of, rare } of fields) {
    yield rare === true ? Buffer.of(value[name] === undefined ? 0 : 1) : plainBytes(of, value[name])
  }
  for (const { name, of, rare } of fields) {
    const content = value[name]
    if (content === undefined) continue
    if (rare === true) yield plainBytes(of, content)
    yield* partBytes(of, content)
  }
}

function plainBytes(of: FieldKind, value: unknown): Buffer {
  switch (of.kind) {
    case 'text':
      return textBytes(value as string | undefined)
    case 'number': {
      const bytes = Buffer.alloc(of.whole === true ? 6 : 8)
      if (of.whole === true) bytes.writeUIntLE((value as number | undefined) ?? ABSENT_WHOLE, 0, 6)
      else bytes.writeDoubleLE((value as number | undefined) ?? Number.NaN)
      return bytes
    }
    case 'flag':
      return Buffer.of(value === undefined ? ABSENT_BYTE : value === true ? 1 : 0)
    case 'word':
      return Buffer.of(of.words.indexOf(value as string) & ABSENT_BYTE)
    case 'list':
      return countBytes(value === undefined ? ABSENT_COUNT : (value as unknown[]).length)
    case 'object':
      return Buffer.of(value === undefined ? 0 : 1)
    case 'union':
      return Buffer.of(value === undefined ? ABSENT_BYTE : variantNumber(of.tag, of.variants, value as Values))
  }
}

function* partBytes(of: FieldKind, value: unknown): Generator<Buffer> {
  switch (of.kind) {
    case 'list':
      for (const item of value as unknown[]) {
        if (of.of.kind !== 'object') yield plainBytes(of.of, item)
        yield* partBytes(of.of, item)
      }
      return
    case 'object':
      yield* fieldsBytes(of.fields, value as Values)
      return
    case 'union': {
      const variant = of.variants[variantNumber(of.tag, of.variants, value as Values)]
      yield* fieldsBytes(variant?.fields ?? [], value as Values)
      return
    }
    case 'text':
    case 'number':
    case 'flag':
    case 'word':
      return
  }
}

function variantNumber(tag: string, variants: readonly Variant[], value: Values): number {
  return variants.findIndex(({ word }) => word === value[tag]) & ABSENT_BYTE
}

function countBytes(count: number): Buffer {
  const bytes = Buffer.alloc(2)
  bytes.writeUInt16LE(count)
  return bytes
}

function textBytes(value: string | undefined): Buffer {
  const content = value === undefined ? Buffer.of(ABSENT_BYTE) : Buffer.from(value)
  return Buffer.concat([countBytes(content.length), content])
}
