/** A growing, reusable buffer of values in the form of `value-tags.ts`. Equal values have equal bytes. */
import type { Cell } from '../../kernel/index.ts'
import {
  ABSENT,
  COUNT_16_MAX,
  COUNT_8_MAX,
  COUNT_IN_TAG_MAX,
  DOUBLE,
  LIST,
  LIST_16,
  LIST_8,
  NUMBER,
  NUMBER_6_MAX,
  NUMBER_IN_TAG_MAX,
  TEXT,
  TEXT_16,
  TEXT_32,
  TEXT_8,
} from './value-tags.ts'

const FIRST_BYTES = 1_024
/** A text of at most so many characters is written character by character, which is faster than a native call. */
const SHORT_TEXT_MAX = 16
const UTF8_BYTES_PER_CHARACTER_MAX = 3
const ASCII_MAX = 0x7f
const FOUR_BYTES = 2 ** 32

export class ByteWriter {
  #bytes = Buffer.allocUnsafe(FIRST_BYTES)
  #length = 0

  get length(): number {
    return this.#length
  }

  /** Returns a copy of the written bytes and starts again with none. */
  take(): Buffer {
    const bytes = Buffer.from(this.#bytes.subarray(0, this.#length))
    this.#length = 0
    return bytes
  }

  /** Drops the bytes behind a length that the writer had before. */
  truncate(length: number): void {
    this.#length = length
  }

  /** Writes one byte as it is. */
  byte(value: number): void {
    const at = this.#grow(1)
    this.#bytes[at] = value
  }

  /** Writes the characters of a Latin-1 text as they are, one byte each. */
  bytes(latin1: string): void {
    const at = this.#grow(latin1.length)
    this.#bytes.write(latin1, at, 'latin1')
  }

  absent(): void {
    this.byte(ABSENT)
  }

  number(value: number): void {
    if (value > 0 && value <= NUMBER_6_MAX && Number.isInteger(value)) {
      if (value <= NUMBER_IN_TAG_MAX) this.byte(value)
      else this.#unsigned(value)
      return
    }
    // Minus zero equals zero, and only a double keeps its sign.
    if (Object.is(value, 0)) {
      this.byte(0)
      return
    }
    const at = this.#grow(9)
    this.#bytes[at] = DOUBLE
    this.#bytes.writeDoubleLE(value, at + 1)
  }

  /** Writes a text. Throws a RangeError if the text has more than 65,535 bytes. */
  text(value: string): void {
    const { length } = value
    if (length <= SHORT_TEXT_MAX && this.#shortAscii(value, length)) return
    if (length * UTF8_BYTES_PER_CHARACTER_MAX > COUNT_8_MAX) {
      this.#longText(value, COUNT_16_MAX)
      return
    }
    const start = this.#grow(2 + length * UTF8_BYTES_PER_CHARACTER_MAX)
    const bytes = this.#bytes
    // The length of an ASCII text is known beforehand. The bytes of any other short text move if its tag is a byte longer.
    const expected = length > COUNT_IN_TAG_MAX ? 2 : 1
    const count = bytes.write(value, start + expected)
    if (count > COUNT_IN_TAG_MAX) {
      if (expected === 1) bytes.copyWithin(start + 2, start + 1, start + 1 + count)
      bytes[start] = TEXT_8
      bytes[start + 1] = count
      this.#length = start + 2 + count
    } else {
      bytes[start] = TEXT + count
      this.#length = start + 1 + count
    }
  }

  /** Writes the head of a list: so many values follow. */
  list(count: number): void {
    if (count <= COUNT_IN_TAG_MAX) {
      this.byte(LIST + count)
    } else if (count <= COUNT_8_MAX) {
      const at = this.#grow(2)
      this.#bytes[at] = LIST_8
      this.#bytes[at + 1] = count
    } else if (count <= COUNT_16_MAX) {
      const at = this.#grow(3)
      this.#bytes[at] = LIST_16
      this.#bytes.writeUInt16LE(count, at + 1)
    } else {
      throw new RangeError(`A list of ${count} values is too long to be stored: ${COUNT_16_MAX} is the limit.`)
    }
  }

  /** Writes the head of a list whose count is not known yet, and returns where the head is. */
  openList(): number {
    return this.#grow(1)
  }

  /** Ends a list at a length of the writer: the list has so many values, the bytes behind them are dropped. */
  closeList(start: number, count: number, end: number): void {
    this.#length = end
    if (count <= COUNT_IN_TAG_MAX) {
      this.#bytes[start] = LIST + count
      return
    }
    const headSize = count <= COUNT_8_MAX ? 2 : 3
    this.#grow(headSize - 1)
    this.#bytes.copyWithin(start + headSize, start + 1, end)
    const written = this.#length
    this.#length = start
    this.list(count)
    this.#length = written
  }

  /** Writes a value that no schema describes. */
  cell(cell: Cell): void {
    if (cell === false) {
      this.absent()
    } else if (typeof cell === 'number') {
      this.number(cell)
    } else if (typeof cell === 'string') {
      if (cell.length <= SHORT_TEXT_MAX) this.text(cell)
      else this.#longText(cell, Number.MAX_SAFE_INTEGER)
    } else {
      this.list(cell.length)
      for (const item of cell) this.cell(item)
    }
  }

  #shortAscii(value: string, length: number): boolean {
    const start = this.#grow(1 + length)
    const bytes = this.#bytes
    bytes[start] = TEXT + length
    for (let i = 0; i < length; i++) {
      const code = value.charCodeAt(i)
      if (code > ASCII_MAX) {
        this.#length = start
        return false
      }
      bytes[start + 1 + i] = code
    }
    return true
  }

  #longText(value: string, limit: number): void {
    const count = Buffer.byteLength(value)
    if (count > limit) throw new RangeError(`A text of ${count} bytes is too long to be stored: ${limit} is the limit.`)
    const start = this.#grow(5 + count)
    const bytes = this.#bytes
    let at = start + 1
    if (count <= COUNT_IN_TAG_MAX) {
      bytes[start] = TEXT + count
    } else if (count <= COUNT_8_MAX) {
      bytes[start] = TEXT_8
      at = bytes.writeUInt8(count, at)
    } else if (count <= COUNT_16_MAX) {
      bytes[start] = TEXT_16
      at = bytes.writeUInt16LE(count, at)
    } else {
      bytes[start] = TEXT_32
      at = bytes.writeUInt32LE(count, at)
    }
    bytes.write(value, at)
    this.#length = at + count
  }

  /** Writes an integer in as few bytes as it needs. */
  #unsigned(value: number): void {
    const start = this.#grow(7)
    const bytes = this.#bytes
    let at = start + 1
    let low = value >>> 0
    if (value < FOUR_BYTES) {
      for (; low > 0; low >>>= 8) bytes[at++] = low
    } else {
      const high = (value - low) / FOUR_BYTES
      bytes[at++] = low
      bytes[at++] = low >>> 8
      bytes[at++] = low >>> 16
      bytes[at++] = low >>> 24
      bytes[at++] = high
      if (high > COUNT_8_MAX) bytes[at++] = high >>> 8
    }
    bytes[start] = NUMBER + (at - start - 1)
    this.#length = at
  }

  /** Makes room for so many bytes and returns where they begin. Replaces the buffer when the buffer is full. */
  #grow(count: number): number {
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
