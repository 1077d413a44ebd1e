/**
 * Writes a call of the function library as the bytes that go to the socket, in the protocol of the server: each argument
 * once, straight to its place.
 */
import { ByteWriter } from '../layout/byte-writer.ts'
import { putName, recentPlace } from '../layout/id-bytes.ts'
import { codeAt } from '../layout/text-code.ts'

/** A call that is ready to be sent. */
export interface FunctionCall {
  readonly name: string
  readonly keys: readonly string[]
  /** The whole command. Belongs to the writer, which overwrites it when it begins another call. */
  readonly bytes: Buffer
  /** The read that is sent ahead of the call. */
  readonly read: ValueRead | undefined
}

/** A read of values that is ready to be sent. */
export interface ValueRead {
  /** The slot of this key is that of all keys. */
  readonly key: string
  /** The whole command, which belongs to the writer too. */
  readonly bytes: Buffer
}

/** Room for the number of arguments in front of a command, which is known last. */
const HEAD_BYTES = 16
/** The head of a bulk string whose length has three digits, as that of most values has. */
const USUAL_DIGITS = 3
/** The same for a length of two digits, as that of most names has. */
const NAME_DIGITS = 2
/** A safe integer is written in two halves, since V8 divides numbers of 32 bits much faster. */
const HALF_DIGITS = 8
const HALF = 100_000_000
const BULK = 0x24
const CARRIAGE_RETURN = 0x0d
const LINE_FEED = 0x0a
const ZERO = 0x30
/** What the head of a bulk string has at most: its mark, 10 digits and the end of the line. */
const BULK_HEAD_MAX = 13
const UTF8_BYTES_PER_CHARACTER_MAX = 3
const ASCII_MAX = 0x7f
/** A text of at most so many characters is written character by character, which is faster than a native call. */
const SHORT_TEXT_MAX = 16
const RECENT_COUNT = 512
/** In front of a name that stands alone. */
export const NO_HEAD = new Uint8Array()

export class CallWriter extends ByteWriter {
  #count = 0
  /** Where the room for the head of the command begins. */
  #start = 0
  /** Where the read ahead of the call is, once it is written. */
  #readStart = 0
  #readEnd = 0
  #readKey = ''
  #name = ''
  #keys: readonly string[] = []
  /** The number of the call, and the members that were written lately: in which call, and where. A call has most of them twice. */
  #call = 0
  readonly #recentMembers: string[] = new Array<string>(RECENT_COUNT).fill('')
  readonly #recentCalls = new Int32Array(RECENT_COUNT)
  readonly #recentStarts = new Int32Array(RECENT_COUNT)
  readonly #recentEnds = new Int32Array(RECENT_COUNT)

  /** Starts again with an empty read of values. The call follows behind it. */
  beginRead(): void {
    this.#begin(0)
    this.argument('MGET')
  }

  /** `key` has the slot of all keys. */
  endRead(key: string): void {
    this.#readStart = this.#writeHead()
    this.#readEnd = this.end
    this.#readKey = key
  }

  /** Starts again with an empty call, behind a read that was just written. */
  begin(name: string, keys: readonly string[]): void {
    this.#begin(this.#readEnd)
    this.#call = (this.#call + 1) | 0
    this.#name = name
    this.#keys = keys
    this.argument('FCALL')
    this.argument(name)
    this.argument(keys.length)
    for (const key of keys) this.argument(key)
  }

  finish(): FunctionCall {
    const bytes = this.buffer.subarray(this.#writeHead(), this.end)
    return { name: this.#name, keys: this.#keys, bytes, read: this.#takeRead() }
  }

  /** The buffer may have been replaced since the read was written. */
  #takeRead(): ValueRead | undefined {
    const end = this.#readEnd
    this.#readEnd = 0
    return end === 0 ? undefined : { key: this.#readKey, bytes: this.buffer.subarray(this.#readStart, end) }
  }

  #begin(start: number): void {
    this.#start = start
    this.end = start
    this.room(HEAD_BYTES)
    this.#count = 0
  }

  /** Writes the number of arguments in front of them. Returns where the command begins. */
  #writeHead(): number {
    const head = `*${this.#count}\r\n`
    const start = this.#start + HEAD_BYTES - head.length
    this.buffer.write(head, start, 'latin1')
    return start
  }

  argument(value: string | number): void {
    if (typeof value === 'string') this.#text(value)
    else if (Number.isSafeInteger(value) && value >= 0) this.#natural(value)
    else this.#text(String(value))
  }

  /** One argument of some bytes and a name, whose first parts have their ids as bytes. */
  name(head: Uint8Array, name: string, idParts: number): void {
    const { length: headLength } = head
    const start = this.room(BULK_HEAD_MAX + headLength + UTF8_BYTES_PER_CHARACTER_MAX * name.length + 2)
    const { buffer } = this
    const nameAt = start + 1 + NAME_DIGITS + 2
    for (let i = 0; i < headLength; i++) buffer[nameAt + i] = head[i] as number
    const end = putName(buffer, nameAt + headLength, name, idParts)
    const length = end - nameAt
    const extra = digitsOf(length) - NAME_DIGITS
    if (extra !== 0) buffer.copyWithin(nameAt + extra, nameAt, end)
    this.end = start
    this.#head(length)
    this.end += length + 2
    this.#endLine(this.end - 2)
  }

