/**
 * Ids as bytes. An id is `<partition>-<uuid>` or `f<partition>-<uuid>` with a lower-case uuid. In a stored name, such as a key
 * or a member of an index, the uuid of an id becomes a mark and 16 bytes; all else stays as it is in UTF-8. The mark is no
 * byte of UTF-8, so every name can be read back. Ids have the same order as bytes and as texts.
 */
import { SEPARATOR } from '../../../kernel/index.ts'
import { codeAt } from './text-code.ts'

/** Stands before the 16 bytes of a uuid. */
const UUID_MARK = 0xff
export const UUID_BYTES = 16
export const UUID_CHARACTERS = 36
/** The partition and the dash in front of a uuid: `f`, five digits and `-` at most. */
const ID_HEAD_MAX = 7
export const ID_CHARACTERS_MAX = ID_HEAD_MAX + UUID_CHARACTERS
const SEPARATOR_CODE = SEPARATOR.charCodeAt(0)
const DASH = 0x2d
const ZERO = 0x30
const NINE = 0x39
const FLOW_LETTER = 0x66
const ASCII_MAX = 0x7f
const RECENT_COUNT = 1_024
/** A text of at most so many characters is written character by character, which is faster than a native call. */
const SHORT_TEXT_MAX = 16

const HEX_DIGITS = '0123456789abcdef'
/** The value of each ASCII character as a hexadecimal digit; -1 for others. */
const digitValues = new Int8Array(ASCII_MAX + 1).fill(-1)
for (let value = 0; value < HEX_DIGITS.length; value++) digitValues[HEX_DIGITS.charCodeAt(value)] = value
/** The two characters of each byte, the first in the lower half. */
const digitPairs = new Uint16Array(256)
for (let byte = 0; byte < digitPairs.length; byte++) {
  digitPairs[byte] = HEX_DIGITS.charCodeAt(byte >>> 4) | (HEX_DIGITS.charCodeAt(byte & 15) << 8)
}

/** Writes the uuid at a place of a text as 16 bytes. Returns false, and may have written some, if there is no uuid. */
function putUuid(bytes: Uint8Array, at: number, text: string, start: number): boolean {
  if (codeAt(text, start + 8) !== DASH || codeAt(text, start + 13) !== DASH) return false
  if (codeAt(text, start + 18) !== DASH || codeAt(text, start + 23) !== DASH) return false
  let place = start
  // A character that is no digit makes `all` negative, one that is not ASCII makes `codes` too large.
  let all = 0
  let codes = 0
  for (let i = 0; i < UUID_BYTES; i++) {
    if (i === 4 || i === 6 || i === 8 || i === 10) place++
    const first = codeAt(text, place)
    const second = codeAt(text, place + 1)
    codes |= first | second
    const byte = ((digitValues[first & ASCII_MAX] as number) << 4) | (digitValues[second & ASCII_MAX] as number)
    all |= byte
    bytes[at + i] = byte
    place += 2
  }
  return all >= 0 && codes <= ASCII_MAX
}

/** Ids that were written lately, each in a place that its last characters give, and their uuids. A call has each id several times. */
const recentIds: string[] = new Array<string>(RECENT_COUNT).fill('')
const recentUuids = new Uint8Array(RECENT_COUNT * UUID_BYTES)

/** Spreads texts by their last characters, which are random in most ids. */
export function recentPlace(text: string): number {
  const { length } = text
  return (codeAt(text, length - 1) * 31 + codeAt(text, length - 2)) * 31 + codeAt(text, length - 3)
}

/** Writes the uuid that a text ends with, as `putUuid` does. */
export function putLastUuid(bytes: Uint8Array, at: number, id: string): boolean {
  const { length } = id
  const place = recentPlace(id) & (RECENT_COUNT - 1)
  const start = place * UUID_BYTES
  if (recentIds[place] !== id) {
    const isUuid = putUuid(recentUuids, start, id, length - UUID_CHARACTERS)
    recentIds[place] = isUuid ? id : ''
    if (!isUuid) return false
  }
  for (let i = 0; i < UUID_BYTES; i++) bytes[at + i] = recentUuids[start + i] as number
  return true
}

/** Holds the characters of one id. */
const scratch = Buffer.alloc(ID_HEAD_MAX + UUID_CHARACTERS)

/** Returns the text of a uuid, behind as many characters as stand in the scratch buffer. */
function scratchText(bytes: Uint8Array, at: number, before: number): string {
  let place = before
  for (let i = 0; i < UUID_BYTES; i++) {
    if (i === 4 || i === 6 || i === 8 || i === 10) scratch[place++] = DASH
    const pair = digitPairs[bytes[at + i] as number] as number
    scratch[place] = pair
    scratch[place + 1] = pair >>> 8
    place += 2
  }
  return scratch.toString('latin1', 0, place)
}

