/**
 * Names as they are stored. A name that is too long is not refused: it is replaced by its beginning, `~` and a hash of the whole
 * name, so that it stays readable and distinct.
 */
import { hash } from 'node:crypto'
import { INPUT_NAME_BYTES, NODE_NAME_BYTES } from '../../kernel/limits.ts'
import { checkGivenName } from './names.ts'

/** Hexadecimal digits of the hash: 128 bits. */
const HASH_LENGTH = 32
const HASH_MARK = '~'

/** Returns a name of at most so many bytes: the given one, or its beginning and its hash. Idempotent. */
export function hashedName(name: string, maximumBytes: number): string {
  // A UTF-16 unit has at most three bytes.
  if (name.length * 3 <= maximumBytes) return name
  const bytes = Buffer.from(name)
  if (bytes.byteLength <= maximumBytes) return name
  let end = maximumBytes - HASH_MARK.length - HASH_LENGTH
  // Bytes of the form 10xxxxxx continue a character.
  while (((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1
  return bytes.toString('utf8', 0, end) + HASH_MARK + hash('sha256', name).slice(0, HASH_LENGTH)
}

/** Returns the stored form of the name of a node. */
export function storedNodeName(name: string): string {
  return hashedName(name, NODE_NAME_BYTES)
}

/** Returns the stored form of the name of an input, which is its key in `ctx.inputs`. */
export function storedInputName(name: string): string {
  return hashedName(name, INPUT_NAME_BYTES)
}

/** Checks the name of a node, and returns its stored form. */
export function checkNodeName(value: unknown): string {
  return storedNodeName(checkGivenName(value, 'node name'))
}

/** Checks the name of an input, and returns its stored form. */
export function checkInputName(value: unknown, field: string): string {
  return storedInputName(checkGivenName(value, field))
}
