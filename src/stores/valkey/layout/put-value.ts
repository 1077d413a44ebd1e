/**
 * Writes values in the form of `value-tags.ts`. Equal values have equal bytes.
 *
 * Each function writes a value at a place of a buffer and returns where the value ends. If that is behind the end of the
 * buffer, the bytes are not complete, and `ByteWriter.value` tries again with a larger buffer. So no function makes room, and
 * the position is a local variable of the caller, which is faster than a field of a writer.
 */
import type { Cell } from '../../../kernel/index.ts'
import { ID_CHARACTERS_MAX, UUID_BYTES, UUID_CHARACTERS, idPartition, putLastUuid } from './id-bytes.ts'
import { codeAt } from './text-code.ts'
import {
  ABSENT,
  COUNT_16_MAX,
  COUNT_8_MAX,
  COUNT_IN_TAG_MAX,
  DOUBLE,
  EXECUTION_ID,
  FLOW_ID,
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
  UUID,
} from './value-tags.ts'

/** A text of at most so many characters is written character by character, which is faster than a native call. */
const SHORT_TEXT_MAX = 16
const UTF8_BYTES_PER_CHARACTER_MAX = 3
/** The bytes in front of a text of at most 65,535 bytes. */
const TEXT_HEAD_MAX = 3
const ASCII_MAX = 0x7f
const FOUR_BYTES = 2 ** 32
const DOUBLE_BYTES = 9
const FLOW_LETTER = 0x66

export type Put<T> = (bytes: Buffer, at: number, value: T) => number

export function putNumber(bytes: Buffer, at: number, value: number): number {
  const low = value >>> 0
  if (low === value) {
    if (low > NUMBER_IN_TAG_MAX) return putUnsigned(bytes, at, low)
    // Minus zero equals zero, and only a double keeps its sign.
    if (low > 0 || Object.is(value, 0)) {
      bytes[at] = low
      return at + 1
    }
  } else if (value > 0 && value <= NUMBER_6_MAX && Number.isInteger(value)) {
    const high = (value - low) / FOUR_BYTES
    bytes[at + 1] = low
    bytes[at + 2] = low >>> 8
    bytes[at + 3] = low >>> 16
    bytes[at + 4] = low >>> 24
    bytes[at + 5] = high
    bytes[at + 6] = high >>> 8
    const size = high > COUNT_8_MAX ? 6 : 5
    bytes[at] = NUMBER + size
    return at + 1 + size
  }
  const end = at + DOUBLE_BYTES
  if (end > bytes.length) return end
  bytes[at] = DOUBLE
  return bytes.writeDoubleLE(value, at + 1)
}

/** Writes an integer of at most four bytes behind the tag that counts its bytes, in as few bytes as it needs. */
function putUnsigned(bytes: Buffer, start: number, value: number): number {
  let at = start + 1
  for (let rest = value; rest > 0; rest >>>= 8) bytes[at++] = rest
  bytes[start] = NUMBER + (at - start - 1)
  return at
}

/** Throws a RangeError if the text has more than 65,535 bytes. */
export function putText(bytes: Buffer, at: number, value: string): number {
  const { length } = value
  if (length <= SHORT_TEXT_MAX) {
    bytes[at] = TEXT + length
    let i = 0
    for (; i < length; i++) {
      const code = codeAt(value, i)
      if (code > ASCII_MAX) break
      bytes[at + 1 + i] = code
    }
    if (i === length) return at + 1 + length
  }
  if (length >= UUID_CHARACTERS && length <= ID_CHARACTERS_MAX) {
    const end = putId(bytes, at, value)
    if (end > at) return end
  }
  const bytesMax = length * UTF8_BYTES_PER_CHARACTER_MAX
  if (bytesMax > COUNT_8_MAX) return putLongText(bytes, at, value, COUNT_16_MAX)
  if (at + TEXT_HEAD_MAX + bytesMax > bytes.length) return at + TEXT_HEAD_MAX + bytesMax
  // The length of an ASCII text is known beforehand. The bytes of any other short text move if its tag is a byte longer.
  const expected = length > COUNT_IN_TAG_MAX ? 2 : 1
  const count = bytes.write(value, at + expected)
  if (count <= COUNT_IN_TAG_MAX) {
    bytes[at] = TEXT + count
    return at + 1 + count
  }
  if (expected === 1) bytes.copyWithin(at + 2, at + 1, at + 1 + count)
  bytes[at] = TEXT_8
  bytes[at + 1] = count
  return at + 2 + count
}

/** Writes a text that is a uuid or an id. Returns `at` if it is neither. */
function putId(bytes: Buffer, at: number, value: string): number {
  const start = value.length - UUID_CHARACTERS
  if (start === 0) {
    if (!putLastUuid(bytes, at + 1, value)) return at
    bytes[at] = UUID
    return at + 1 + UUID_BYTES
  }
  const isFlow = codeAt(value, 0) === FLOW_LETTER
  const partition = idPartition(value, isFlow ? 1 : 0, start - 1)
  if (partition < 0 || partition > COUNT_8_MAX || !putLastUuid(bytes, at + 2, value)) return at
  bytes[at] = isFlow ? FLOW_ID : EXECUTION_ID
  bytes[at + 1] = partition
  return at + 2 + UUID_BYTES
}

function putLongText(bytes: Buffer, start: number, value: string, limit: number): number {
  const count = Buffer.byteLength(value)
  if (count > limit) throw new RangeError(`A text of ${count} bytes is too long to be stored: ${limit} is the limit.`)
  if (start + 5 + count > bytes.length) return start + 5 + count
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
  return at + bytes.write(value, at)
}

/** Writes the head of a list: so many values follow. */
export function putListHead(bytes: Buffer, at: number, count: number): number {
  if (count <= COUNT_IN_TAG_MAX) {
    bytes[at] = LIST + count
    return at + 1
  }
  if (count > COUNT_16_MAX) {
    throw new RangeError(`A list of ${count} values is too long to be stored: ${COUNT_16_MAX} is the limit.`)
  }
  bytes[at] = count <= COUNT_8_MAX ? LIST_8 : LIST_16
  bytes[at + 1] = count
  if (count <= COUNT_8_MAX) return at + 2
  bytes[at + 2] = count >>> 8
  return at + 3
}

/** Writes the head of a list whose values stand behind one byte of room for it already, and end at `end`. */
export function closeList(bytes: Buffer, start: number, count: number, end: number): number {
  if (count <= COUNT_IN_TAG_MAX) {
    bytes[start] = LIST + count
    return end
  }
  const extra = count <= COUNT_8_MAX ? 1 : 2
  bytes.copyWithin(start + 1 + extra, start + 1, end)
  putListHead(bytes, start, count)
  return end + extra
}

/** Writes a value that no schema describes. */
export function putCell(bytes: Buffer, at: number, cell: Cell): number {
  if (cell === false) {
    bytes[at] = ABSENT
    return at + 1
  }
  if (typeof cell === 'number') return putNumber(bytes, at, cell)
  if (typeof cell === 'string') {
    return cell.length <= ID_CHARACTERS_MAX
      ? putText(bytes, at, cell)
      : putLongText(bytes, at, cell, Number.MAX_SAFE_INTEGER)
  }
  let end = putListHead(bytes, at, cell.length)
  for (const item of cell) end = putCell(bytes, end, item)
  return end
}
