import { Readable } from 'node:stream'
import { expect, test } from 'vitest'
import { readToken } from './token-argument.ts'

function stdin(...chunks: string[]): Readable {
  return Readable.from(chunks.map((chunk) => Buffer.from(chunk)))
}

test('a token without a value is taken from the environment, or else from standard input', async () => {
  expect(await readToken(true, { FLOWFABRIC_TOKEN: 'v1.a' }, stdin('v1.b'))).toBe('v1.a')
  expect(await readToken(true, { FLOWFABRIC_TOKEN: '' }, stdin('v1.', 'b\n'))).toBe('v1.b')
  expect(await readToken(true, {}, stdin('v1.b\n'))).toBe('v1.b')
})

test('a dash reads standard input, and a token is used as given', async () => {
  expect(await readToken('-', { FLOWFABRIC_TOKEN: 'v1.a' }, stdin('v1.b'))).toBe('v1.b')
  expect(await readToken('v1.c', { FLOWFABRIC_TOKEN: 'v1.a' }, stdin('v1.b'))).toBe('v1.c')
})

test('without a token, the error names where to pass one', async () => {
  await expect(readToken(true, {}, stdin('\n'))).rejects.toThrow(
    'set FLOWFABRIC_TOKEN, or send the token to standard input',
  )
})

test('standard input is read no further than a token can be long', async () => {
  const endless = Readable.from(
    (function* () {
      for (;;) yield Buffer.alloc(1_024, 'x')
    })(),
  )

  expect((await readToken('-', {}, endless)).length).toBeLessThan(8_192)
})
