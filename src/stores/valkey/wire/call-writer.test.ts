import fc from 'fast-check'
import { expect, test } from 'vitest'
import { CallWriter, NO_HEAD } from './call-writer.ts'

/** The arguments in the bytes of a command. */
function argumentsIn(bytes: Buffer): string[] {
  const found: string[] = []
  let at = bytes.indexOf('\r\n') + 2
  while (at < bytes.length) {
    const headEnd = bytes.indexOf('\r\n', at)
    const length = Number(bytes.toString('latin1', at + 1, headEnd))
    found.push(bytes.toString('utf8', headEnd + 2, headEnd + 2 + length))
    expect(bytes.toString('latin1', headEnd + 2 + length, headEnd + 4 + length)).toBe('\r\n')
    at = headEnd + 4 + length
  }
  expect(bytes.toString('latin1', 0, bytes.indexOf('\r\n'))).toBe(`*${found.length}`)
  return found
}

test('a call holds its name, its keys and every argument, whatever the texts are', () => {
  const writer = new CallWriter()
  const texts = ['', 'a', 'ü', '🙂'.repeat(10), 'x'.repeat(100), 'é'.repeat(5_000), 'x'.repeat(99_999)]

  writer.begin('load', ['{p}:', '{p}:0:'])
  for (const text of texts) writer.argument(text)
  for (const text of texts) writer.name(Buffer.from('ö:'), text, 1)
  writer.argument(12.5)
  writer.latin1Argument('abc')
  writer.bytesArgument(Buffer.from('ß'))

  const joined = texts.map((text) => `ö:${text}`)
  const { name, keys, bytes } = writer.finish()
  expect([name, keys]).toEqual(['load', ['{p}:', '{p}:0:']])
  expect(argumentsIn(bytes)).toEqual(['FCALL', 'load', '2', '{p}:', '{p}:0:', ...texts, ...joined, '12.5', 'abc', 'ß'])
})

test('a call keeps the read that was written ahead of it, also when its buffer grows', () => {
  const writer = new CallWriter()
  const names = ['', 'a', 'é'.repeat(2_000)]

  writer.beginRead()
  for (const name of names) writer.name(Buffer.from('b:'), name, 0)
  writer.endRead('{p}:')
  writer.begin('commit', ['{p}:'])
  writer.argument('x'.repeat(99_999))

  const { bytes, read } = writer.finish()
  expect(argumentsIn(bytes)).toEqual(['FCALL', 'commit', '1', '{p}:', 'x'.repeat(99_999)])
  expect(read?.key).toBe('{p}:')
  expect(argumentsIn(read?.bytes ?? Buffer.alloc(0))).toEqual(['MGET', ...names.map((name) => `b:${name}`)])
  writer.begin('load', [])
  expect(writer.finish().read).toBeUndefined()
})

test.each([0, 1, 9, 10, 99, 100, 999, 1_000, 10_000, 2_000_000])(
  'an argument of %i bytes that is written piece by piece has its length in front',
  (length) => {
    const writer = new CallWriter()
    const text = 'y'.repeat(length)

    writer.begin('commit', [])
    const value = writer.open()
    writer.bytes(text)
    expect(writer.close(value)).toBe(length)
    writer.argument('behind')

    expect(argumentsIn(writer.finish().bytes).slice(3)).toEqual([text, 'behind'])
  },
)

test('numbers are written as JavaScript prints them', () => {
  const edges = [0, -0, 1e8 - 1, 1e8, 2 ** 31, 2 ** 53 - 1, 2 ** 53, 1e21, -1, 0.5, Infinity, -Infinity, NaN]
  const numbers = fc.oneof(fc.maxSafeNat(), fc.maxSafeInteger(), fc.double(), fc.nat(1_000), fc.constantFrom(...edges))
  fc.assert(
    fc.property(fc.array(numbers), (values) => {
      const writer = new CallWriter()
      writer.begin('commit', [])
      for (const value of values) writer.argument(value)

      expect(argumentsIn(writer.finish().bytes).slice(3)).toEqual(values.map(String))
    }),
    { numRuns: 300 },
  )
})

test('reserved bytes are filled in later', () => {
  const writer = new CallWriter()

  writer.begin('commit', [])
  const at = writer.reserve(8)
  writer.argument('x'.repeat(10_000))
  writer.fill16(at, 0x6261)
  writer.fill32(at + 2, 0x66656463)
  writer.fillLatin1(at + 6, 'gh')

  expect(argumentsIn(writer.finish().bytes)[3]).toBe('abcdefgh')
})

test('a member that a call has already is written again in the same way, also by a later call', () => {
  const id = '3-0190a7a0-1111-7222-8333-444455556666'
  const members = [
    id,
    '3-0190a7a0-1111-7222-8333-444455557666',
    'plain',
    'ü'.repeat(200),
    id,
    'plain',
    '',
    'ü'.repeat(200),
    id,
  ]
  const once = new CallWriter()
  once.begin('commit', [])
  for (const member of members) once.name(NO_HEAD, member, 1)
  const expected = once.finish().bytes

  const writer = new CallWriter()
  for (let call = 0; call < 3; call++) {
    writer.begin('commit', [])
    for (const member of members) writer.member(member, 1)
    expect(writer.finish().bytes.equals(expected)).toBe(true)
  }
  writer.begin('commit', [])
  writer.member(id, 1)
  writer.member(id, 0)
  expect(argumentsIn(writer.finish().bytes).slice(3)[1]).toBe(id)
})
