import { createHmac } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import fc from 'fast-check'
import { silentLog, virtualRuntime } from '../../runtime/index.ts'
import type { Log } from '../../runtime/index.ts'
import { EngineError } from '../../kernel/engine-error.ts'
import { KeyRing, mintKey, noKeys } from './key-ring.ts'
import type { KeySource } from './key-ring.ts'
import { RetiredKeys } from './retired-keys.ts'
import { TOKEN_MAX_LENGTH, Tokens } from './token.ts'
import type { TokenClaims } from './token.ts'

const SECRET = Buffer.alloc(32, 1).toString('base64url')
const RING = KeyRing.parse({ keys: [{ id: 'k1', secret: SECRET, createdAt: 0 }] })
const CLAIMS: TokenClaims = {
  executionId: '0-0198f7a2-0000-7000-8000-000000000000',
  waitpointId: '0-0198f7a2-0000-7000-8000-000000000000\u001freview',
  target: 'review',
  generation: 1,
  openedAt: 500,
}
/** Control characters, quotes and half a pair of surrogates among them. */
const anyText = fc.array(fc.integer({ min: 0, max: 0xffff })).map((codes) => String.fromCharCode(...codes))
const BASE64URL = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'

function tokensOf(source: KeySource, log: Log = silentLog) {
  const runtime = virtualRuntime(1_000)
  return { runtime, tokens: new Tokens(source, runtime, log) }
}

function codeOf(run: () => unknown): string {
  try {
    run()
  } catch (error) {
    if (error instanceof EngineError) return error.code
    throw error
  }
  return 'accepted'
}

describe('a token', () => {
  test('proves what it was issued for', () => {
    const { tokens } = tokensOf(RING)
    const claims = { ...CLAIMS, exp: 2_000, sub: 'ada@example.com', names: ['approve', 'reject'] }

    const verified = tokens.verify(tokens.issue(claims))

    expect(verified).toMatchObject({ ...claims, keyId: 'k1' })
  })

  test('is the same text for the same claims, and another for any other', () => {
    const { tokens } = tokensOf(RING)
    const others: TokenClaims[] = [
      { ...CLAIMS, executionId: '1-x' },
      { ...CLAIMS, waitpointId: 'x' },
      { ...CLAIMS, target: 'x' },
      { ...CLAIMS, generation: 2 },
      { ...CLAIMS, openedAt: 501 },
      { ...CLAIMS, exp: 5_000 },
      { ...CLAIMS, sub: 'ada' },
      { ...CLAIMS, names: ['approve'] },
    ]

    expect(tokens.issue({ ...CLAIMS })).toBe(tokens.issue(CLAIMS))
    expect(new Set([CLAIMS, ...others].map((claims) => tokens.issue(claims))).size).toBe(others.length + 1)
  })

  test('has the MAC of everything before it, by HMAC-SHA-256', () => {
    const token = tokensOf(RING).tokens.issue(CLAIMS)
    const [signed, mac] = [token.slice(0, token.lastIndexOf('.')), token.slice(token.lastIndexOf('.') + 1)]

    expect(token).toMatch(/^v1\.k1\.[\w-]+\.[\w-]{43}$/)
    expect(mac).toBe(createHmac('sha256', Buffer.alloc(32, 1)).update(signed).digest('base64url'))
  })

  test('keeps any text whole', () => {
    const { tokens } = tokensOf(RING)
    fc.assert(
      fc.property(anyText, anyText, (sub, target) => {
        expect(tokens.verify(tokens.issue({ ...CLAIMS, sub, target }))).toMatchObject({ sub, target })
      }),
    )
  })

  test('that would be too long for a link is not issued', () => {
    const { tokens } = tokensOf(RING)
    expect(codeOf(() => tokens.issue({ ...CLAIMS, sub: 'a'.repeat(TOKEN_MAX_LENGTH) }))).toBe('invalid_input')
  })
})

