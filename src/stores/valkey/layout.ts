/**
 * The bytes of a record, an event, an input or an answer: fields in the order of their schema, numbers and lengths little
 * end first, no names. First come the plain fields of an object, then one after the other the parts that vary in length
 * or may be absent. Inside the server the same bytes are written and read by code that is generated from the same schema.
 *
 * | kind         | plain field                                   | behind the plain fields                  |
 * | ------------ | --------------------------------------------- | ---------------------------------------- |
 * | text         | 2 bytes of length, UTF-8; absent: byte 255    |                                          |
 * | number       | a double; absent: not a number                |                                          |
 * | whole number | 6 bytes; absent: all ones                     |                                          |
 * | flag, word   | 1 byte; absent: 255                           |                                          |
 * | list         | 2 bytes of count; absent: all ones            | its items                                |
 * | object       | 1 byte: there or not                          | the object                               |
 * | union        | 1 byte: which variant; absent: 255            | the fields of the variant                |
 * | a rare field | 1 byte: there or not                          | the field as if it were an object's only |
 *
 * Nothing here says which fields there are: whoever reads must have the schema of whoever wrote. So a schema that changes in
 * any way is a new version of the layout, and programs of one version only share a store.
 */
import type { Field, FieldKind, Variant } from '../../kernel/index.ts'

/** To be raised with every change of a record's or an event's schema. */
export const LAYOUT_VERSION = 3

export const ABSENT_WHOLE = 2 ** 48 - 1
export const ABSENT_COUNT = 2 ** 16 - 1
export const ABSENT_BYTE = 255
/** No text in UTF-8 contains this byte. */
const ABSENT_TEXT = Buffer.from([ABSENT_BYTE])

type Values = Readonly<Record<string, unknown>>

interface Plan {
  /** Fields that have more than their plain bytes. */
  readonly parts: readonly Field[]
  /** An object with all the fields and no values: a copy of it need not grow from field to field. */
  readonly blank: Values
}

const plans = new WeakMap<readonly Field[], Plan>()

function planOf(fields: readonly Field[]): Plan {
  let plan = plans.get(fields)
  if (plan === undefined) {
    const blank = Object.fromEntries(fields.map((field) => [field.name, undefined]))
    plan = { parts: fields.filter(hasPart), blank }
    plans.set(fields, plan)
  }
  return plan
}

function hasPart({ rare, of }: Field): boolean {
  return rare === true || of.kind === 'list' || of.kind === 'object' || of.kind === 'union'
}

const FIRST_BYTES = 1_024

export class LayoutWriter {
  #bytes = Buffer.allocUnsafe(FIRST_BYTES)
  #length = 0

  /** A copy of what was written; the writer begins again. */
  take(): Buffer {
    const bytes = Buffer.from(this.#bytes.subarray(0, this.#length))
    this.#length = 0
    return bytes
  }

  /** Writes something, or nothing at all if it holds a value that has no place in the layout. */
  tries(write: () => void): boolean {
    const start = this.#length
    try {
      write()
      return true
    } catch (error) {
      this.#length = start
      if (!(error instanceof RangeError)) throw error
      return false
    }
  }

  byte(value: number): void {
    const at = this.#room(1)
    this.#bytes[at] = value
  }

  /** The plain fields of an object, then its parts. */
  fields(fields: readonly Field[], object: object): void {
    const value = object as Values
    for (const field of fields) {
      const content = value[field.name]
      if (field.rare === true) this.byte(content === undefined ? 0 : 1)
      else this.#plain(field.of, content)
    }
    for (const field of planOf(fields).parts) {
      const content = value[field.name]
      if (content === undefined) continue
      if (field.rare === true) this.#plain(field.of, content)
      this.#part(field.of, content)
    }
  }

  #plain(of: FieldKind, value: unknown): void {
    switch (of.kind) {
      case 'text': {
        this.#text(value as string | undefined)
        return
      }
      case 'number': {
        this.#number(of.whole === true, value as number | undefined)
        return
      }
      case 'flag': {
        this.byte(value === undefined ? ABSENT_BYTE : value === true ? 1 : 0)
        return
      }
      case 'word': {
        this.byte(value === undefined ? ABSENT_BYTE : of.words.indexOf(value as string) & ABSENT_BYTE)
        return
      }
      case 'list': {
        const at = this.#room(2)
        this.#bytes.writeUInt16LE(value === undefined ? ABSENT_COUNT : (value as unknown[]).length, at)
        return
      }
      case 'object': {
        this.byte(value === undefined ? 0 : 1)
        return
      }
      case 'union': {
        this.byte(value === undefined ? ABSENT_BYTE : variantNumber(of.tag, of.variants, value as Values))
        return
      }
    }
  }

