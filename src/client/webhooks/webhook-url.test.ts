import { expect, test } from 'vitest'
import { KeyRing, mintKey } from '../tokens/key-ring.ts'
import { Secret } from '../tokens/secret.ts'
import { checkTarget, isPublicAddress } from './webhook-url.ts'

test.each([
  ['8.8.8.8', true],
  ['2606:4700::1111', true],
  ['127.0.0.1', false],
  ['10.1.2.3', false],
  ['100.64.0.1', false],
  ['169.254.169.254', false],
  ['172.31.255.255', false],
  ['192.168.0.1', false],
  ['0.0.0.0', false],
  ['224.0.0.1', false],
  ['::1', false],
  ['fe80::1', false],
  ['fd00::1', false],
  ['::ffff:127.0.0.1', false],
  ['64:ff9b::7f00:1', false],
  ['2002:7f00:1::', false],
  ['localhost', false],
])('the address %s is public: %s', (address, isPublic) => {
  expect(isPublicAddress(address)).toBe(isPublic)
})

test.each(['https://example.com:8443/hooks?a=1', 'https://8.8.8.8/'])('%s is a target', (url) => {
  expect(checkTarget(url, false)).toBe(url)
})

test.each([
  'http://example.com/',
  'https://user@example.com/',
  'https://127.1/',
  'https://0x7f000001/',
  'https://2130706433/',
  'https://[::ffff:10.0.0.1]/',
  'https://db.internal/',
  'https://LOCALHOST./',
  'ftp://example.com/',
  'no url',
  5,
])('%s is no target', (url) => {
  expect(() => checkTarget(url, false)).toThrow(expect.objectContaining({ code: 'unsafe_target' }) as Error)
})

test('a private target is accepted where it is allowed, credentials are not', () => {
  expect(checkTarget('http://127.0.0.1:9/x', true)).toBe('http://127.0.0.1:9/x')
  expect(() => checkTarget('http://a:b@127.0.0.1/', true)).toThrow('URL')
})

test('a sealed secret opens only with its key, in its context and unchanged', () => {
  const { secret } = KeyRing.begin(0).rotate(mintKey(1), 1_000, 1).current
  const plain = Buffer.from('a secret of a webhook')
  const sealed = secret.seal(plain, 'one')
  expect(secret.unseal(sealed, 'one')).toEqual(plain)
  expect(secret.seal(plain, 'one')).not.toBe(sealed)
  const changed = (sealed.startsWith('A') ? 'B' : 'A') + sealed.slice(1)
  const failures = [secret.unseal(sealed, 'two'), Secret.mint().unseal(sealed, 'one'), secret.unseal(changed, 'one')]
  expect([...failures, secret.unseal('AAAA', 'one')]).toEqual([undefined, undefined, undefined, undefined])
})
