import { expect, test } from 'vitest'
import { bigintArray, flagArray, integerArray, textArray } from './arrays.ts'
import { MessageWriter } from './message-writer.ts'
import type { Parameter } from './message-writer.ts'

interface Sent {
  readonly format: 'text' | 'binary'
  readonly bytes: Buffer | undefined
}

/** The parameters of a statement without a name as they are in the message. */
function sent(values: readonly Parameter[]): Sent[] {
  const writer = new MessageWriter()
  writer.bind('', values)
  const bytes = writer.written()
  expect(bytes.toString('latin1', 0, 1)).toBe('B')
  expect(bytes.readInt32BE(1)).toBe(bytes.length - 1)
  expect(bytes.readInt16BE(7)).toBe(values.length)
  let at = 9 + 2 * values.length + 2
  return values.map((_, i) => {
    const size = bytes.readInt32BE(at)
    at += 4 + Math.max(0, size)
    return {
      format: bytes.readInt16BE(9 + 2 * i) === 0 ? 'text' : 'binary',
      bytes: size === -1 ? undefined : bytes.subarray(at - size, at),
    }
  })
}

/** The elements of an array, after what stands before them. */
function elementsOf(value: Parameter): { readonly type: number; readonly elements: (Buffer | undefined)[] } {
  const [array] = sent([value])
  const bytes = array?.bytes ?? Buffer.alloc(0)
  expect(array?.format).toBe('binary')
  const count = bytes.readInt32BE(0) === 0 ? 0 : bytes.readInt32BE(12)
  const elements: (Buffer | undefined)[] = []
  let at = count === 0 ? 12 : 20
  for (let i = 0; i < count; i++) {
    const size = bytes.readInt32BE(at)
    at += 4 + Math.max(0, size)
    elements.push(size === -1 ? undefined : bytes.subarray(at - size, at))
  }
  expect(at).toBe(bytes.length)
  return { type: bytes.readInt32BE(8), elements }
}

function textsIn(values: readonly (string | undefined)[]): (string | undefined)[] {
  const { type, elements } = elementsOf(textArray(values))
  expect(type).toBe(25)
  return elements.map((element) => element?.toString())
}

test('texts are sent as they are, and what is absent is null', () => {
  const texts = ['', 'null', 'say "hi"', 'back\\slash', 'grüße', '{}', 'x'.repeat(1_000), 'ü'.repeat(40_000), undefined]

  expect(textsIn(texts)).toEqual(texts)
  expect(textsIn([])).toEqual([])
})

test('a character that the server cannot hold is shown by its sign', () => {
  expect(textsIn(['a\u0000b', `${'x'.repeat(100)}\u0000`])).toEqual(['a\u2400b', `${'x'.repeat(100)}\u2400`])
})

test('numbers have as many bits as the server keeps', () => {
  const integers = [0, -1, 2 ** 31 - 1, -(2 ** 31), undefined]
  const bigints = [0, -1, Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER, 2 ** 62, -(2 ** 62), 2 ** 32, undefined]

  const small = elementsOf(integerArray(integers))
  const large = elementsOf(bigintArray(bigints))

  expect(small.type).toBe(23)
  expect(small.elements.map((element) => element?.readInt32BE())).toEqual(integers)
  expect(large.type).toBe(20)
  expect(large.elements.map((element) => element && Number(element.readBigInt64BE()))).toEqual(bigints)
})

test.each([
  [integerArray([1, 2 ** 31, undefined]), '{1,2147483648,null}'],
  [bigintArray([1.5]), '{1.5}'],
  [bigintArray([Number.NaN, undefined]), '{NaN,null}'],
  [bigintArray([2 ** 63]), '{9223372036854776000}'],
])('a number that is none of its kind is for the server to refuse', (array, text) => {
  expect(sent([array, 'next'])).toEqual([
    { format: 'text', bytes: Buffer.from(text) },
    { format: 'text', bytes: Buffer.from('next') },
  ])
})

test('flags are single bytes', () => {
  const { type, elements } = elementsOf(flagArray([true, false]))

  expect(type).toBe(16)
  expect(elements.map((element) => element?.readInt8())).toEqual([1, 0])
})

test('single values are texts, bytes or nothing', () => {
  expect(sent(['text', 12, null, new Uint8Array([0, 255])])).toEqual([
    { format: 'text', bytes: Buffer.from('text') },
    { format: 'text', bytes: Buffer.from('12') },
    { format: 'text', bytes: undefined },
    { format: 'binary', bytes: Buffer.from([0, 255]) },
  ])
})

test('messages stand one behind the other, and a reset begins anew', () => {
  const writer = new MessageWriter()
  writer.parse('name', 'select 1')
  writer.describe('name')
  writer.bind('name', [])
  writer.execute()
  writer.sync()
  const codes: string[] = []
  const bytes = writer.written()
  for (let at = 0; at < bytes.length; at += 1 + bytes.readInt32BE(at + 1))
    codes.push(bytes.toString('latin1', at, at + 1))
  expect(codes.join('')).toBe('PDBES')

  writer.reset()
  writer.sync()

  expect(writer.written()).toEqual(Buffer.from([0x53, 0, 0, 0, 4]))
})
