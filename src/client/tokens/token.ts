/**
 * Tokens: signed texts whose holder can send signals to one waitpoint of one execution. A token is a pure function of a
 * secret and its claims, so tokens are never stored. The signature is verified here; the operation that takes the signal
 * compares the claims with the waitpoint.
 *
 * `v1.<key id>.<claims>.<mac>`: the claims are a JSON array in base64url, the MAC is HMAC-SHA-256 over everything before it.
 */
import { timingSafeEqual } from 'node:crypto'
import type { Instant } from '../../kernel/index.ts'
import type { Log, Runtime } from '../../runtime/index.ts'
import { EngineError } from '../../kernel/engine-error.ts'
import { isSameRing, isWithin } from './key-ring.ts'
import type { KeyRing, KeySource, SigningKey } from './key-ring.ts'
import { invalidInput } from '../checks/names.ts'
import type { RetiredKeys } from './retired-keys.ts'
import { Secret } from './secret.ts'

/** The signed claims of a token. */
export interface TokenClaims {
  readonly executionId: string
  /** The store's id of the waitpoint, unique to this execution and not shared by one that replaced it. */
  readonly waitpointId: string
  readonly target: string
  /** Incremented when the waitpoint is reopened or its tokens are reissued. */
  readonly generation: number
  /** When the waitpoint was opened. Distinguishes an execution that was removed and submitted again with the same ids. */
  readonly openedAt: Instant
  /** The last moment at which it is valid. */
  readonly exp?: Instant | undefined
  /** The principal: the sender of all signals that are sent with it. */
  readonly sub?: string | undefined
  /** Names of signals that may be sent with it. Any unless given. */
  readonly names?: readonly string[] | undefined
  /** Drawn at random when the waitpoint was opened. Absent for a waitpoint that was opened without one. */
  readonly nonce?: string | undefined
}

/** The signed claims of a token that reads one execution, and nothing else. */
export interface ReadClaims {
  readonly executionId: string
  readonly namespace: string
  /** The last moment at which it is valid. */
  readonly exp: Instant
}

export interface TokenRequest extends TokenClaims {
  /** The key that signed for this waitpoint before. It signs again while it is valid, so that the token stays the same. */
  readonly keyId?: string | undefined
}

/** The claims of a token that was verified and has not expired. */
export interface VerifiedToken extends TokenClaims {
  readonly keyId: string
}

/** A secret, encrypted with a key of the ring. */
export interface SealedText {
  readonly keyId: string
  readonly sealed: string
}

/** A key without its secret. */
export interface KeySummary {
  readonly id: string
  readonly createdAt: Instant
  /** The last moment at which its tokens are valid. The current key has none. */
  readonly notAfter: Instant | undefined
  /** Whether it signs. */
  readonly isCurrent: boolean
}

export interface TokenSigner {
  /** The current key; undefined if there are no keys, or they could not be read for too long. */
  readonly keyId: string | undefined
  /** All keys that sign or verify, without their secrets, in order of creation. */
  keys(): KeySummary[]
  /** Creates a new key that signs from now on. Tokens of the previous one stay valid for the grace period. */
  rotate(graceMs: number, runtime: Runtime): Promise<KeySummary[]>
  /** Removes a key that verifies only. Its tokens are refused from now on. */
  retire(id: string, runtime: Runtime): Promise<KeySummary[]>
  /** Returns the current key. Throws `signing_keys_missing` or `signing_keys_stale` if nothing can be signed. */
  requireKeyId(): string
  /**
   * Compares the current ring with the retired keys that the store knows, once for each ring. Throws `invalid_keys` if the ring
   * restores a retired key. Returns a signer that uses this ring only, also if the source has another one meanwhile.
   */
  confirm(): Promise<TokenSigner>
  /** Throws `signing_keys_missing` if there are no keys. */
  issue(request: TokenRequest): string
  /** Throws `missing_token`, `invalid_token` or, for genuine tokens only, `token_expired`. */
  verify(text: unknown): VerifiedToken
  /** Issues a token that reads one execution. Throws as `issue` does. */
  issueRead(claims: ReadClaims): string
  /** Throws as `verify` does. */
  verifyRead(text: unknown): ReadClaims
  /** Encrypts a secret that is to be stored, with the current key. Throws `signing_keys_missing` if there are no keys. */
  seal(plain: Buffer, context: string): SealedText
  /** Decrypts it with the key that it names. Throws `invalid_keys` if the ring lacks the key. */
  unseal(sealed: SealedText, context: string): Buffer
}

