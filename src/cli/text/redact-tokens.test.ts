import { expect, test } from 'vitest'
import { KeyRing } from '../../client/index.ts'
import { Tokens } from '../../client/tokens/token.ts'
import { silentLog, virtualRuntime } from '../../runtime/index.ts'
import { redactTokens } from './redact-tokens.ts'

const claims = { executionId: '0-a', waitpointId: '0-a review', target: 'review', generation: 1, openedAt: 1 }
const token = new Tokens(KeyRing.begin(0), virtualRuntime(), silentLog).issue(claims)

test.each([
  (text: string) => `error: unknown option '--tokn=${text}'`,
  (text: string) => `id is "${text.slice(0, 60)}…", but must be something else`,
  (text: string) => `too many arguments: ${text} ${text}`,
  (text: string) => `https://shop.example/decide#${text}`,
  (text: string) => JSON.stringify({ error: { message: text } }),
])('a token is removed from whatever quotes it', (quote) => {
  const shown = redactTokens(quote(token))

  expect(shown).toContain('<token>')
  for (const part of token.split('.').slice(2)) expect(shown).not.toContain(part.slice(0, 12))
})

test('other texts stay as they are', () => {
  for (const text of [
    'flowfabric v0.1.0 on Node v24.1.0',
    'v1.2',
    '0-2a2efe54-b63c-8127-9d03-f4f2b3cc2f50',
    'a.b.c.d',
  ]) {
    expect(redactTokens(text)).toBe(text)
  }
})
