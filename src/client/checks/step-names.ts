/**
 * Names of steps as they are stored. A longer name is not refused: it is replaced by its beginning, `~` and a hash of the whole name,
 * so that it stays readable and distinct.
 */
import { hash } from 'node:crypto'
import { STEP_NAME_BYTES } from '../../kernel/limits.ts'
import { checkPlainText, invalidInput, show } from './names.ts'

/** The suffix of the step of a compensation. */
export const UNDO_SUFFIX = '#undo'

/** The suffix of a repeated name, or of a compensation. */
const ADDED = /#(\d+|undo)$/
const ALL_ADDED = /(#(\d+|undo))+$/
/** Hexadecimal digits of the hash: 128 bits. */
const HASH_LENGTH = 32
const HASH_MARK = '~'
/** The longest text that is hashed. */
const GIVEN_NAME_BYTES = 1_048_576

/** Returns the stored form of a name that a handler uses. */
export function checkStepName(value: unknown, field = 'name'): string {
  const name = checkPlainText(value, field, GIVEN_NAME_BYTES)
  if (!ADDED.test(name)) return shortened(name)
  throw invalidInput(
    field,
    `${field} is ${show(name)}, but must not end in '#' and a number, or in '${UNDO_SUFFIX}': these suffixes are added to repeated names and to compensations.`,
  )
}

/** Returns the stored form of a name that may have the suffix of a repeated step or of a compensation. */
export function checkRecordedName(value: unknown, field: string): string {
  const name = checkPlainText(value, field, GIVEN_NAME_BYTES)
  const added = ALL_ADDED.exec(name)?.[0] ?? ''
  return shortened(name.slice(0, name.length - added.length)) + added
}

function shortened(name: string): string {
  const bytes = Buffer.from(name)
  if (bytes.byteLength <= STEP_NAME_BYTES) return name
  let end = STEP_NAME_BYTES - HASH_MARK.length - HASH_LENGTH
  // Bytes of the form 10xxxxxx continue a character.
  while (((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1
  return bytes.toString('utf8', 0, end) + HASH_MARK + hash('sha256', name).slice(0, HASH_LENGTH)
}
