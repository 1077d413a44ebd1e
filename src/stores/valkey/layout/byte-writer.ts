/** A growing, reusable buffer. */
import { putName } from './id-bytes.ts'
import type { Put } from './put-value.ts'
import { COUNT_8_MAX } from './value-tags.ts'

const FIRST_BYTES = 1_024
const UTF8_BYTES_PER_CHARACTER_MAX = 3
const TIME_BYTES = 6

export class ByteWriter {
  protected buffer = Buffer.allocUnsafe(FIRST_BYTES)
  /** Where the next byte is written. */
  protected end = 0

  get length(): number {
    return this.end
  }

  /** The size of the buffer. */
  get capacity(): number {
    return this.buffer.length
  }

  /** Returns a copy of the written bytes and starts again with none. */
  take(): Buffer {
    const bytes = Buffer.from(this.buffer.subarray(0, this.end))
    this.end = 0
    return bytes
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

  /** Writes the name of a key behind one byte with its length. Returns false and writes nothing if it has more than 255 bytes. */
  shortName(kind: string, name: string, idParts: number): boolean {
    const start = this.room(1 + (kind.length + name.length) * UTF8_BYTES_PER_CHARACTER_MAX)
    const nameAt = start + 1 + this.buffer.write(kind, start + 1, 'latin1')
    const count = putName(this.buffer, nameAt, name, idParts) - start - 1
    const isShort = count <= COUNT_8_MAX
    this.buffer[start] = count
    this.end = isShort ? start + 1 + count : start
    return isShort
  }

  /** Writes a time in milliseconds in 6 bytes. */
  time(at: number): void {
    const start = this.room(TIME_BYTES)
    this.buffer.writeUIntLE(at, start, TIME_BYTES)
  }

  /** Writes a value. Writes nothing if `put` throws. */
  value<T>(put: Put<T>, value: T): void {
    let end = put(this.buffer, this.end, value)
    while (end > this.buffer.length) {
      this.#grow(end)
      end = put(this.buffer, this.end, value)
    }
    this.end = end
  }

  /** Makes room for so many bytes and returns where they begin. Replaces the buffer when the buffer is full. */
  protected room(count: number): number {
    const at = this.end
    const end = at + count
    if (end > this.buffer.length) this.#grow(end)
    this.end = end
    return at
  }

  /** Replaces the buffer by one of at least so many bytes with the same content. */
  #grow(size: number): void {
    const larger = Buffer.allocUnsafe(Math.max(size, 2 * this.buffer.length))
    this.buffer.copy(larger, 0, 0, this.end)
    this.buffer = larger
  }
}