  /** A member of an index. Copies the argument if the call has it already. */
  member(id: string, idParts: number): void {
    if (idParts === 0) {
      this.name(NO_HEAD, id, idParts)
      return
    }
    const place = recentPlace(id) & (RECENT_COUNT - 1)
    if (this.#recentCalls[place] === this.#call && this.#recentMembers[place] === id) {
      this.#repeat(this.#recentStarts[place] as number, this.#recentEnds[place] as number)
      return
    }
    this.#recentStarts[place] = this.end
    this.name(NO_HEAD, id, idParts)
    this.#recentEnds[place] = this.end
    this.#recentMembers[place] = id
    this.#recentCalls[place] = this.#call
  }

  /** Writes an argument again. */
  #repeat(start: number, end: number): void {
    const at = this.room(end - start)
    const { buffer } = this
    for (let i = start; i < end; i++) buffer[at + i - start] = buffer[i] as number
    this.#count += 1
  }

  /** An argument of bytes that are copied as they are. */
  bytesArgument(bytes: Uint8Array): void {
    this.#head(bytes.byteLength)
    const at = this.room(bytes.byteLength + 2)
    this.buffer.set(bytes, at)
    this.#endLine(at + bytes.byteLength)
  }

  /** An argument of Latin-1 text, one byte for each character. */
  latin1Argument(text: string): void {
    this.#head(text.length)
    const at = this.room(text.length + 2)
    this.buffer.write(text, at, 'latin1')
    this.#endLine(at + text.length)
  }

  /** An argument of so many bytes, which the caller fills in later. Returns where they are. */
  reserve(length: number): number {
    this.#head(length)
    const at = this.room(length + 2)
    this.#endLine(at + length)
    return at
  }

  fill16(at: number, value: number): void {
    this.buffer[at] = value
    this.buffer[at + 1] = value >>> 8
  }

  fill32(at: number, value: number): void {
    this.buffer.writeUInt32LE(value, at)
  }

  fillLatin1(at: number, text: string): void {
    this.buffer.write(text, at, 'latin1')
  }

  /** Begins an argument that is written with the methods of `ByteWriter`. Returns what `close` needs. */
  open(): number {
    return this.room(1 + USUAL_DIGITS + 2)
  }

  /** Ends the argument and returns its length. */
  close(at: number): number {
    const start = at + 1 + USUAL_DIGITS + 2
    const length = this.end - start
    const extra = digitsOf(length) - USUAL_DIGITS
    if (extra !== 0) {
      if (extra > 0) this.room(extra)
      this.buffer.copyWithin(start + extra, start, start + length)
    }
    this.end = at
    this.#head(length)
    this.end += length
    this.#endLine(this.room(2))
    return length
  }

  #text(text: string): void {
    const { length } = text
    const start = this.room(BULK_HEAD_MAX + UTF8_BYTES_PER_CHARACTER_MAX * length + 2)
    this.end = start
    this.#head(length)
    let count = this.#put(text, this.end)
    if (count !== length) {
      // The length of a text that is not ASCII is known only now.
      this.end = start
      this.#count -= 1
      this.#head(count)
      count = this.#put(text, this.end)
    }
    this.end += count + 2
    this.#endLine(this.end - 2)
  }

  /** Writes a natural number without a text between, which would take twice as long. */
  #natural(value: number): void {
    const digits = digitsOf(value)
    this.#head(digits)
    const at = this.room(digits + 2)
    const high = Math.floor(value / HALF)
    if (high === 0) {
      this.#digits(at + digits, digits, value)
    } else {
      this.#digits(at + digits, HALF_DIGITS, value - high * HALF)
      this.#digits(at + digits - HALF_DIGITS, digits - HALF_DIGITS, high)
    }
    this.#endLine(at + digits)
  }

  /** Writes so many digits of a number of at most 32 bits in front of a place. */
  #digits(end: number, count: number, value: number): void {
    const { buffer } = this
    let rest = value | 0
    for (let at = end - 1; at >= end - count; at--) {
      const tenth = (rest / 10) | 0
      buffer[at] = ZERO + rest - 10 * tenth
      rest = tenth
    }
  }

  /** Writes a text at a place where there is room, and returns how many bytes it has. */
  #put(text: string, at: number): number {
    const { length } = text
    if (length > SHORT_TEXT_MAX) return this.buffer.write(text, at)
    for (let i = 0; i < length; i++) {
      const code = codeAt(text, i)
      if (code > ASCII_MAX) return this.buffer.write(text, at)
      this.buffer[at + i] = code
    }
    return length
  }

  /** The head of an argument of so many bytes. */
  #head(length: number): void {
    this.#count += 1
    const digits = digitsOf(length)
    const at = this.room(1 + digits + 2)
    this.buffer[at] = BULK
    this.#digits(at + 1 + digits, digits, length)
    this.#endLine(at + 1 + digits)
  }

  #endLine(at: number): void {
    this.buffer[at] = CARRIAGE_RETURN
    this.buffer[at + 1] = LINE_FEED
  }
}

function digitsOf(count: number): number {
  let digits = 1
  for (let power = 10; power <= count; power *= 10) digits++
  return digits
}
