/** Parses the options of a token into claims. */
import { optionKeys } from '../checks/exhaustive.ts'
import { IDENTITY_BYTES, NAME_BYTES } from '../../kernel/index.ts'
import type { Instant } from '../../kernel/index.ts'
import { parseDuration } from '../define/duration.ts'
import type { TokenOptions } from '../define/context.ts'
import { checkList, checkOptions, checkPlainText, invalidInput } from '../checks/names.ts'
import type { TokenClaims } from './token.ts'

const TOKEN_OPTION_KEYS = optionKeys<TokenOptions>()(['for', 'expires', 'names'])
const TOKEN_NAMES_MAX = 16

/** Returns the claims for options. `from` is the moment from which the expiry counts. */
export function optionalClaims(options: TokenOptions, from: Instant): Pick<TokenClaims, 'exp' | 'sub' | 'names'> {
  checkOptions(options, TOKEN_OPTION_KEYS, "{ for: 'alice', expires: '2d' }")
  const { for: sub, expires, names } = options
  if (sub !== undefined) checkPlainText(sub, 'for', IDENTITY_BYTES)
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
  names.forEach((name, i) => checkPlainText(name, `names[${i}]`, NAME_BYTES))
}
