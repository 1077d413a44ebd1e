import { expect, test } from 'vitest'
import { silentLog, virtualRuntime } from '../../runtime/index.ts'
import { KeyRing, mintKey, noKeys } from './key-ring.ts'
import type { KeySource } from './key-ring.ts'
import { Secret } from './secret.ts'
import { Tokens } from './token.ts'

const PLAIN = Buffer.from('a secret that is stored')
/** What an earlier process has stored. */
const STORED = 'zMWYvyZGgKyNV33iBEKAjMoatvrpayxwgQpSTHaO02TOpWtn-2MIIKsbanO3nK0Dxk8i'

function tokensOf(source: KeySource): Tokens {
  return new Tokens(source, virtualRuntime(1_000), silentLog)
}

test('what another process has stored is decrypted with the same secret', () => {
  const secret = Secret.parse(Buffer.alloc(32, 1).toString('base64url'))

  expect(secret?.unseal(STORED, 'webhook')).toEqual(PLAIN)
})

test('bytes of any length are encrypted, also none', () => {
  const secret = Secret.mint()

  for (const length of [0, 1, 15, 16, 17, 1_000]) {
    expect(secret.unseal(secret.seal(Buffer.alloc(length, 7), 'c'), 'c')).toEqual(Buffer.alloc(length, 7))
  }
})

test('a part of what was encrypted is not decrypted, and nothing is not either', () => {
  const secret = Secret.mint()
  const sealed = secret.seal(PLAIN, 'c')

  for (let length = 0; length < sealed.length; length++) {
    expect(secret.unseal(sealed.slice(0, length), 'c')).toBeUndefined()
  }
})

test('the current key encrypts, and every key of the ring decrypts what it encrypted', () => {
  let ring = KeyRing.begin(0)
  const tokens = tokensOf({ ring: () => ring })
  const first = tokens.seal(PLAIN, 'c')
  ring = ring.rotate(mintKey(500), 500, 500)
  const second = tokens.seal(PLAIN, 'c')

  expect([first.keyId, second.keyId]).toEqual(ring.keys.map(({ id }) => id))
  expect([tokens.unseal(first, 'c'), tokens.unseal(second, 'c')]).toEqual([PLAIN, PLAIN])
})

test('without the key, or in another context, the stored secret is refused', () => {
  const ring = KeyRing.begin(0)
  const tokens = tokensOf(ring)
  const stored = tokens.seal(PLAIN, 'c')
  const refusal = expect.objectContaining({
    code: 'invalid_keys',
    detail: { field: 'keys', message: expect.stringContaining(stored.keyId) as string },
  }) as Error

  expect(() => tokens.unseal(stored, 'd')).toThrow(refusal)
  expect(() => tokensOf(KeyRing.begin(0)).unseal(stored, 'c')).toThrow(refusal)
  for (const use of [() => tokensOf(noKeys).unseal(stored, 'c'), () => tokensOf(noKeys).seal(PLAIN, 'c')]) {
    expect(use).toThrow(expect.objectContaining({ code: 'signing_keys_missing' }) as Error)
  }
})