describe('a forgery', () => {
  const { tokens } = tokensOf(RING)
  const token = tokens.issue({ ...CLAIMS, sub: 'ada' })
  const [version, keyId, claims, mac] = token.split('.') as [string, string, string, string]

  test('by changing any one character is not valid', () => {
    const isAccepted = (text: string) => codeOf(() => tokens.verify(text)) !== 'invalid_token'
    const changed = Array.from(token).flatMap((right, i) =>
      [...neighboursOf(right), '.', '=', ' ', 'A', '\u0141', '\u0000']
        .filter((wrong) => wrong !== right)
        .map((wrong) => token.slice(0, i) + wrong + token.slice(i + 1)),
    )

    expect(changed.filter(isAccepted)).toEqual([])
  })

  test('by leaving out the beginning or the end is not valid', () => {
    for (let length = 1; length < token.length; length++) {
      expect(codeOf(() => tokens.verify(token.slice(0, length)))).toBe('invalid_token')
      expect(codeOf(() => tokens.verify(token.slice(length)))).toBe('invalid_token')
    }
  })

  test.each<[string, unknown]>([
    ['parts in another order', [version, claims, keyId, mac].join('.')],
    ['a part twice', [version, keyId, claims, claims, mac].join('.')],
    ['no MAC', [version, keyId, claims, ''].join('.')],
    ['the MAC of other claims', [version, keyId, claims, tokens.issue(CLAIMS).split('.')[3]].join('.')],
    ['another version', token.replace('v1', 'v2')],
    ['another key', token.replace('k1', 'k2')],
    ['padding', `${token}=`],
    ['a line break', `${token}\n`],
    ['a space before it', ` ${token}`],
    ['more than a token has', 'v1.k1.'.padEnd(TOKEN_MAX_LENGTH + 1, 'A')],
    ['a number', 17],
    ['a list', [token]],
    ['an object', { token }],
  ])('with %s is not valid', (_what, forged) => {
    expect(codeOf(() => tokens.verify(forged))).toBe('invalid_token')
  })

  test('by another secret under the same key id is not valid', () => {
    const other = KeyRing.parse({ keys: [{ ...mintedDocument(), id: 'k1' }] })
    expect(codeOf(() => tokens.verify(tokensOf(other).tokens.issue(CLAIMS)))).toBe('invalid_token')
  })

  test('that random text makes is never accepted', () => {
    fc.assert(
      fc.property(fc.string({ minLength: 1, maxLength: 300 }), (text) => {
        expect(codeOf(() => tokens.verify(text))).toBe('invalid_token')
      }),
    )
  })

  test('with unknown claims is not valid, even with the right MAC', () => {
    const foreign: unknown[] = [
      {},
      [],
      ['a', 'b', 'c'],
      ['a', 'b', 'c', '1'],
      [1, 'b', 'c', 1, 500],
      ['a', 2, 'c', 1, 500],
      ['a', 'b', 3, 1, 500],
      ['a', 'b', 'c', '1', 500],
      ['a', 'b', 'c', 1, 500, 9_999, 'ada', ['approve', 7]],
      ['a', 'b', 'c', 1],
      ['a', 'b', 'c', 1, '500'],
      ['a', 'b', 'c', 1, null, 9_999],
      ['a', 'b', 'c', 1, 500, '9'],
      ['a', 'b', 'c', 1, 500, 9_999, 7],
      ['a', 'b', 'c', 1, 500, 9_999, 'ada', 'approve'],
      ['a', 'b', 'c', 1, 500, 9_999, 'ada', ['approve'], 7],
      ['a', 'b', 'c', 1, 500, 9_999, 'ada', ['approve'], 'nonce', 'more'],
    ]
    for (const claimed of foreign) {
      const signed = `v1.k1.${Buffer.from(JSON.stringify(claimed)).toString('base64url')}`
      const forged = `${signed}.${RING.current.secret.mac(signed)}`
      expect(
        codeOf(() => tokens.verify(forged)),
        JSON.stringify(claimed),
      ).toBe('invalid_token')
    }
  })
})

describe('what a holder learns', () => {
  test.each([undefined, null, ''])('%o is a token that is missing', (text) => {
    expect(codeOf(() => tokensOf(RING).tokens.verify(text))).toBe('missing_token')
  })

  test('a token is good through the moment it expires at, and no longer', async () => {
    const { tokens, runtime } = tokensOf(RING)
    const token = tokens.issue({ ...CLAIMS, exp: 1_500 })

    await runtime.advance(500)
    expect(codeOf(() => tokens.verify(token))).toBe('accepted')
    await runtime.advance(1)
    expect(codeOf(() => tokens.verify(token))).toBe('token_expired')
  })

  test('only a genuine token is refused as expired', async () => {
    const { tokens, runtime } = tokensOf(RING)
    const token = tokens.issue({ ...CLAIMS, exp: 1_500 })
    await runtime.advance(1_000)

    const other = token.endsWith('A') ? 'B' : 'A'
    expect(codeOf(() => tokens.verify(token.slice(0, -1) + other))).toBe('invalid_token')
  })

  test('a refusal carries only its code, and never the token', () => {
    const lines: unknown[] = []
    const log: Log = { ...silentLog, debug: (...line) => void lines.push(line) }
    const { tokens } = tokensOf(RING, log)
    const token = tokens.issue(CLAIMS)
    const forged = token.replace('v1.k1', 'v1.k9')

    const errors = [forged, `${token}x`, 'nonsense'].map((text) => {
      try {
        return tokens.verify(text)
      } catch (error) {
        return error
      }
    })

    expect(new Set(errors.map((error) => JSON.stringify(error))).size).toBe(1)
    expect(errors[0]).toMatchObject({ code: 'invalid_token', detail: {} })
    expect(lines).toEqual([
      [{ code: 'invalid_token', token: 'k9:<REDACTED>' }, 'token refused'],
      [{ code: 'invalid_token', token: '<malformed>:<REDACTED>' }, 'token refused'],
      [{ code: 'invalid_token', token: '<malformed>:<REDACTED>' }, 'token refused'],
    ])
    expect(JSON.stringify([lines, errors])).not.toContain(token.slice(6, 40))
  })

  test('without keys, every use of tokens throws signing_keys_missing', () => {
    const { tokens } = tokensOf(noKeys)

    expect(tokens.keyId).toBeUndefined()
    expect(codeOf(() => tokens.issue(CLAIMS))).toBe('signing_keys_missing')
    expect(codeOf(() => tokens.verify(tokensOf(RING).tokens.issue(CLAIMS)))).toBe('signing_keys_missing')
  })
})

