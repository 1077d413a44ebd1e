/**
 * Writes the messages of a client into one buffer. Arrays are sent in binary form, so that neither side has to quote
 * texts or format numbers.
 */
import { ArrayValue } from './arrays.ts'
import type { ArrayKind } from './arrays.ts'

/** A parameter of a statement. */
export type Parameter = ArrayValue | Uint8Array | string | number | null

const FIRST_BYTES = 16_384
/** A larger buffer is released at the next reset. */
const KEPT_BYTES_MAX = 1_048_576
/** Up to this length a text is written faster in JavaScript than by a call into native code. */
const SHORT_TEXT = 20
/** Limit of UTF-8 bytes per UTF-16 code unit. */
const CHARACTER_BYTES = 3
const INTEGER_BYTES = 4
const TWO_TO_32 = 2 ** 32
const INTEGER_MAX = 2 ** 31
const BIGINT_MAX = 2 ** 63

const BIND = 0x42
const DESCRIBE = 0x44
const EXECUTE = 0x45
const PARSE = 0x50
const SYNC = 0x53
const STATEMENT = 0x53

const NULL_LENGTH = -1
const TEXT_FORMAT = 0
const BINARY_FORMAT = 1

const elementTypes: Readonly<Record<ArrayKind, number>> = { text: 25, integer: 23, bigint: 20, boolean: 16 }

// eslint-disable-next-line no-control-regex -- Postgres texts cannot hold NUL
const NUL = /\u0000/g

export class MessageWriter {
  #bytes: Buffer = Buffer.allocUnsafe(FIRST_BYTES)
  #view = viewOf(this.#bytes)
  #at = 0

  /** Starts over, in the same buffer. */
  reset(): void {
    this.#at = 0
    if (this.#bytes.byteLength > KEPT_BYTES_MAX) this.#use(Buffer.allocUnsafe(FIRST_BYTES))
  }

  /** Returns all messages since the last reset. Valid until the next reset. */
  written(): Buffer {
    return this.#bytes.subarray(0, this.#at)
  }

  /** Prepares a statement. One without a name is kept until the next such. */
  parse(name: string, text: string): void {
    const start = this.#begin(PARSE)
    this.#word(name)
    this.#word(text)
    this.#int16(0)
    this.#end(start)
  }

  /** Asks for the columns of a prepared statement. */
  describe(name: string): void {
    const start = this.#begin(DESCRIBE)
    this.#byte(STATEMENT)
    this.#word(name)
    this.#end(start)
  }

  bind(name: string, values: readonly Parameter[]): void {
    const start = this.#begin(BIND)
    this.#word('')
    this.#word(name)
    this.#int16(values.length)
    const formats = this.#at
    this.#reserve(2 * values.length)
    this.#at += 2 * values.length
    this.#int16(values.length)
    for (let i = 0; i < values.length; i++) {
      const format = this.#value(values[i] ?? null)
      this.#view.setInt16(formats + 2 * i, format)
    }
    // All result columns as text.
    this.#int16(0)
    this.#end(start)
  }

  execute(): void {
    const start = this.#begin(EXECUTE)
    this.#word('')
    // All rows.
    this.#int32(0)
    this.#end(start)
  }

  sync(): void {
    this.#end(this.#begin(SYNC))
  }

  #begin(code: number): number {
    this.#byte(code)
    this.#int32(0)
    return this.#at - INTEGER_BYTES
  }