/** Bounded so that links with a token pass through mail programs and proxies. */
export const TOKEN_MAX_LENGTH = 4_096
const CLAIM_COUNT_MAX = 9
/** How a token begins that reads one execution. What is signed includes it, so the two kinds of tokens are never confused. */
export const READ_TOKEN_PREFIX = 'r1.'
const READ_TOKEN = /^(r1\.([A-Za-z0-9][A-Za-z0-9_-]{0,63})\.([A-Za-z0-9_-]+))\.([A-Za-z0-9_-]{43})$/
const TOKEN = /^(v1\.([A-Za-z0-9][A-Za-z0-9_-]{0,63})\.([A-Za-z0-9_-]+))\.([A-Za-z0-9_-]{43})$/

/** A match of the pattern, in which every group has a text: the token, what is signed of it, the key's id, the claims, the MAC. */
type TokenParts = readonly [token: string, signed: string, keyId: string, claims: string, mac: string]

/** Signs and verifies with the current ring of its source. */
export class Tokens implements TokenSigner {
  readonly #source: KeySource
  readonly #runtime: Pick<Runtime, 'now'>
  readonly #log: Log
  readonly #retired: RetiredKeys | undefined
  #confirmed: KeyRing | undefined
  /** Stands in for the secret of an unknown key, so that refusing such a token takes as long as any other. */
  readonly #decoy = Secret.mint()

  constructor(source: KeySource, runtime: Pick<Runtime, 'now'>, log: Log, retired?: RetiredKeys) {
    this.#source = source
    this.#runtime = runtime
    this.#log = log
    this.#retired = retired
  }

  get keyId(): string | undefined {
    try {
      return this.#source.ring()?.current.id
    } catch (error) {
      // A waitpoint can be opened without a key; only its tokens need one.
      if (error instanceof EngineError && error.code === 'signing_keys_stale') return undefined
      throw error
    }
  }

