/** Names of steps as they are stored: a name that is too long is hashed. */
import { STEP_NAME_BYTES } from '../../kernel/limits.ts'
import { hashedName } from './hashed-names.ts'
import { checkGivenName, invalidInput, show } from './names.ts'

/** The suffix of the step of a compensation. */
export const UNDO_SUFFIX = '#undo'

/** The suffix of a repeated name, or of a compensation. */
const ADDED = /#(\d+|undo)$/
const ALL_ADDED = /(#(\d+|undo))+$/

/** Returns the stored form of a name that a handler uses. */
export function checkStepName(value: unknown, field = 'name'): string {
  const name = checkGivenName(value, field)
  if (!ADDED.test(name)) return storedStepName(name)
  throw invalidInput(
    field,
    `${field} is ${show(name)}, but must not end in '#' and a number, or in '${UNDO_SUFFIX}': these suffixes are added to repeated names and to compensations.`,
  )
}

/** Returns the stored form of a name that may have the suffix of a repeated step or of a compensation. */
export function checkRecordedName(value: unknown, field: string): string {
  const name = checkGivenName(value, field)
  const added = ALL_ADDED.exec(name)?.[0] ?? ''
  return storedStepName(name.slice(0, name.length - added.length)) + added
}

function storedStepName(name: string): string {
  return hashedName(name, STEP_NAME_BYTES)
}
