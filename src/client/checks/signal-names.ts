/** Validates the parts of a signal: its name, its target, its sender and the sender's key. */
import { NAME_BYTES, SIGNAL_KEY_BYTES } from '../../kernel/limits.ts'
import { checkPlainText, checkTaskName, invalidInput, show } from './names.ts'

/** Names with this prefix are the engine's. */
const RESERVED_PREFIX = '__'

export function checkSignalName(value: unknown, field = 'name'): string {
  const name = checkTaskName(value, field)
  if (!name.startsWith(RESERVED_PREFIX)) return name
  throw invalidInput(field, `${field} is ${show(name)}, but names that begin with '${RESERVED_PREFIX}' are reserved.`)
}

/** A waitpoint's key must differ from the mailbox of a signal's name, which starts with '@'. */
export function checkWaitpointKey(value: unknown, field = 'waitpoint'): string {
  const key = checkTaskName(value, field)
  if (!key.startsWith('@') && !key.startsWith(RESERVED_PREFIX)) return key
  throw invalidInput(
    field,
    `${field} is ${show(key)}, but a waitpoint's key begins with neither '@' nor '${RESERVED_PREFIX}': choose another of at most ${NAME_BYTES} characters.`,
  )
}

export function checkSignalKey(value: unknown, field = 'key'): string {
  return checkPlainText(value, field, SIGNAL_KEY_BYTES)
}

/**
 * Returns the key under which an answer with a token is stored. The length prefix delimits the holder's name, so two
 * holders never share a key.
 */
export function keyForHolder(holder: string, key: string): string {
  return `${holder.length}:${holder}:${key}`
}

/** Returns the key that the holder of a token passed. */
export function holdersKey(stored: string, holder: string): string {
  return stored.slice(keyForHolder(holder, '').length)
}
