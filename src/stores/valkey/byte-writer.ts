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
const TIME_BYTES = 6

export class ByteWriter {
  protected buffer = Buffer.allocUnsafe(FIRST_BYTES)
  /** Where the next byte is written. */
  protected end = 0

  get length(): number {
    return this.end
  }

  /** Returns a copy of the written bytes and starts again with none. */
  take(): Buffer {
    const bytes = Buffer.from(this.buffer.subarray(0, this.end))
    this.end = 0
    return bytes
  }

  /** Drops the bytes behind a length that the writer had before. */
  truncate(length: number): void {
    this.end = length
  }

  /** Writes one byte as it is. */
  byte(value: number): void {
    const at = this.room(1)
    this.buffer[at] = value
  }

  /** Writes the characters of a Latin-1 text as they are, one byte each. */
  bytes(latin1: string): void {
    const at = this.room(latin1.length)
    this.buffer.write(latin1, at, 'latin1')
  }

  /** Changes a byte that was written. */
  setByte(at: number, value: number): void {
    this.buffer[at] = value
  }

  /** Writes a text behind one byte with its length. Returns false and writes nothing if it has more than 255 bytes. */
  shortText(text: string): boolean {
    const start = this.room(1 + text.length * UTF8_BYTES_PER_CHARACTER_MAX)
    const count = this.buffer.write(text, start + 1)
    const isShort = count <= COUNT_8_MAX
    this.buffer[start] = count
    this.end = isShort ? start + 1 + count : start
    return isShort
  }

  /** Writes a time in milliseconds in 6 bytes. */
  time(at: number): void {
    this.buffer.writeUIntLE(at, this.room(TIME_BYTES), TIME_BYTES)
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
    const at = this.room(9)
    this.buffer[at] = DOUBLE
    this.buffer.writeDoubleLE(value, at + 1)
  }

  /** Writes a text. Throws a RangeError if the text has more than 65,535 bytes. */
  text(value: string): void {
    const { length } = value
    if (length <= SHORT_TEXT_MAX && this.#shortAscii(value, length)) return
    if (length * UTF8_BYTES_PER_CHARACTER_MAX > COUNT_8_MAX) {
      this.#longText(value, COUNT_16_MAX)
      return
    }
    const start = this.room(2 + length * UTF8_BYTES_PER_CHARACTER_MAX)
    const bytes = this.buffer
    // The length of an ASCII text is known beforehand. The bytes of any other short text move if its tag is a byte longer.
    const expected = length > COUNT_IN_TAG_MAX ? 2 : 1
    const count = bytes.write(value, start + expected)
    if (count > COUNT_IN_TAG_MAX) {
      if (expected === 1) bytes.copyWithin(start + 2, start + 1, start + 1 + count)
      bytes[start] = TEXT_8
      bytes[start + 1] = count
      this.end = start + 2 + count
    } else {
      bytes[start] = TEXT + count
      this.end = start + 1 + count
    }
  }

  /** Writes the head of a list: so many values follow. */
  list(count: number): void {
    if (count <= COUNT_IN_TAG_MAX) {
      this.byte(LIST + count)
    } else if (count <= COUNT_8_MAX) {
      const at = this.room(2)
      this.buffer[at] = LIST_8
      this.buffer[at + 1] = count
    } else if (count <= COUNT_16_MAX) {
      const at = this.room(3)
      this.buffer[at] = LIST_16
      this.buffer.writeUInt16LE(count, at + 1)
    } else {
      throw new RangeError(`A list of ${count} values is too long to be stored: ${COUNT_16_MAX} is the limit.`)
    }
  }

  /** Writes the head of a list whose count is not known yet, and returns where the head is. */
  openList(): number {
    return this.room(1)
  }

  /** Ends a list at a length of the writer: the list has so many values, the bytes behind them are dropped. */
  closeList(start: number, count: number, end: number): void {
    this.end = end
    if (count <= COUNT_IN_TAG_MAX) {
      this.buffer[start] = LIST + count
      return
    }
    const headSize = count <= COUNT_8_MAX ? 2 : 3
    this.room(headSize - 1)
    this.buffer.copyWithin(start + headSize, start + 1, end)
    const written = this.end
    this.end = start
    this.list(count)
    this.end = written
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
    const start = this.room(1 + length)
    const bytes = this.buffer
    bytes[start] = TEXT + length
    for (let i = 0; i < length; i++) {
      const code = value.charCodeAt(i)
      if (code > ASCII_MAX) {
        this.end = start
        return false
      }
      bytes[start + 1 + i] = code
    }
    return true
  }

  #longText(value: string, limit: number): void {
    const count = Buffer.byteLength(value)
    if (count > limit) throw new RangeError(`A text of ${count} bytes is too long to be stored: ${limit} is the limit.`)
    const start = this.room(5 + count)
    const bytes = this.buffer
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
    this.end = at + count
  }

  /** Writes an integer in as few bytes as it needs. */
  #unsigned(value: number): void {
    const start = this.room(7)
    const bytes = this.buffer
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
    this.end = at
  }

  /** Makes room for so many bytes and returns where they begin. Replaces the buffer when the buffer is full. */
  protected room(count: number): number {
    const at = this.end
    this.end += count
    if (this.end > this.buffer.length) {
      const larger = Buffer.allocUnsafe(Math.max(this.end, 2 * this.buffer.length))
      this.buffer.copy(larger, 0, 0, at)
      this.buffer = larger
    }
    return at
  }
}
