/** Checks the options of stores on servers, alike for every kind of server. No message holds a value. */
import type { EngineError } from '../../kernel/engine-error.ts'
import { invalidConfiguration } from '../../options/invalid-input.ts'
import type { Check } from '../../options/shape.ts'

/** A day. Longer timers are not supported and would fire at once. */
const DURATION_MAX_MS = 86_400_000

/** Makes a check of one setting. The error has this text instead of the value. */
export function must<T>(isValid: (value: unknown) => boolean, text: string): Check<T> {
  return (value, field) => {
    if (isValid(value)) return value as T
    throw invalidOption(field, `It must be ${text}.`)
  }
}

/** The settings that stores on every kind of server have. */
export const serverChecks = {
  username: must<string>(isText, 'a text that is not empty'),
  password: must<string>(isText, 'a text that is not empty'),
  tls: must<object>((value) => typeof value === 'object' && value !== null, 'an object'),
  requestTimeoutMs: must<number>(
    (value) => typeof value === 'number' && value > 0 && value <= DURATION_MAX_MS,
    `a number of milliseconds above 0, at most ${DURATION_MAX_MS}`,
  ),
}

function isText(value: unknown): boolean {
  return typeof value === 'string' && value !== ''
}

/** Refuses unknown and invalid settings. `field` is the option that holds them. */
export function checkServerOptions(field: string, options: unknown, check: Check): void {
  // A text may be a password, which the error of the shape would show.
  if (typeof options !== 'object' || options === null) {
    throw invalidOption(field, 'It must be an object such as { password }.')
  }
  check(options, field)
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
  return invalidConfiguration(field, `${field}: ${reason}`)
}
