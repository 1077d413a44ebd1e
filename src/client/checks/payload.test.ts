import { Readable } from 'node:stream'
import { expect, test } from 'vitest'
import { decodeValue, encodeValue } from './payload.ts'

function roundTrip(value: unknown): unknown {
  const encoded = encodeValue(value, 'input', 1_024)
  return encoded === undefined
    ? undefined
    : decodeValue({ size: encoded.input.size, encoding: encoded.input.encoding }, encoded.bytes)
}

test.each([[null], [0], [''], [false], ['größe 文 🎈'], [[1, [2]]], [{ a: { b: null } }]])(
  '%j comes back as it was',
  (value) => {
    expect(roundTrip(value)).toEqual(value)
  },
)

test('nothing is stored as nothing', () => {
  expect(encodeValue(undefined, 'input', 10)).toBeUndefined()
  expect(decodeValue(undefined, undefined)).toBeUndefined()
})

test('bytes stay bytes, also a part of a larger buffer', () => {
  const part = Uint8Array.of(9, 0, 128, 255, 9).subarray(1, 4)

  expect(encodeValue(part, 'input', 10)?.input).toEqual({ blob: 0, size: 3, encoding: 'bytes' })
  expect([...(roundTrip(part) as Uint8Array)]).toEqual([0, 128, 255])
  expect(decodeValue({ size: 1, encoding: 'json' }, Buffer.from('[7]').subarray(1, 2))).toBe(7)
})

test('the limit counts bytes, and the error names size and limit', () => {
  expect(encodeValue('ü'.repeat(4), 'input', 10)?.input.size).toBe(10)
  expect(() => encodeValue('ü'.repeat(5), 'input', 10)).toThrow(/input has 12 bytes, the limit is 10/)
  expect(() => encodeValue(new Uint8Array(11), 'result', 10)).toThrow(/result has 11 bytes/)
})

test('what cannot be written as JSON is refused by name', () => {
  const circular: Record<string, unknown> = {}
  circular['self'] = circular
  for (const value of [circular, 1n])
    expect(() => encodeValue(value, 'input', 10)).toThrow('input cannot be written as JSON')
  expect(() => encodeValue(() => 1, 'input', 10)).toThrow('input is a function')
  expect(() => encodeValue(Symbol('s'), 'input', 10)).toThrow('input is a symbol')
})

test.each<[string, unknown]>([
  ['a Map', new Map([['a', 1]])],
  ['a Set', new Set([1])],
  ['a weak collection', new WeakMap()],
  ['a Promise', Promise.resolve(1)],
  ['a buffer', new ArrayBuffer(1)],
  ['a buffer', Float64Array.of(1)],
  ['a RegExp', /a/],
  ['a stream', new ReadableStream()],
  ['a stream', Readable.from([])],
  ['a stream', { pipe: () => undefined }],
  ['NaN', Number.NaN],
  ['-Infinity', Number.NEGATIVE_INFINITY],
])('%s is refused instead of being stored as something else', (what, value) => {
  expect(() => encodeValue(value, 'input', 1_024)).toThrow(`The input is not valid. input is ${what}, which JSON`)
  expect(() => encodeValue(value, 'result', 1_024)).toThrow(
    expect.objectContaining({
      code: 'invalid_output',
      detail: expect.objectContaining({ field: 'result' }) as unknown,
    }),
  )
})

test('what a value holds is stored as its JSON', () => {
  const value = { at: new Date(0), ratio: Number.NaN, pipe: 'north', left: undefined }

  expect(roundTrip(value)).toEqual({ at: '1970-01-01T00:00:00.000Z', ratio: null, pipe: 'north' })
  expect(roundTrip(Object.assign(new Map(), { toJSON: () => ['own'] }))).toEqual(['own'])
})
