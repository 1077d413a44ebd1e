/**
 * Tokens: signed texts that let whoever holds one send signals to one waitpoint of one execution, and nothing else. A token
 * is a pure function of a secret and its claims, so none is ever stored. What it claims is proved here; whether the waitpoint
 * is still the one it speaks of is compared again in the store, in the step that takes the signal.
 *
 * `v1.<key id>.<claims>.<mac>`: the claims are a JSON array in base64url, the MAC is HMAC-SHA-256 over everything before it.
 */
import { timingSafeEqual } from 'node:crypto'
import type { Instant } from '../../kernel/index.ts'
import type { Log, Runtime } from '../../runtime/index.ts'
import { EngineError } from '../../kernel/engine-error.ts'
import { isWithin } from './key-ring.ts'
import type { KeyRing, KeySource, SigningKey } from './key-ring.ts'
import { invalidInput } from '../checks/names.ts'
import { Secret, fingerprintOf } from './secret.ts'

/** What a token says of itself. All of it is signed. */
export interface TokenClaims {
  readonly executionId: string
  /** The store's own id of the waitpoint: that of no other execution, nor of one that replaced this one. */
  readonly waitpointId: string
  readonly target: string
  /** Rises when the waitpoint is opened again or its tokens are issued anew. */
  readonly generation: number
  /** When the waitpoint was opened: an execution that was removed and submitted again has equal ids, and opens it later. */
  readonly openedAt: Instant
  /** The last moment at which it is good. */
  readonly exp?: Instant | undefined
  /** Whom it was made for: signals sent with it come from this principal, whatever their sender says. */
  readonly sub?: string | undefined
  /** Names of signals that may be sent with it; any, if there are none. */
  readonly names?: readonly string[] | undefined
}

export interface TokenRequest extends TokenClaims {
  /** The key that signed for this waitpoint before. While its tokens are good it signs again, so that the same text comes out. */
  readonly keyId?: string | undefined
}

/** The claims of a token that was proved to be genuine and good. */
export interface VerifiedToken extends TokenClaims {
  readonly keyId: string
  /** Identifies the token where the token itself must not be seen. */
  readonly fingerprint: string
}

export interface TokenSigner {
  /** The key that signs now; undefined if there are no keys. */
  readonly keyId: string | undefined
  /** Throws `signing_keys_missing` if there are no keys. */
  issue(request: TokenRequest): string
  /** Throws `missing_token`, `invalid_token` or `token_expired`; which of the last two is told only to holders of a genuine token. */
  verify(text: unknown): VerifiedToken
}

/** A link with a token in it has to pass through mail programs and proxies. */
export const TOKEN_MAX_LENGTH = 4_096
const CLAIM_COUNT_MAX = 8
const TOKEN = /^(v1\.([A-Za-z0-9][A-Za-z0-9_-]{0,63})\.([A-Za-z0-9_-]+))\.([A-Za-z0-9_-]{43})$/

/** Signs and verifies with whatever ring its source has at the moment. */
export class Tokens implements TokenSigner {
  readonly #source: KeySource
  readonly #runtime: Pick<Runtime, 'now'>
  readonly #log: Log
  /** Stands in for the secret of a key that nobody knows, so that such tokens take as long to refuse as others. */
  readonly #decoy = Secret.mint()

  constructor(source: KeySource, runtime: Pick<Runtime, 'now'>, log: Log) {
    this.#source = source
    this.#runtime = runtime
    this.#log = log
  }

  get keyId(): string | undefined {
    return this.#source.ring()?.current.id
  }

