import { inspect } from 'node:util'
import { expect, test } from 'vitest'
import { Secret } from './secret.ts'

const TEXT = Buffer.alloc(32, 7).toString('base64url')

test('a secret is never seen, however it is printed', () => {
  const secret = Secret.parse(TEXT)!

  const printed = [
    String(secret),
    JSON.stringify({ secret }),
    inspect(secret, { showHidden: true, depth: null }),
    inspect({ secret }),
    inspect(structuredClone({ secret })),
    Object.keys(secret).join(),
  ]
  for (const text of printed) expect(text).not.toContain(TEXT.slice(0, 8))
  expect(printed[0]).toBe('<REDACTED>')
})

test('only base64url of 32 to 1024 bytes is a secret', () => {
  expect(Secret.parse(Buffer.alloc(31).toString('base64url'))).toBeUndefined()
  expect(Secret.parse(Buffer.alloc(1_025).toString('base64url'))).toBeUndefined()
  expect(Secret.parse(`${TEXT}=`)).toBeUndefined()
  expect(Secret.parse('')).toBeUndefined()
  for (const text of [TEXT, Buffer.alloc(1_024).toString('base64url')]) expect(Secret.parse(text)?.reveal()).toBe(text)
})

test('a minted secret is another one each time', () => {
  const minted = Array.from({ length: 50 }, () => Secret.mint())

  expect(new Set(minted.map((secret) => secret.fingerprint)).size).toBe(50)
  expect(Secret.parse(minted[0]!.reveal())?.fingerprint).toBe(minted[0]!.fingerprint)
  expect(minted[0]!.fingerprint).toMatch(/^[0-9a-f]{16}$/)
})
