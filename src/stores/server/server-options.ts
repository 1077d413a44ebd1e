/** Checks the options of stores on servers, alike for every kind of server. No message holds a value. */
import { EngineError } from '../../kernel/engine-error.ts'

/** A check of one setting, and the text of its error. */
export interface OptionKind {
  readonly isValid: (value: unknown) => boolean
  readonly text: string
}

/** A day. Longer timers are not supported and would fire at once. */
const DURATION_MAX_MS = 86_400_000

export const text: OptionKind = {
  isValid: (value) => typeof value === 'string' && value !== '',
  text: 'a text that is not empty',
}
export const object: OptionKind = {
  isValid: (value) => typeof value === 'object' && value !== null,
  text: 'an object',
}
export const boolean: OptionKind = { isValid: (value) => typeof value === 'boolean', text: 'true or false' }
export const duration: OptionKind = {
  isValid: (value) => typeof value === 'number' && value > 0 && value <= DURATION_MAX_MS,
  text: `a number of milliseconds above 0, at most ${DURATION_MAX_MS}`,
}

/** Refuses unknown and invalid settings. `field` is the option that holds them. */
export function checkServerOptions(field: string, options: unknown, kinds: Readonly<Record<string, OptionKind>>): void {
  if (typeof options !== 'object' || options === null) {
    throw invalidOption(field, 'It must be an object such as { password }.')
  }
  for (const [name, value] of Object.entries(options)) {
    const kind = Object.hasOwn(kinds, name) ? kinds[name] : undefined
    if (kind === undefined) {
      const names = Object.keys(kinds).join(', ')
      throw invalidOption(`${field}.${name}`, `There is no such setting; there are ${names}.`)
    }
    if (value !== undefined && !kind.isValid(value)) throw invalidOption(`${field}.${name}`, `It must be ${kind.text}.`)
  }
}

interface User {
  readonly username?: string | undefined
  readonly password?: string | undefined
}

/** Refuses a user or a password that differs between the location and the options. */
export function refuseConflictingUsers(field: string, located: User, given: User): void {
  for (const name of ['username', 'password'] as const) {
    if (located[name] === undefined || given[name] === undefined || located[name] === given[name]) continue
    throw invalidOption(`${field}.${name}`, `The location has another ${name}: leave one of them out.`)
  }
}

export function invalidOption(field: string, reason: string): EngineError {
  return new EngineError('invalid_configuration', { field, message: `${field}: ${reason}` })
}
