/**
 * The keys that sign tokens. Exactly one key, the current one, signs. Earlier keys verify until they expire. The id of a key
 * is never reused, not even with the same secret.
 */
import type { Instant } from '../../kernel/index.ts'
import { secretBytes } from '../../runtime/index.ts'
import type { Runtime } from '../../runtime/index.ts'
import { EngineError } from '../../kernel/engine-error.ts'
import { SECRET_MIN_BYTES, Secret } from './secret.ts'

export interface SigningKey {
  readonly id: string
  readonly secret: Secret
  readonly createdAt: Instant
  /** The last moment at which its tokens are valid. The current key has none. */
  readonly notAfter: Instant | undefined
}

/** A ring as JSON: the content of a key file, or from a secret manager. */
export interface KeyRingDocument {
  readonly keys: readonly {
    readonly id: string
    /** At least 32 bytes, as base64url. */
    readonly secret: string
    readonly createdAt: number
    readonly notAfter?: number
  }[]
  /** The ids of keys that were in use once. */
  readonly retired?: readonly string[]
}

type Fields<T> = Readonly<Record<keyof T, true>>

const RING_FIELDS: Fields<KeyRingDocument> = { keys: true, retired: true }
const KEY_FIELDS: Fields<KeyRingDocument['keys'][number]> = { id: true, secret: true, createdAt: true, notAfter: true }

/** Provides the current ring. Without a ring, nothing can be signed. */
export interface KeySource {
  ring(): KeyRing | undefined
  /** Creates a new key that signs from now on. Absent if the ring comes from elsewhere. */
  rotateStored?(graceMs: number, runtime: Runtime): Promise<KeyRing>
  /** Removes a key whose tokens are to be refused from now on. Absent if the ring comes from elsewhere. */
  retireStored?(id: string, runtime: Runtime): Promise<KeyRing>
  /** Reads the ring at its first use, and not when the fabric is created. */
  readonly isLazy?: boolean
}

/** The source of a program that issues no tokens. */
export const noKeys: KeySource = { ring: () => undefined }

/** How long the tokens of the previous key stay valid after a rotation, unless given. */
export const KEY_GRACE_DEFAULT_MS = 86_400_000
/** Keys per ring: the current one and those in their grace period. */
export const KEY_COUNT_MAX = 64
const KEY_ID = /^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/
const MINTED_ID_BYTES = 8

/** Creates a new random key. */
export function mintKey(now: Instant): SigningKey {
  return {
    id: `k${secretBytes(MINTED_ID_BYTES).toString('hex')}`,
    secret: Secret.mint(),
    createdAt: now,
    notAfter: undefined,
  }
}

/** Whether tokens of a key are valid at a moment. `notAfter` is inclusive, as is the expiry of a token. */
export function isWithin(notAfter: Instant | undefined, now: Instant): boolean {
  return notAfter === undefined || notAfter >= now
}

export class KeyRing implements KeySource {
  /** In order of creation. */
  readonly keys: readonly SigningKey[]
  readonly retired: readonly string[]
  readonly current: SigningKey

  private constructor(keys: readonly SigningKey[], retired: readonly string[]) {
    const [current, ...others] = keys.filter(({ notAfter }) => notAfter === undefined)
    if (current === undefined) throw invalidKeys('there is no current key: exactly one key must have no notAfter.')
    if (others.length > 0) throw invalidKeys('there are several current keys: exactly one key must have no notAfter.')
    if (keys.length > KEY_COUNT_MAX) {
      throw invalidKeys(`there are ${keys.length} keys, but at most ${KEY_COUNT_MAX} are allowed: retire some.`)
    }
    const ids = [...keys.map(({ id }) => id), ...retired]
    const seen = new Set<string>()
    const twice = ids.find((id) => seen.size === seen.add(id).size)
    if (twice !== undefined) throw invalidKeys(`the id ${twice} occurs twice, but ids are never reused.`)
    this.keys = keys
    this.retired = retired
    this.current = current
  }

  /** Creates a ring with one new key. */
  static begin(now: Instant): KeyRing {
    return new KeyRing([mintKey(now)], [])
  }

  /** Throws `invalid_keys` if it is not a ring. The error never contains the input. */
  static parse(document: unknown): KeyRing {
    const { keys, retired = [] } = fieldsOf(document, RING_FIELDS, 'the ring')
    if (!Array.isArray(keys)) throw invalidKeys('keys must be a list.')
    if (!Array.isArray(retired) || !retired.every(isKeyId)) throw invalidKeys('retired must be a list of key ids.')
    return new KeyRing(keys.map(parseKey), retired)
  }

  ring(): this {
    return this
  }

  find(id: string): SigningKey | undefined {
    return this.keys.find((key) => key.id === id)
  }

