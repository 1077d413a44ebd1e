/**
 * Reads values in the form of `value-tags.ts`. Throws a RangeError for a value of another kind than the caller asks for and
 * for bytes that are missing, so that damage is recognised.
 */
import { SEPARATOR } from '../../../kernel/index.ts'
import type { Cell } from '../../../kernel/index.ts'
import { UUID_BYTES, idText, uuidText } from './id-bytes.ts'
import { codeAt } from './text-code.ts'
import {
  ABSENT,
  COUNT_IN_TAG_MAX,
  DOUBLE,
  EXECUTION_ID,
  FLOW_ID,
  LIST,
  LIST_16,
  LIST_8,
  NUMBER,
  NUMBER_6,
  NUMBER_IN_TAG_MAX,
  OWN_ID,
  OWN_ID_REST,
  OWN_ID_START,
  TEXT,
  TEXT_16,
  TEXT_32,
  TEXT_8,
  UUID,
} from './value-tags.ts'

const FOUR_BYTES = 2 ** 32
/** For a longer text, a native call is faster than a look at each character. */
const SHORT_TEXT_MAX = 16
const RECENT_COUNT = 256
/** Nesting that no record has. Deeper bytes are damaged, and would exhaust the stack. */
const DEPTH_MAX = 100

export class ByteReader {
  readonly #bytes: Buffer
  readonly #ownId: string | undefined
  #at: number

  /** `ownId` is the id of the record that the values belong to. */
  constructor(bytes: Buffer, start: number, ownId?: string) {
    this.#bytes = bytes
    this.#at = start
    this.#ownId = ownId
  }

  /** Throws a RangeError unless every byte has been read. */
  end(): void {
    const left = this.#bytes.length - this.#at
    if (left !== 0) throw new RangeError(`${left} bytes follow the last value.`)
  }

  /** Reads the tag of the next value. */
  tag(): number {
    const tag = this.#bytes[this.#at++]
    if (tag === undefined) throw new RangeError('The bytes end before the last value.')
    return tag
  }

  /** Reads a number behind its tag. */
  number(tag: number): number {
    if (tag <= NUMBER_IN_TAG_MAX) return tag
    if (tag > NUMBER && tag <= NUMBER_6) return this.#unsigned(tag - NUMBER)
    if (tag !== DOUBLE) throw unexpected('a number', tag)
    const at = this.#skip(8)
    return this.#bytes.readDoubleLE(at)
  }

  /** Reads a text behind its tag. */
  text(tag: number): string {
    if (tag >= UUID) return this.#id(tag)
    const length = tag >= TEXT && tag <= TEXT + COUNT_IN_TAG_MAX ? tag - TEXT : this.#textLength(tag)
    const start = this.#skip(length)
    if (length === 0) return ''
    return length <= SHORT_TEXT_MAX
      ? shortText(this.#bytes, start, length)
      : this.#bytes.toString('utf8', start, start + length)
  }

  /** Reads the count of a list behind its tag. */
  list(tag: number): number {
    if (tag >= LIST && tag <= LIST + COUNT_IN_TAG_MAX) return tag - LIST
    if (tag === LIST_8) return this.#unsigned(1)
    if (tag === LIST_16) return this.#unsigned(2)
    throw unexpected('a list', tag)
  }

  /** Reads a value that no schema describes. */
  cell(depth = 0): Cell {
    const tag = this.tag()
    if (tag === ABSENT) return false
    if (tag <= NUMBER_IN_TAG_MAX || (tag > NUMBER && tag <= DOUBLE)) return this.number(tag)
    if (tag < LIST || (tag >= TEXT_8 && tag <= TEXT_32) || tag >= UUID) return this.text(tag)
    const count = this.list(tag)
    if (depth === DEPTH_MAX) throw new RangeError(`Values are nested more than ${DEPTH_MAX} levels deep.`)
    const cells: Cell[] = []
    for (let i = 0; i < count; i++) cells.push(this.cell(depth + 1))
    return cells
  }

  #id(tag: number): string {
    if (tag === UUID) return uuidText(this.#bytes, this.#skip(UUID_BYTES))
    if (tag === EXECUTION_ID || tag === FLOW_ID) {
      const at = this.#skip(1 + UUID_BYTES)
      return idText(tag === FLOW_ID, this.#bytes[at] as number, this.#bytes, at + 1)
    }
    const id = this.#ownId
    if (tag === OWN_ID && id !== undefined) return id
    const separator = id?.indexOf(SEPARATOR) ?? -1
    if (tag > OWN_ID_REST || id === undefined || separator < 0) throw unexpected('a text', tag)
    return tag === OWN_ID_START ? id.slice(0, separator) : id.slice(separator + SEPARATOR.length)
  }

  #textLength(tag: number): number {
    if (tag === TEXT_8) return this.#unsigned(1)
    if (tag === TEXT_16) return this.#unsigned(2)
    if (tag === TEXT_32) return this.#unsigned(4)
    throw unexpected('a text', tag)
  }

  #unsigned(size: number): number {
    const bytes = this.#bytes
    const at = this.#skip(size)
    let low = 0
    for (let i = Math.min(size, 4) - 1; i >= 0; i--) low = (low << 8) | (bytes[at + i] ?? 0)
    low >>>= 0
    if (size <= 4) return low
    const high = (bytes[at + 4] ?? 0) | (size === 6 ? (bytes[at + 5] ?? 0) << 8 : 0)
    return high * FOUR_BYTES + low
  }

  /** Moves behind so many bytes and returns where they begin. */
  #skip(count: number): number {
    const at = this.#at
    this.#at += count
    if (this.#at > this.#bytes.length) throw new RangeError('The bytes end inside a value.')
    return at
  }
}

function unexpected(expected: string, tag: number): RangeError {
  return new RangeError(`A value with the tag 0x${tag.toString(16)} is not ${expected}.`)
}

/** Short texts that were read lately, each in a place that some of its characters give. Most records share their names. */
const recentTexts: string[] = new Array<string>(RECENT_COUNT).fill('')

/** Returns the text that was read before if it is the same one, since making a text takes a native call. */
function shortText(bytes: Buffer, start: number, length: number): string {
  const first = bytes[start] ?? 0
  const middle = bytes[start + (length >> 1)] ?? 0
  const last = bytes[start + length - 1] ?? 0
  const place = (first + 7 * middle + 31 * last + length) & (RECENT_COUNT - 1)
  const recent = recentTexts[place] ?? ''
  if (isAt(bytes, start, length, recent)) return recent
  const text = bytes.toString('utf8', start, start + length)
  // A text of other characters than ASCII has fewer characters than bytes, or characters that no byte equals.
  if (text.length === length) recentTexts[place] = text
  return text
}

function isAt(bytes: Buffer, start: number, length: number, text: string): boolean {
  if (text.length !== length) return false
  for (let i = 0; i < length; i++) if (codeAt(text, i) !== bytes[start + i]) return false
  return true
}
