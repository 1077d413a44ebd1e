/**
 * The keys that tokens are signed with. Exactly one of them, the current one, signs; those before it have a time until which
 * what they signed is still good. An id that was ever in a ring never stands for another secret, and never comes back: not
 * even with the same one.
 */
import type { Instant } from '../../kernel/index.ts'
import { secretBytes } from '../../runtime/index.ts'
import { EngineError } from '../../kernel/engine-error.ts'
import { optionKeys } from '../checks/exhaustive.ts'
import { SECRET_MIN_BYTES, Secret } from './secret.ts'

export interface SigningKey {
  readonly id: string
  readonly secret: Secret
  readonly createdAt: Instant
  /** Until when, inclusive, its tokens are good. The current key has none. */
  readonly notAfter: Instant | undefined
}

/** A ring as text: in a key file, or from wherever else a program keeps its secrets. */
export interface KeyRingDocument {
  readonly keys: readonly {
    readonly id: string
    /** At least 32 bytes, as base64url. */
    readonly secret: string
    readonly createdAt: number
    readonly notAfter?: number
  }[]
  /** Ids that were in use once. */
  readonly retired?: readonly string[]
}

const RING_KEYS = optionKeys<KeyRingDocument>()(['keys', 'retired'])
const KEY_KEYS = optionKeys<KeyRingDocument['keys'][number]>()(['id', 'secret', 'createdAt', 'notAfter'])

/** Where the present ring is to be had. Without one nothing can be signed. */
export interface KeySource {
  ring(): KeyRing | undefined
}

/** Of a program that has said that it hands out no tokens. */
export const noKeys: KeySource = { ring: () => undefined }

/** How long old tokens stay good after a rotation, unless the operator says otherwise. */
export const KEY_GRACE_DEFAULT_MS = 86_400_000
/** Keys that one ring may have: the current one and those in their grace. */
export const KEY_COUNT_MAX = 64
const KEY_ID = /^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/
const MINTED_ID_BYTES = 8

/** A key that nobody has seen before. */
export function mintKey(now: Instant): SigningKey {
  return {
    id: `k${secretBytes(MINTED_ID_BYTES).toString('hex')}`,
    secret: Secret.mint(),
    createdAt: now,
    notAfter: undefined,
  }
}

/** Whether what a key signed is good at a moment. The moment itself still is, here as with the expiry of a token. */
export function isWithin(notAfter: Instant | undefined, now: Instant): boolean {
  return notAfter === undefined || notAfter >= now
}

export class KeyRing implements KeySource {
  /** In the order of their coming. */
  readonly keys: readonly SigningKey[]
  readonly retired: readonly string[]
  readonly current: SigningKey

  private constructor(keys: readonly SigningKey[], retired: readonly string[]) {
    const [current, ...others] = keys.filter(({ notAfter }) => notAfter === undefined)
    if (current === undefined)
      throw invalidKeys('no key is without notAfter, but exactly one, the current one, must be.')
    if (others.length > 0) throw invalidKeys('several keys are without notAfter, but only the current one may be.')
    if (keys.length > KEY_COUNT_MAX) {
      throw invalidKeys(`there are ${keys.length} keys, but ${KEY_COUNT_MAX} are the most: retire some.`)
    }
    const ids = [...keys.map(({ id }) => id), ...retired]
    const twice = ids.find((id, i) => ids.indexOf(id) !== i)
    if (twice !== undefined)
      throw invalidKeys(`the id ${twice} stands there twice, but an id is used once and never again.`)
    this.keys = keys
    this.retired = retired
    this.current = current
  }

  /** A ring of one key, minted now. */
  static begin(now: Instant): KeyRing {
    return new KeyRing([mintKey(now)], [])
  }

  /** Throws `invalid_keys` if it is not a ring. What the error says never repeats what was given. */
  static parse(document: unknown): KeyRing {
    const { keys, retired = [] } = fieldsOf(document, RING_KEYS, 'the ring')
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
   * A new key signs from now on, and what the one before it signed stays good for the grace. Keys whose time is over are
   * retired. What earlier rotations said of others stays as it was.
   */
  rotate(key: SigningKey, graceMs: number, now: Instant): KeyRing {
    if (this.find(key.id) !== undefined || this.retired.includes(key.id)) {
      throw invalidKeys(`the id ${key.id} was used before, and an id is used once and never again.`)
    }
    const kept = this.keys.filter(({ notAfter }) => isWithin(notAfter, now))
    const gone = this.keys.filter(({ notAfter }) => !isWithin(notAfter, now)).map(({ id }) => id)
    const before = kept.map((old) => (old === this.current ? { ...old, notAfter: now + graceMs } : old))
    return new KeyRing([...before, key], [...this.retired, ...gone])
  }

  /** Forgets a key before its time: what it signed is worthless from now on. */
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
   * This ring as the one that follows another: whatever that one had, and this has not, is retired. A ring in which
   * something comes back that was retired, or lives longer than it should have, is refused.
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
        throw invalidKeys(`the key ${key.id} would be good for longer than it was said before.`)
      }
    }
    const gone = previous.keys.map(({ id }) => id).filter((id) => this.find(id) === undefined)
    return new KeyRing(this.keys, [...new Set([...previous.retired, ...gone, ...this.retired])])
  }
}

/** The secrets are in it: only for where secrets are kept. */
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
  const { id, secret, createdAt, notAfter } = fieldsOf(given, KEY_KEYS, where)
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

/** A field that is not known is not named either: whoever mixes up name and value has a secret there. */
function fieldsOf(value: unknown, known: readonly string[], where: string): Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw invalidKeys(`${where} must be an object with ${known.join(', ')}.`)
  }
  if (!Object.keys(value).every((key) => known.includes(key))) {
    throw invalidKeys(`${where} has a field that is none of ${known.join(', ')}.`)
  }
  return value as Readonly<Record<string, unknown>>
}

function isKeyId(value: unknown): value is string {
  return typeof value === 'string' && KEY_ID.test(value)
}

function isInstant(value: unknown): value is Instant {
  return Number.isSafeInteger(value) && (value as number) >= 0
}