  keys(): KeySummary[] {
    return summarise(this.#source.ring())
  }

  async rotate(graceMs: number, runtime: Runtime): Promise<KeySummary[]> {
    this.requireKeyId()
    if (this.#source.rotateStored === undefined) throw notInFile('rotate')
    return summarise(await this.#source.rotateStored(graceMs, runtime))
  }

  async retire(id: string, runtime: Runtime): Promise<KeySummary[]> {
    this.requireKeyId()
    if (this.#source.retireStored === undefined) throw notInFile('retire')
    return summarise(await this.#source.retireStored(id, runtime))
  }

  requireKeyId(): string {
    return this.#ring().current.id
  }

  async confirm(): Promise<TokenSigner> {
    const ring = this.#source.ring()
    if (ring !== undefined) await this.#compare(ring)
    return new Tokens({ ring: () => ring }, this.#runtime, this.#log)
  }

  issue(request: TokenRequest): string {
    const key = signerOf(this.#ring(), request.keyId, this.#runtime.now())
    const signed = `v1.${key.id}.${encodeClaims(request)}`
    const token = `${signed}.${key.secret.mac(signed)}`
    if (token.length > TOKEN_MAX_LENGTH) {
      throw invalidInput(
        'token',
        `The token would have ${token.length} characters, but at most ${TOKEN_MAX_LENGTH} are allowed: shorten the names in it.`,
      )
    }
    return token
  }

  verify(text: unknown): VerifiedToken {
    const { keyId, claimed } = this.#verified(text, TOKEN, decodeClaims)
    return { ...claimed, keyId }
  }

  issueRead({ executionId, namespace, exp }: ReadClaims): string {
    const { current } = this.#ring()
    const claims = Buffer.from(JSON.stringify([executionId, namespace, exp])).toString('base64url')
    const signed = `${READ_TOKEN_PREFIX}${current.id}.${claims}`
    return `${signed}.${current.secret.mac(signed)}`
  }

  seal(plain: Buffer, context: string): SealedText {
    const { id, secret } = this.#ring().current
    return { keyId: id, sealed: secret.seal(plain, context) }
  }

  unseal({ keyId, sealed }: SealedText, context: string): Buffer {
    const plain = this.#ring().find(keyId)?.secret.unseal(sealed, context)
    if (plain !== undefined) return plain
    const message = `The key ring cannot decrypt a stored secret: it was encrypted with the key ${keyId}.`
    throw new EngineError('invalid_keys', { field: 'keys', message })
  }

  verifyRead(text: unknown): ReadClaims {
    return this.#verified(text, READ_TOKEN, decodeReadClaims).claimed
  }

  #verified<Claims extends { readonly exp?: Instant | undefined }>(
    text: unknown,
    pattern: RegExp,
    decode: (claims: string) => Claims | undefined,
  ): { readonly keyId: string; readonly claimed: Claims } {
    if (text === undefined || text === null || text === '') throw new EngineError('missing_token')
    const parts = typeof text === 'string' && text.length <= TOKEN_MAX_LENGTH ? pattern.exec(text) : null
    if (parts === null) throw this.#refuse('invalid_token', undefined)
    const [, signed, keyId, claims, mac] = parts as unknown as TokenParts
    const key = this.#ring().find(keyId)
    const isGenuine = isSameMac(mac, (key?.secret ?? this.#decoy).mac(signed))
    if (key === undefined || !isGenuine) throw this.#refuse('invalid_token', keyId)
    const claimed = decode(claims)
    if (claimed === undefined) throw this.#refuse('invalid_token', keyId)
    const now = this.#runtime.now()
    if (!isWithin(key.notAfter, now) || !isWithin(claimed.exp, now)) throw this.#refuse('token_expired', keyId)
    return { keyId, claimed }
  }

  async #compare(ring: KeyRing): Promise<void> {
    if (this.#confirmed !== undefined && isSameRing(ring, this.#confirmed)) return
    await this.#retired?.compare(ring)
    this.#confirmed = ring
  }

  #ring(): KeyRing {
    const ring = this.#source.ring()
    if (ring === undefined) throw new EngineError('signing_keys_missing')
    return ring
  }

  #refuse(code: 'invalid_token' | 'token_expired', keyId: string | undefined): EngineError {
    this.#log.debug({ code, token: `${keyId ?? '<malformed>'}:<REDACTED>` }, 'token refused')
    return new EngineError(code)
  }
}

function signerOf(ring: KeyRing, keyId: string | undefined, now: Instant): SigningKey {
  const earlier = keyId === undefined ? undefined : ring.find(keyId)
  return earlier !== undefined && isWithin(earlier.notAfter, now) ? earlier : ring.current
}

/**
 * The only place where MACs are compared. Compares texts rather than bytes, because several texts decode to the same bytes
 * and only one of them was issued.
 */
function isSameMac(given: string, expected: string): boolean {
  const a = Buffer.from(given)
  const b = Buffer.from(expected)
  return a.length === b.length && timingSafeEqual(a, b)
}

/** Serializes claims in a fixed order without trailing absent ones, so that equal claims have equal texts. */
function encodeClaims({ exp, sub, names, nonce, ...bound }: TokenClaims): string {
  const { executionId, waitpointId, target, generation, openedAt } = bound
  const optional = [exp ?? null, sub ?? null, names ?? null, nonce ?? null]
  const claims: unknown[] = [executionId, waitpointId, target, generation, openedAt, ...optional]
  while (claims.at(-1) === null) claims.pop()
  return Buffer.from(JSON.stringify(claims)).toString('base64url')
}

/** Claims with a valid MAC that cannot be parsed are from another version, and refused as invalid. */
function decodeClaims(text: string): TokenClaims | undefined {
  const claims = parseJson(Buffer.from(text, 'base64url').toString())
  if (!Array.isArray(claims) || claims.length > CLAIM_COUNT_MAX) return undefined
  const [executionId, waitpointId, target, generation, openedAt, exp, sub, names, nonce] = claims.map(
    (claim: unknown) => claim ?? undefined,
  )
  if (!isText(executionId) || !isText(waitpointId) || !isText(target)) return undefined
  if (!isWhole(generation) || !isWhole(openedAt)) return undefined
  if (exp !== undefined && !isWhole(exp)) return undefined
  if (sub !== undefined && !isText(sub)) return undefined
  if (names !== undefined && !(Array.isArray(names) && names.every(isText))) return undefined
  if (nonce !== undefined && !isText(nonce)) return undefined
  return { executionId, waitpointId, target, generation, openedAt, exp, sub, names, nonce }
}

function decodeReadClaims(text: string): ReadClaims | undefined {
  const claims = parseJson(Buffer.from(text, 'base64url').toString())
  if (!Array.isArray(claims)) return undefined
  const [executionId, namespace, exp] = claims as readonly unknown[]
  return isText(executionId) && isText(namespace) && isWhole(exp) ? { executionId, namespace, exp } : undefined
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

function summarise(ring: KeyRing | undefined): KeySummary[] {
  if (ring === undefined) return []
  return ring.keys.map(({ id, createdAt, notAfter }) => ({
    id,
    createdAt,
    notAfter,
    isCurrent: id === ring.current.id,
  }))
}

function notInFile(verb: string): EngineError {
  return new EngineError('forbidden', {
    message: `The signing keys are not in a file: ${verb} them where they come from.`,
  })
}