  /** The length includes itself, but not the type byte before it. */
  #end(start: number): void {
    this.#view.setInt32(start, this.#at - start)
  }

  /** Writes a parameter and returns its format. */
  #value(value: Parameter): number {
    if (value instanceof ArrayValue) return this.#array(value)
    if (value === null) {
      this.#int32(NULL_LENGTH)
      return TEXT_FORMAT
    }
    if (value instanceof Uint8Array) {
      this.#int32(value.byteLength)
      this.#reserve(value.byteLength)
      this.#bytes.set(value, this.#at)
      this.#at += value.byteLength
      return BINARY_FORMAT
    }
    this.#sizedText(String(value))
    return TEXT_FORMAT
  }

  #array(array: ArrayValue): number {
    const start = this.#at
    this.#int32(0)
    const { kind, values } = array
    const isEmpty = values.length === 0
    this.#int32(isEmpty ? 0 : 1)
    // The flag for nulls is only a hint.
    this.#int32(1)
    this.#int32(elementTypes[kind])
    if (!isEmpty) {
      this.#int32(values.length)
      // The lower bound.
      this.#int32(1)
    }
    if (!this.#elements(kind, values)) {
      this.#at = start
      this.#sizedText(`{${values.map((value) => value ?? 'null').join(',')}}`)
      return TEXT_FORMAT
    }
    this.#view.setInt32(start, this.#at - start - INTEGER_BYTES)
    return BINARY_FORMAT
  }

  /** Returns false if a number does not fit its type. It is then sent as text, so that the server refuses it. */
  #elements(kind: ArrayKind, values: ArrayValue['values']): boolean {
    switch (kind) {
      case 'text':
        for (const value of values) {
          if (value === undefined) this.#int32(NULL_LENGTH)
          else this.#sizedText(value as string)
        }
        return true
      case 'integer':
        return this.#integers(values as readonly (number | undefined)[])
      case 'bigint':
        return this.#bigints(values as readonly (number | undefined)[])
      case 'boolean':
        for (const value of values) {
          this.#int32(1)
          this.#byte(value === true ? 1 : 0)
        }
        return true
    }
  }

  #integers(values: readonly (number | undefined)[]): boolean {
    this.#reserve(2 * INTEGER_BYTES * values.length)
    for (const value of values) {
      if (value === undefined) {
        this.#int32(NULL_LENGTH)
        continue
      }
      if (!Number.isInteger(value) || value >= INTEGER_MAX || value < -INTEGER_MAX) return false
      this.#view.setInt32(this.#at, INTEGER_BYTES)
      this.#view.setInt32(this.#at + INTEGER_BYTES, value)
      this.#at += 2 * INTEGER_BYTES
    }
    return true
  }

  #bigints(values: readonly (number | undefined)[]): boolean {
    this.#reserve(3 * INTEGER_BYTES * values.length)
    for (const value of values) {
      if (value === undefined) {
        this.#int32(NULL_LENGTH)
        continue
      }
      if (!Number.isInteger(value) || value >= BIGINT_MAX || value < -BIGINT_MAX) return false
      const high = Math.floor(value / TWO_TO_32)
      this.#view.setInt32(this.#at, 2 * INTEGER_BYTES)
      this.#view.setInt32(this.#at + INTEGER_BYTES, high)
      this.#view.setUint32(this.#at + 2 * INTEGER_BYTES, value - high * TWO_TO_32)
      this.#at += 3 * INTEGER_BYTES
    }
    return true
  }

  /** Writes a text with its length before it. */
  #sizedText(text: string): void {
    this.#reserve(INTEGER_BYTES + CHARACTER_BYTES * text.length)
    const start = this.#at
    const size = this.#textAt(text, start + INTEGER_BYTES)
    this.#view.setInt32(start, size)
    this.#at = start + INTEGER_BYTES + size
  }

  /** Writes a text with a terminating zero. */
  #word(text: string): void {
    this.#reserve(CHARACTER_BYTES * text.length + 1)
    this.#at += this.#textAt(text, this.#at)
    this.#byte(0)
  }

  /** Writes a text into reserved space and returns its size. */
  #textAt(text: string, start: number): number {
    const { length } = text
    if (length <= SHORT_TEXT) {
      const bytes = this.#bytes
      let i = 0
      for (; i < length; i++) {
        const code = text.charCodeAt(i)
        if (code === 0 || code > 0x7f) break
        bytes[start + i] = code
      }
      if (i === length) return length
    }
    return this.#bytes.write(text.includes('\u0000') ? text.replace(NUL, '\u2400') : text, start)
  }

  #byte(value: number): void {
    this.#reserve(1)
    this.#bytes[this.#at] = value
    this.#at += 1
  }

  #int16(value: number): void {
    this.#reserve(2)
    this.#view.setInt16(this.#at, value)
    this.#at += 2
  }

  #int32(value: number): void {
    this.#reserve(INTEGER_BYTES)
    this.#view.setInt32(this.#at, value)
    this.#at += INTEGER_BYTES
  }

  #reserve(size: number): void {
    const needed = this.#at + size
    if (needed <= this.#bytes.byteLength) return
    const larger = Buffer.allocUnsafe(Math.max(needed, 2 * this.#bytes.byteLength))
    this.#bytes.copy(larger, 0, 0, this.#at)
    this.#use(larger)
  }

  #use(bytes: Buffer): void {
    this.#bytes = bytes
    this.#view = viewOf(bytes)
  }
}

function viewOf({ buffer, byteOffset, byteLength }: Buffer): DataView {
  return new DataView(buffer, byteOffset, byteLength)
}