describe('keys that follow each other', () => {
  test('a waitpoint keeps its key while that is good, so that its token stays the same', () => {
    let ring = KeyRing.begin(0)
    const source = { ring: () => ring }
    const { tokens, runtime } = tokensOf(source)
    const keyId = tokens.keyId!
    const token = tokens.issue({ ...CLAIMS, keyId })
    ring = ring.rotate(mintKey(1_000), 500, 1_000)

    expect(tokens.issue({ ...CLAIMS, keyId })).toBe(token)
    expect(tokens.issue(CLAIMS)).not.toBe(token)
    runtime.jump(501)
    expect(tokens.verify(tokens.issue({ ...CLAIMS, keyId })).keyId).toBe(tokens.keyId)
    expect(codeOf(() => tokens.verify(token))).toBe('token_expired')
  })

  test('a token is good until exactly the time of its key, whatever rotations come, and never after', () => {
    const step = fc.record({
      waitMs: fc.integer({ min: 0, max: 60 }),
      graceMs: fc.integer({ min: 0, max: 100 }),
      does: fc.constantFrom('rotate', 'retire', 'issue'),
    })
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        let ring = KeyRing.begin(1_000)
        const { tokens, runtime } = tokensOf({ ring: () => ring })
        /** When each key ends: the model that the ring is held against. */
        const ends = new Map<string, number>([[ring.current.id, Infinity]])
        const issued: { readonly token: string; readonly keyId: string }[] = []
        for (const { waitMs, graceMs, does } of steps) {
          runtime.jump(waitMs)
          const now = runtime.now()
          if (does === 'issue') issued.push({ token: tokens.issue(CLAIMS), keyId: tokens.keyId! })
          if (does === 'rotate' && ring.keys.length < 60) {
            ends.set(ring.current.id, now + graceMs)
            ring = ring.rotate(mintKey(now), graceMs, now)
            ends.set(ring.current.id, Infinity)
          }
          if (does === 'retire' && ring.keys.length > 1) {
            ends.set(ring.keys[0]!.id, -1)
            ring = ring.retire(ring.keys[0]!.id)
          }
          for (const { token, keyId } of issued) {
            const code = codeOf(() => tokens.verify(token))
            if (ends.get(keyId)! >= now) expect(code).toBe('accepted')
            else expect(code).toBe(ring.find(keyId) === undefined ? 'invalid_token' : 'token_expired')
          }
          expect(ring.keys.map(({ id }) => id).filter((id) => ring.retired.includes(id))).toEqual([])
          expect(ring.keys.length + ring.retired.length).toBe(ends.size)
        }
      }),
      { numRuns: 100 },
    )
  })
})

/** What a character becomes when one of its six bits is another. */
function neighboursOf(character: string): string[] {
  const value = BASE64URL.indexOf(character)
  return value === -1 ? [] : [1, 2, 4, 8, 16, 32].map((bit) => BASE64URL.charAt(value ^ bit))
}

function mintedDocument() {
  return { secret: mintKey(0).secret.reveal(), createdAt: 0 }
}

test('keys that could not be read for too long neither sign nor verify, and are no key for a waitpoint', () => {
  const token = tokensOf(RING).tokens.issue(CLAIMS)
  const { tokens } = tokensOf({
    ring: () => {
      throw new EngineError('signing_keys_stale')
    },
  })

  expect(tokens.keyId).toBeUndefined()
  for (const use of [() => tokens.issue(CLAIMS), () => tokens.verify(token), () => tokens.requireKeyId()]) {
    expect(codeOf(use)).toBe('signing_keys_stale')
  }
})

test('a nonce is a claim of its own, and a token without one is read as before', () => {
  const { tokens } = tokensOf(RING)
  const plain = tokens.issue(CLAIMS)
  const nonces = ['', 'a', 'b', 'null', 'é'].map((nonce) => tokens.issue({ ...CLAIMS, nonce }))

  expect(tokens.verify(plain).nonce).toBeUndefined()
  expect(nonces.map((token) => tokens.verify(token).nonce)).toEqual(['', 'a', 'b', 'null', 'é'])
  expect(new Set([plain, ...nonces]).size).toBe(6)
})

