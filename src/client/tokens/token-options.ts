/** What whoever hands out a token may say of it, in the words of the surface. */
import { IDENTITY_BYTES, NAME_BYTES } from '../../kernel/index.ts'
import type { Instant } from '../../kernel/index.ts'
import { parseDuration } from '../define/duration.ts'
import type { Duration } from '../define/duration.ts'
import { checkList, checkOptions, invalidInput, show } from '../checks/names.ts'
import type { TokenClaims } from './token.ts'

export interface TokenOptions {
  /** Whom the token is made for. Its signals come from this principal, so that one holder cannot be two voters. */
  readonly for?: string
  /** How long it is good, at most as long as its key. */
  readonly expires?: Duration
  /** Only signals of these names may be sent with it. */
  readonly names?: readonly string[]
}

const TOKEN_OPTION_KEYS = ['for', 'expires', 'names'] as const satisfies readonly (keyof TokenOptions)[]
const TOKEN_NAMES_MAX = 16
// eslint-disable-next-line no-control-regex -- control characters are what is refused
const CONTROL = /[\u0000-\u001f\u007f]/

/** The claims that options stand for; `from` is the moment from which a token that expires is good. */
export function optionalClaims(options: TokenOptions, from: Instant): Pick<TokenClaims, 'exp' | 'sub' | 'names'> {
  checkOptions(options, TOKEN_OPTION_KEYS, "{ for: 'alice', expires: '2d' }")
  const { for: sub, expires, names } = options
  if (sub !== undefined) checkText(sub, 'for', IDENTITY_BYTES)
  if (names !== undefined) checkNames(names)
  return { exp: expires === undefined ? undefined : from + parseDuration(expires, 'expires', 1), sub, names }
}

function checkNames(names: readonly string[]): void {
  checkList(names, 'names')
  if (names.length === 0 || names.length > TOKEN_NAMES_MAX) {
    throw invalidInput(
      'names',
      `names has ${names.length} entries, but must have 1 to ${TOKEN_NAMES_MAX}, or be left out.`,
    )
  }
  names.forEach((name, i) => checkText(name, `names[${i}]`, NAME_BYTES))
}

function checkText(value: unknown, field: string, maximumBytes: number): void {
  if (typeof value === 'string' && value !== '' && Buffer.byteLength(value) <= maximumBytes && !CONTROL.test(value))
    return
  throw invalidInput(
    field,
    `${field} is ${show(value)}, but must be a text of 1 to ${maximumBytes} bytes without control characters.`,
  )
}
