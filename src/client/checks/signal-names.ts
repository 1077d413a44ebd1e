/** One validator for each word that belongs to a signal: its name, where it is sent, who sent it and the sender's key. */
import { IDENTITY_BYTES, NAME_BYTES, SIGNAL_KEY_BYTES } from '../../kernel/limits.ts'
import { checkPlainText, checkTaskName, invalidInput, show } from './names.ts'

/** Names that begin like this belong to the engine. */
const RESERVED_PREFIX = '__'

export function checkSignalName(value: unknown, field = 'name'): string {
  const name = checkTaskName(value, field)
  if (!name.startsWith(RESERVED_PREFIX)) return name
  throw invalidInput(field, `${field} is ${show(name)}, but names that begin with '${RESERVED_PREFIX}' are reserved.`)
}

/** A waitpoint's key never looks like the mailbox of a signal's name. */
export function checkWaitpointKey(value: unknown, field = 'waitpoint'): string {
  const key = checkTaskName(value, field)
  if (!key.startsWith('@') && !key.startsWith(RESERVED_PREFIX)) return key
  throw invalidInput(
    field,
    `${field} is ${show(key)}, but a waitpoint's key begins with neither '@' nor '${RESERVED_PREFIX}': choose another of at most ${NAME_BYTES} characters.`,
  )
}

/** Who somebody is, as a token or a trusted program says it. Nobody is called nothing. */
export function checkIdentity(value: unknown, field = 'by'): string {
  return checkPlainText(value, field, IDENTITY_BYTES)
}

export function checkSignalKey(value: unknown, field = 'key'): string {
  return checkPlainText(value, field, SIGNAL_KEY_BYTES)
}

/**
 * The key under which an answer with a token is stored. Its length tells where the holder's name ends, so that no two
 * holders share a key, whatever they are called.
 */
export function keyOfHolder(holder: string, key: string): string {
  return `${holder.length}:${holder}:${key}`
}

/** The key that the holder of a token gave. */
export function ownKeyIn(stored: string, holder: string): string {
  return stored.slice(keyOfHolder(holder, '').length)
}
