/** Issues tokens with which a page in a browser reads one execution over HTTP, and verifies them. */
import type { Instant } from '../../kernel/index.ts'
import { shape } from '../../options/shape.ts'
import { invalidInput } from '../checks/names.ts'
import { parseDuration } from '../define/duration.ts'
import type { Duration } from '../define/duration.ts'
import type { Session } from '../session.ts'
import type { ReadClaims } from '../tokens/token.ts'

export interface ReadTokenOptions {
  /** How long it is valid: an hour unless given, and 7 days at most. */
  readonly expires?: Duration
}

export interface ReadToken {
  readonly token: string
  readonly expiresAt: Instant
}

const EXPIRES_DEFAULT_MS = 3_600_000
const EXPIRES_MAX_MS = 604_800_000

const readTokenOptions = shape<ReadTokenOptions>()("{ expires: '1h' }", {
  expires: (value, field) => {
    const ms = parseDuration(value, field, 1)
    if (ms <= EXPIRES_MAX_MS) return ms
    throw invalidInput(field, `${field} is ${ms} ms, but must be at most ${EXPIRES_MAX_MS} ms, which is 7 days.`)
  },
})

/** Parses the options first: nothing is read for a call that is refused. */
export async function issueReadToken(
  { tokens, runtime }: Session,
  options: ReadTokenOptions,
  find: () => Promise<{ readonly id: string; readonly namespace: string }>,
): Promise<ReadToken> {
  const { expires = EXPIRES_DEFAULT_MS } = readTokenOptions(options)
  const { id, namespace } = await find()
  const signer = await tokens.confirm()
  const expiresAt = runtime.now() + expires
  return { token: signer.issueRead({ executionId: id, namespace, exp: expiresAt }), expiresAt }
}

/** Throws `invalid_token` or `token_expired`. */
export async function verifyReadToken(session: Session, token: string): Promise<ReadClaims> {
  return (await session.tokens.confirm()).verifyRead(token)
}