/** Returns the text of the uuid whose bytes stand at a place. */
export function uuidText(bytes: Uint8Array, at: number): string {
  return scratchText(bytes, at, 0)
}

/** Returns the text of the id of an execution or a flow. */
export function idText(isFlow: boolean, partition: number, bytes: Uint8Array, at: number): string {
  let before = 0
  if (isFlow) scratch[before++] = FLOW_LETTER
  if (partition >= 100) scratch[before++] = ZERO + Math.floor(partition / 100)
  if (partition >= 10) scratch[before++] = ZERO + (Math.floor(partition / 10) % 10)
  scratch[before++] = ZERO + (partition % 10)
  scratch[before++] = DASH
  return scratchText(bytes, at, before)
}

/** Returns the partition of an id from its digits, which end in front of a dash; -1 if it is written in another way. */
export function idPartition(text: string, start: number, end: number): number {
  if (codeAt(text, end) !== DASH || end === start) return -1
  // A number has one form only.
  if (codeAt(text, start) === ZERO && end - start > 1) return -1
  let partition = 0
  for (let i = start; i < end; i++) {
    const digit = codeAt(text, i) - ZERO
    if (digit < 0 || digit > 9) return -1
    partition = 10 * partition + digit
  }
  return partition
}

/** Returns where the uuid of an id begins if what begins at a place looks like one; else -1. */
function uuidStart(text: string, start: number): number {
  let at = codeAt(text, start) === FLOW_LETTER ? start + 1 : start
  const first = at
  while (codeAt(text, at) >= ZERO && codeAt(text, at) <= NINE) at++
  if (at === first || at - start >= ID_HEAD_MAX || codeAt(text, at) !== DASH) return -1
  const end = at + 1 + UUID_CHARACTERS
  return end === text.length || codeAt(text, end) === SEPARATOR_CODE ? at + 1 : -1
}

/**
 * Writes a name with the ids among its first parts as bytes, and returns where it ends. There must be room for three bytes per
 * character. Names whose order counts have ids in the same parts.
 */
export function putName(bytes: Buffer, start: number, name: string, idParts: number): number {
  let at = start
  let from = 0
  for (let left = idParts; left > 0 && from < name.length; left--) {
    const uuid = uuidStart(name, from)
    const markAt = at + uuid - from
    let end: number
    const isWhole = from === 0 && uuid + UUID_CHARACTERS === name.length
    if (uuid >= 0 && (isWhole ? putLastUuid(bytes, markAt + 1, name) : putUuid(bytes, markAt + 1, name, uuid))) {
      for (; from < uuid; from++) bytes[at++] = codeAt(name, from)
      bytes[at] = UUID_MARK
      at += 1 + UUID_BYTES
      from = uuid + UUID_CHARACTERS
      end = from < name.length ? from + 1 : from
    } else {
      end = name.indexOf(SEPARATOR, from) + 1
      if (end === 0) break
    }
    at = putPlain(bytes, at, name, from, end)
    from = end
  }
  return putPlain(bytes, at, name, from, name.length)
}

/** Writes a part of a text in UTF-8. */
function putPlain(bytes: Buffer, start: number, text: string, from: number, to: number): number {
  if (to - from > SHORT_TEXT_MAX) return start + bytes.write(text.slice(from, to), start)
  let at = start
  for (let i = from; i < to; i++) {
    const code = codeAt(text, i)
    if (code > ASCII_MAX) return start + bytes.write(text.slice(from, to), start)
    bytes[at++] = code
  }
  return at
}

/** Reads a name. */
export function readName(bytes: Buffer, start = 0): string {
  const { length } = bytes
  let text = ''
  let from = start
  for (let at = start; at < length; at++) {
    if (bytes[at] !== UUID_MARK) continue
    const end = at + 1 + UUID_BYTES
    // Such bytes were written by another program.
    if (end > length) break
    text += isCopied(bytes, from, at)
      ? scratchText(bytes, at + 1, at - from)
      : bytes.toString('utf8', from, at) + uuidText(bytes, at + 1)
    from = end
    at = end - 1
  }
  return from === length ? text : text + bytes.toString('utf8', from, length)
}

/** Copies characters to the scratch buffer. Returns false if they are too many, or not all ASCII. */
function isCopied(bytes: Buffer, from: number, to: number): boolean {
  if (to - from > ID_HEAD_MAX) return false
  let codes = 0
  for (let i = from; i < to; i++) {
    const code = bytes[i] as number
    scratch[i - from] = code
    codes |= code
  }
  return codes <= ASCII_MAX
}