  /**
   * Returns a ring in which a new key signs. Tokens of the previous key stay valid for the grace period. Expired keys are
   * retired; other keys are unchanged. Refuses a key whose id was used before.
   */
  rotate(key: SigningKey, graceMs: number, now: Instant): KeyRing {
    const kept = this.keys.filter(({ notAfter }) => isWithin(notAfter, now))
    const gone = this.keys.filter(({ notAfter }) => !isWithin(notAfter, now)).map(({ id }) => id)
    const before = kept.map((old) => (old === this.current ? { ...old, notAfter: now + graceMs } : old))
    return new KeyRing([...before, key], [...this.retired, ...gone])
  }

  /** Retires a key before it expires. Its tokens become invalid. */
  retire(id: string): KeyRing {
    if (id === this.current.id) {
      throw new EngineError('invalid_input', {
        field: 'id',
        message: `${id} is the key that signs: rotate first, then retire it.`,
      })
    }
    if (this.find(id) === undefined) {
      const why = this.retired.includes(id) ? 'is retired already' : 'is not in the ring'
      throw new EngineError('invalid_input', { field: 'id', message: `${id} ${why}.` })
    }
    return new KeyRing(
      this.keys.filter((key) => key.id !== id),
      [...this.retired, id],
    )
  }

  /**
   * Returns this ring as the successor of another: keys that are missing here are retired. Refuses a ring that restores a
   * retired key or extends the life of a key.
   */
  after(previous: KeyRing): KeyRing {
    for (const key of this.keys) {
      if (previous.retired.includes(key.id)) throw invalidKeys(`the key ${key.id} was retired and cannot come back.`)
      const known = previous.find(key.id)
      if (known === undefined) continue
      if (known.secret.fingerprint !== key.secret.fingerprint) {
        throw invalidKeys(`the key ${key.id} has another secret than before: a new secret needs a new id.`)
      }
      if (known.notAfter !== undefined && (key.notAfter === undefined || key.notAfter > known.notAfter)) {
        throw invalidKeys(`the key ${key.id} would be valid for longer than before.`)
      }
    }
    const gone = previous.keys.map(({ id }) => id).filter((id) => this.find(id) === undefined)
    return new KeyRing(this.keys, [...new Set([...previous.retired, ...gone, ...this.retired])])
  }
}

/** Whether two rings hold the same keys with the same times. */
export function isSameRing(a: KeyRing, b: KeyRing): boolean {
  return a === b || describeRing(a) === describeRing(b)
}

function describeRing({ keys, retired }: KeyRing): string {
  const facts = keys.map(({ id, secret, createdAt, notAfter }) => [id, secret.fingerprint, createdAt, notAfter])
  return JSON.stringify([facts, retired])
}

/** Returns the ring with its secrets, to be written to a key file only. */
export function revealRing(ring: KeyRing): KeyRingDocument {
  const keys = ring.keys.map(({ id, secret, createdAt, notAfter }) => ({
    id,
    secret: secret.reveal(),
    createdAt,
    ...(notAfter === undefined ? {} : { notAfter }),
  }))
  return { keys, retired: ring.retired }
}

function invalidKeys(problem: string): EngineError {
  return new EngineError('invalid_keys', { field: 'keys', message: `In the key ring, ${problem}` })
}

function parseKey(given: unknown, i: number): SigningKey {
  const where = `keys[${i}]`
  const { id, secret, createdAt, notAfter } = fieldsOf(given, KEY_FIELDS, where)
  if (!isKeyId(id)) {
    throw invalidKeys(`${where}.id must be 1 to 64 characters of a-z, A-Z, 0-9, '_' and '-', a letter or digit first.`)
  }
  const parsed = typeof secret === 'string' ? Secret.parse(secret) : undefined
  if (parsed === undefined) {
    throw invalidKeys(`${where}.secret must be at least ${SECRET_MIN_BYTES} bytes, written as base64url.`)
  }
  if (!isInstant(createdAt)) throw invalidKeys(`${where}.createdAt must be in milliseconds since 1970.`)
  if (notAfter !== undefined && !isInstant(notAfter)) {
    throw invalidKeys(`${where}.notAfter must be in milliseconds since 1970, or left out.`)
  }
  return { id, secret: parsed, createdAt, notAfter }
}

/** Does not name unknown fields: if name and value were swapped, the name is a secret. */
function fieldsOf<T extends object>(value: unknown, fields: T, where: string): Readonly<Record<keyof T, unknown>> {
  const known = Object.keys(fields)
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw invalidKeys(`${where} must be an object with ${known.join(', ')}.`)
  }
  if (!Object.keys(value).every((key) => known.includes(key))) {
    throw invalidKeys(`${where} has a field that is none of ${known.join(', ')}.`)
  }
  return value as Readonly<Record<keyof T, unknown>>
}

function isKeyId(value: unknown): value is string {
  return typeof value === 'string' && KEY_ID.test(value)
}

function isInstant(value: unknown): value is Instant {
  return Number.isSafeInteger(value) && (value as number) >= 0
}
