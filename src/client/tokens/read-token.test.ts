import { expect, test } from 'vitest'
import { silentLog, virtualRuntime } from '../../runtime/index.ts'
import { EngineError } from '../../kernel/engine-error.ts'
import { KeyRing } from './key-ring.ts'
import { READ_TOKEN_PREFIX, Tokens } from './token.ts'

const SECRET = Buffer.alloc(32, 1).toString('base64url')
const RING = KeyRing.parse({ keys: [{ id: 'k1', secret: SECRET, createdAt: 0 }] })
const CLAIMS = { executionId: '0-1', namespace: 'shop', exp: 1_500 }

function tokensOf() {
  const runtime = virtualRuntime(1_000)
  return { runtime, tokens: new Tokens(RING, runtime, silentLog) }
}

/** A token that is signed with the right key, whatever is claimed. */
function signedWith(claims: unknown, prefix = READ_TOKEN_PREFIX): string {
  const signed = `${prefix}k1.${Buffer.from(JSON.stringify(claims)).toString('base64url')}`
  return `${signed}.${RING.current.secret.mac(signed)}`
}

function refusalOf(text: unknown): unknown {
  try {
    return tokensOf().tokens.verifyRead(text)
  } catch (error) {
    return error instanceof EngineError ? error.code : error
  }
}

test('a token that reads proves what it was issued for', () => {
  const { tokens } = tokensOf()
  const token = tokens.issueRead(CLAIMS)

  expect(token).toBe(signedWith(['0-1', 'shop', 1_500]))
  expect(tokens.verifyRead(token)).toEqual(CLAIMS)
})

test('a token that reads is good through the moment it expires at, and no longer', async () => {
  const { tokens, runtime } = tokensOf()
  const token = tokens.issueRead(CLAIMS)

  await runtime.advance(500)
  expect(tokens.verifyRead(token)).toEqual(CLAIMS)
  await runtime.advance(1)
  expect(() => tokens.verifyRead(token)).toThrow(expect.objectContaining({ code: 'token_expired' }) as Error)
})

test('a token that reads sends nothing, and one that sends reads nothing', () => {
  const { tokens } = tokensOf()
  const sends = tokens.issue({ executionId: '0-1', waitpointId: 'w', target: 't', generation: 1, openedAt: 1 })

  expect(refusalOf(sends)).toBe('invalid_token')
  expect(() => tokens.verify(tokens.issueRead(CLAIMS))).toThrow(EngineError)
  expect(refusalOf(signedWith(['0-1', 'shop', 1_500], 'v1.'))).toBe('invalid_token')
})

test.each<[unknown]>([
  [{}],
  [{ executionId: '0-1', namespace: 'shop', exp: 1_500 }],
  [null],
  [[]],
  [['0-1', 'shop']],
  [['0-1', 'shop', null]],
  [['0-1', 'shop', '1500']],
  [['0-1', 'shop', 1_500.5]],
  [['0-1', 7, 1_500]],
  [[7, 'shop', 1_500]],
])('claims %j do not read, even with the right MAC', (claims) => {
  expect(refusalOf(signedWith(claims))).toBe('invalid_token')
})