  issue(request: TokenRequest): string {
    const key = signerOf(this.#ring(), request.keyId, this.#runtime.now())
    const signed = `v1.${key.id}.${encodeClaims(request)}`
    const token = `${signed}.${key.secret.mac(signed)}`
    if (token.length > TOKEN_MAX_LENGTH) {
      throw invalidInput(
        'token',
        `The token would have ${token.length} characters, but ${TOKEN_MAX_LENGTH} are the most: shorten the names in it.`,
      )
    }
    return token
  }

  verify(text: unknown): VerifiedToken {
    if (text === undefined || text === null || text === '') throw new EngineError('missing_token')
    const parts = typeof text === 'string' && text.length <= TOKEN_MAX_LENGTH ? TOKEN.exec(text) : null
    if (parts === null) throw this.#refuse('invalid_token', undefined)
    const [token, signed = '', keyId = '', claims = '', mac = ''] = parts
    const key = this.#ring().find(keyId)
    const isGenuine = isSameMac(mac, (key?.secret ?? this.#decoy).mac(signed))
    if (key === undefined || !isGenuine) throw this.#refuse('invalid_token', keyId)
    const claimed = decodeClaims(claims)
    if (claimed === undefined) throw this.#refuse('invalid_token', keyId)
    const now = this.#runtime.now()
    if (!isWithin(key.notAfter, now) || !isWithin(claimed.exp, now)) throw this.#refuse('token_expired', keyId)
    return { ...claimed, keyId, fingerprint: fingerprintOf(token) }
  }

  #ring(): KeyRing {
    const ring = this.#source.ring()
    if (ring === undefined) throw new EngineError('signing_keys_missing')
    return ring
  }

  #refuse(code: 'invalid_token' | 'token_expired', keyId: string | undefined): EngineError {
    this.#log.debug({ code, token: `${keyId ?? '<malformed>'}:<REDACTED>` }, 'A token was refused.')
    return new EngineError(code)
  }
}

function signerOf(ring: KeyRing, keyId: string | undefined, now: Instant): SigningKey {
  const earlier = keyId === undefined ? undefined : ring.find(keyId)
  return earlier !== undefined && isWithin(earlier.notAfter, now) ? earlier : ring.current
}

/**
 * The only place where MACs are compared. Texts and not bytes, because several texts decode to the same bytes, and only one
 * of them was issued.
 */
function isSameMac(given: string, expected: string): boolean {
  const a = Buffer.from(given, 'latin1')
  const b = Buffer.from(expected, 'latin1')
  return a.length === b.length && timingSafeEqual(a, b)
}

/** In a fixed order, and nothing behind the last claim that is there: equal claims are equal texts. */
function encodeClaims({ exp, sub, names, ...bound }: TokenClaims): string {
  const { executionId, waitpointId, target, generation, openedAt } = bound
  const optional = [exp ?? null, sub ?? null, names ?? null]
  const claims: unknown[] = [executionId, waitpointId, target, generation, openedAt, ...optional]
  while (claims.at(-1) === null) claims.pop()
  return Buffer.from(JSON.stringify(claims)).toString('base64url')
}

/** Claims whose MAC was right were made here, or by another version: those are not understood, and so not valid. */
function decodeClaims(text: string): TokenClaims | undefined {
  const claims = parseJson(Buffer.from(text, 'base64url').toString())
  if (!Array.isArray(claims) || claims.length > CLAIM_COUNT_MAX) return undefined
  const [executionId, waitpointId, target, generation, openedAt, exp, sub, names] = claims.map(
    (claim: unknown) => claim ?? undefined,
  )
  if (!isText(executionId) || !isText(waitpointId) || !isText(target)) return undefined
  if (!isWhole(generation) || !isWhole(openedAt)) return undefined
  if (exp !== undefined && !isWhole(exp)) return undefined
  if (sub !== undefined && !isText(sub)) return undefined
  if (names !== undefined && !(Array.isArray(names) && names.every(isText))) return undefined
  return { executionId, waitpointId, target, generation, openedAt, exp, sub, names }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return undefined
  }
}

function isText(value: unknown): value is string {
  return typeof value === 'string'
}

function isWhole(value: unknown): value is number {
  return Number.isSafeInteger(value)
}