  #part(of: FieldKind, value: unknown): void {
    switch (of.kind) {
      case 'list':
        for (const item of value as unknown[]) this.#item(of.of, item)
        return
      case 'object': {
        this.fields(of.fields, value as Values)
        return
      }
      case 'union': {
        const variant = of.variants[variantNumber(of.tag, of.variants, value as Values)]
        if (variant !== undefined) this.fields(variant.fields, value as Values)
        return
      }
      case 'text':
      case 'number':
      case 'flag':
      case 'word':
        return
    }
  }

  #item(of: FieldKind, item: unknown): void {
    if (of.kind === 'object') {
      this.fields(of.fields, item as Values)
      return
    }
    this.#plain(of, item)
    this.#part(of, item)
  }

  #text(value: string | undefined): void {
    if (value === undefined) {
      const at = this.#room(3)
      this.#bytes.writeUInt16LE(ABSENT_TEXT.length, at)
      this.#bytes[at + 2] = ABSENT_BYTE
      return
    }
    const length = Buffer.byteLength(value)
    if (length > ABSENT_COUNT) throw new RangeError(`A text of ${length} bytes is too long to be stored.`)
    const at = this.#room(2 + length)
    this.#bytes.writeUInt16LE(length, at)
    this.#bytes.write(value, at + 2)
  }

  #number(isWhole: boolean, value: number | undefined): void {
    if (!isWhole) {
      const at = this.#room(8)
      this.#bytes.writeDoubleLE(value ?? Number.NaN, at)
      return
    }
    if (value !== undefined && !(Number.isInteger(value) && value >= 0 && value < ABSENT_WHOLE)) {
      throw new RangeError(`${value} is not a whole number from 0 to 2^48 - 2.`)
    }
    const at = this.#room(6)
    this.#bytes.writeUIntLE(value ?? ABSENT_WHOLE, at, 6)
  }

  /** Makes room for so many bytes and answers where they begin. The buffer may be another one afterwards. */
  #room(count: number): number {
    const at = this.#length
    this.#length += count
    if (this.#length > this.#bytes.length) {
      const larger = Buffer.allocUnsafe(Math.max(this.#length, 2 * this.#bytes.length))
      this.#bytes.copy(larger, 0, 0, at)
      this.#bytes = larger
    }
    return at
  }
}

function variantNumber(tag: string, variants: readonly Variant[], value: Values): number {
  const number = variants.findIndex((variant) => variant.word === value[tag])
  return number === -1 ? ABSENT_BYTE : number
}

export class LayoutReader {
  readonly #bytes: Buffer
  #at: number

  constructor(bytes: Buffer, start = 0) {
    this.#bytes = bytes
    this.#at = start
  }

  /** Whether everything has been read, and nothing that is not there. */
  get isAtEnd(): boolean {
    return this.#at === this.#bytes.length
  }

  byte(): number {
    return this.#bytes.readUInt8(this.#at++)
  }

  /** An object of these fields, behind what else it is to have. */
  fields(fields: readonly Field[], first?: Values): Record<string, unknown> {
    const { parts, blank } = planOf(fields)
    const value: Record<string, unknown> = first === undefined ? { ...blank } : { ...first, ...blank }
    for (const field of fields) value[field.name] = field.rare === true ? this.byte() : this.#plain(field.of)
    for (const field of parts) {
      let content = value[field.name]
      if (field.rare === true) content = content === 1 ? this.#plain(field.of) : undefined
      value[field.name] = this.#part(field.of, content)
    }
    return value
  }

  /** The value itself, or what says how to read it. */
  #plain(of: FieldKind): unknown {
    switch (of.kind) {
      case 'text':
        return this.#text()
      case 'number':
        return this.#number(of.whole === true)
      case 'flag': {
        const byte = this.byte()
        return byte === ABSENT_BYTE ? undefined : byte === 1
      }
      case 'word':
        return of.words[this.byte()]
      case 'list': {
        const count = this.#bytes.readUInt16LE(this.#at)
        this.#at += 2
        return count === ABSENT_COUNT ? undefined : count
      }
      case 'object':
        return this.byte() === 1 ? 1 : undefined
      case 'union': {
        const number = this.byte()
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
        return this.fields(of.fields)
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
    return of.kind === 'object' ? this.fields(of.fields) : this.#part(of, this.#plain(of))
  }

  #text(): string | undefined {
    const length = this.#bytes.readUInt16LE(this.#at)
    const start = this.#at + 2
    this.#at = start + length
    if (length === ABSENT_TEXT.length && this.#bytes[start] === ABSENT_BYTE) return undefined
    return this.#bytes.toString('utf8', start, this.#at)
  }

  #number(isWhole: boolean): number | undefined {
    const size = isWhole ? 6 : 8
    const value = isWhole ? this.#bytes.readUIntLE(this.#at, 6) : this.#bytes.readDoubleLE(this.#at)
    this.#at += size
    return (isWhole ? value === ABSENT_WHOLE : Number.isNaN(value)) ? undefined : value
  }
}