/** A token that is signed with the right key, whatever is claimed. */
function signedWith(claims: unknown): string {
  const signed = `v1.k1.${Buffer.from(JSON.stringify(claims)).toString('base64url')}`
  return `${signed}.${RING.current.secret.mac(signed)}`
}

test('claims that are absent take no room at the end, and keep their place before others', () => {
  const { tokens } = tokensOf(RING)
  const { executionId, waitpointId, target, generation, openedAt } = CLAIMS
  const bound = [executionId, waitpointId, target, generation, openedAt]

  expect(tokens.issue(CLAIMS)).toBe(signedWith(bound))
  expect(tokens.issue({ ...CLAIMS, exp: 9 })).toBe(signedWith([...bound, 9]))
  expect(tokens.issue({ ...CLAIMS, sub: 'ada' })).toBe(signedWith([...bound, null, 'ada']))
  expect(tokens.issue({ ...CLAIMS, names: ['a'] })).toBe(signedWith([...bound, null, null, ['a']]))
  expect(tokens.issue({ ...CLAIMS, nonce: 'n' })).toBe(signedWith([...bound, null, null, null, 'n']))
})

test('a token of the greatest length is issued and accepted, and a longer one is neither', () => {
  const { tokens } = tokensOf(RING)
  const withSub = (length: number): TokenClaims => ({ ...CLAIMS, sub: 'x'.repeat(length) })
  let length = 0
  while (codeOf(() => tokens.issue(withSub(length + 1))) === 'accepted') length += 1
  const longest = tokens.issue(withSub(length))
  const { executionId, waitpointId, target, generation, openedAt } = CLAIMS
  const longer = signedWith([executionId, waitpointId, target, generation, openedAt, null, 'x'.repeat(length + 1)])

  expect([longest.length, longer.length > TOKEN_MAX_LENGTH]).toEqual([TOKEN_MAX_LENGTH, true])
  expect(codeOf(() => tokens.verify(longest))).toBe('accepted')
  expect(codeOf(() => tokens.verify(longer))).toBe('invalid_token')
  expect(() => tokens.issue(withSub(length + 1))).toThrow(
    expect.objectContaining({
      code: 'invalid_input',
      detail: expect.objectContaining({ field: 'token' }) as object,
    }) as Error,
  )
})

test.each([new EngineError('invalid_keys'), Object.assign(new Error('No ring.'), { code: 'signing_keys_stale' })])(
  'an error of the source that is not about stale keys is thrown: %s',
  (error) => {
    const { tokens } = tokensOf({
      ring: () => {
        throw error
      },
    })

    expect(() => tokens.keyId).toThrow(error)
  },
)

describe('a ring that is confirmed', () => {
  /** Tokens whose rings are compared with what a store knows, and the rings that were compared. */
  function compared(source: KeySource, meanwhile: () => void = () => undefined) {
    const rings: KeyRing[] = []
    const store = {
      findFacts: async () => {
        meanwhile()
        return []
      },
      recordFacts: async () => undefined,
    }
    const retired = new RetiredKeys(store)
    const compare = retired.compare.bind(retired)
    retired.compare = async (ring) => {
      rings.push(ring)
      await compare(ring)
    }
    return { rings, tokens: new Tokens(source, virtualRuntime(1_000), silentLog, retired) }
  }

  test('is compared once, and the next one again', async () => {
    const first = KeyRing.begin(0)
    const next = first.rotate(mintKey(1), 500, 1)
    let ring = first
    const { rings, tokens } = compared({ ring: () => ring })

    await tokens.confirm()
    await tokens.confirm()
    ring = next
    await tokens.confirm()

    expect(rings).toEqual([first, next])
  })

  test('verifies and signs, though the source has another ring meanwhile', async () => {
    let ring = RING
    const other = KeyRing.begin(0)
    const { tokens } = compared({ ring: () => ring }, () => (ring = other))

    const signer = await tokens.confirm()

    expect(signer.requireKeyId()).toBe('k1')
    expect(codeOf(() => signer.verify(tokensOf(RING).tokens.issue(CLAIMS)))).toBe('accepted')
    expect(codeOf(() => signer.verify(tokensOf(other).tokens.issue(CLAIMS)))).toBe('invalid_token')
    expect(tokens.requireKeyId()).toBe(other.current.id)
  })

  test('is none without keys, and nothing is compared', async () => {
    const { rings, tokens } = compared(noKeys)

    expect((await tokens.confirm()).keyId).toBeUndefined()
    expect(rings).toEqual([])
  })
})
