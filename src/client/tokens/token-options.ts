/** Parses the options of a token into claims. */
import { shape } from '../../options/shape.ts'
import { NAME_BYTES } from '../../kernel/index.ts'
import type { Instant } from '../../kernel/index.ts'
import { parseDuration } from '../define/duration.ts'
import type { TokenOptions } from '../define/context.ts'
import { checkList, checkPlainText, checkPrincipal, invalidInput } from '../checks/names.ts'
import type { TokenClaims } from './token.ts'

const TOKEN_NAMES_MAX = 16
const EXPIRES_MIN_MS = 1

const tokenOptions = shape<TokenOptions>()("{ for: 'alice', expires: '2d' }", {
  for: checkPrincipal,
  expires: (value, field) => parseDuration(value, field, EXPIRES_MIN_MS),
  names: checkNames,
})

/** Returns the claims for options. `from` is the moment from which the expiry counts. */
export function optionalClaims(options: TokenOptions, from: Instant): Pick<TokenClaims, 'exp' | 'sub' | 'names'> {
  const { for: sub, expires, names } = tokenOptions(options)
  return { exp: expires === undefined ? undefined : from + expires, sub, names }
}

function checkNames(given: unknown, field: string): string[] {
  checkList(given, field)
  const names = given
  if (names.length === 0 || names.length > TOKEN_NAMES_MAX) {
    throw invalidInput(
      field,
      `${field} has ${names.length} entries, but must have 1 to ${TOKEN_NAMES_MAX}, or be left out.`,
    )
  }
  return names.map((name, i) => checkPlainText(name, `${field}[${i}]`, NAME_BYTES))
}
