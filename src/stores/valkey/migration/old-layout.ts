/**
 * Reads the bytes of records and events of layout 3: fields in the order of their schema, numbers and lengths little-endian,
 * no names. First come the plain fields of an object, then one after the other the parts that vary in length or may be absent.
 *
 * | kind         | plain field                                   | behind the plain fields                  |
 * | ------------ | --------------------------------------------- | ---------------------------------------- |
 * | text         | 2 bytes of length, UTF-8; absent: byte 255    |                                          |
 * | number       | a double; absent: not a number                |                                          |
 * | whole number | 6 bytes; absent: all ones                     |                                          |
 * | flag, word   | 1 byte; absent: 255                           |                                          |
 * | list         | 2 bytes of count; absent: all ones            | its items                                |
 * | object       | 1 byte: present or not                        | the object                               |
 * | union        | 1 byte: which variant; absent: 255            | the fields of the variant                |
 * | a rare field | 1 byte: present or not                        | the field as if it were an object's only |
 */
import type { AnyRecord, FabricEvent, Field, FieldKind } from '../../../kernel/index.ts'
import { oldEventFields, oldFields } from './old-schema.ts'
import type { OldRecordType } from './old-schema.ts'

const ABSENT_WHOLE = 2 ** 48 - 1
const ABSENT_COUNT = 2 ** 16 - 1
const ABSENT_BYTE = 255

type Values = Record<string, unknown>

/** Returns undefined if the bytes are no record of the type. */
export function readOldRecord(type: OldRecordType, bytes: Buffer): AnyRecord | undefined {
  return readWhole(bytes, oldFields[type], { type }) as AnyRecord | undefined
}

/** Returns undefined if the bytes are no event. */
export function readOldEvent(bytes: Buffer): FabricEvent | undefined {
  return readWhole(bytes, oldEventFields, {})?.['event'] as FabricEvent | undefined
}

function readWhole(bytes: Buffer, fields: readonly Field[], first: Values): Values | undefined {
  try {
    const reader = new OldReader(bytes)
    const values = reader.fields(fields, first)
    return reader.isAtEnd ? values : undefined
  } catch (error) {
    if (error instanceof RangeError) return undefined
    throw error
  }
}

class OldReader {
  readonly #bytes: Buffer
  #at = 0

  constructor(bytes: Buffer) {
    this.#bytes = bytes
  }

  /** Whether everything has been read, and nothing past the end. */
  get isAtEnd(): boolean {
    return this.#at === this.#bytes.length
  }

  /** Reads the fields of an object into `values`. */
  fields(fields: readonly Field[], values: Values): Values {
    for (const { name, of, rare } of fields) values[name] = rare === true ? this.#byte() : this.#plain(of)
    for (const { name, of, rare } of fields) {
      const plain = rare !== true ? values[name] : values[name] === 1 ? this.#plain(of) : undefined
      values[name] = this.#part(of, plain)
    }
    return values
  }

  /** The value itself, or the tag that describes it. */
  #plain(of: FieldKind): unknown {
    switch (of.kind) {
      case 'text':
        return this.#text()
      case 'number':
        return this.#number(of.whole === true)
      case 'flag': {
        const byte = this.#byte()
        return byte === ABSENT_BYTE ? undefined : byte === 1
      }
      case 'word':
        return of.words[this.#byte()]
      case 'list': {
        const count = this.#bytes.readUInt16LE(this.#at)
        this.#at += 2
        return count === ABSENT_COUNT ? undefined : count
      }
      case 'object':
        return this.#byte() === 1 ? 1 : undefined
      case 'union': {
        const number = this.#byte()
        return number === ABSENT_BYTE ? undefined : number
      }
    }
  }

  #part(of: FieldKind, plain: unknown): unknown {
    if (plain === undefined) return undefined
    switch (of.kind) {
      case 'list': {
        const items: unknown[] = []
        for (let i = 0; i < (plain as number); i++) items.push(this.#item(of.of))
        return items
      }
      case 'object':
        return this.fields(of.fields, {})
      case 'union': {
        const variant = of.variants[plain as number]
        return variant === undefined ? undefined : this.fields(variant.fields, { [of.tag]: variant.word })
      }
      case 'text':
      case 'number':
      case 'flag':
      case 'word':
        return plain
    }
  }

  #item(of: FieldKind): unknown {
    return of.kind === 'object' ? this.fields(of.fields, {}) : this.#part(of, this.#plain(of))
  }

  #byte(): number {
    return this.#bytes.readUInt8(this.#at++)
  }

  #text(): string | undefined {
    const length = this.#bytes.readUInt16LE(this.#at)
    const start = this.#at + 2
    this.#at = start + length
    // No text in UTF-8 contains this byte.
    if (length === 1 && this.#bytes[start] === ABSENT_BYTE) return undefined
    return this.#bytes.toString('utf8', start, this.#at)
  }

  #number(isWhole: boolean): number | undefined {
    const value = isWhole ? this.#bytes.readUIntLE(this.#at, 6) : this.#bytes.readDoubleLE(this.#at)
    this.#at += isWhole ? 6 : 8
    return (isWhole ? value === ABSENT_WHOLE : Number.isNaN(value)) ? undefined : value
  }
}
