/** `Jsonify` states what the encoding of payloads does, so each case is checked by the compiler and by the encoding. */
import { expect, expectTypeOf, test } from 'vitest'
import { z } from 'zod'
import { PAYLOAD_BYTES } from '../../kernel/index.ts'
import { decodeValue, encodeValue } from '../checks/payload.ts'
import { flow } from './flow.ts'
import type { Jsonify } from './jsonify.ts'
import { task } from './task.ts'
import { allOf } from './upstreams.ts'

/** Stores a value and reads it again. */
function stored<T>(value: T): Jsonify<T> {
  const encoded = encodeValue(value, 'value', PAYLOAD_BYTES)
  return decodeValue(encoded?.input, encoded?.bytes) as Jsonify<T>
}

const at = new Date(0)

test('JSON stays as it is', () => {
  interface Plain {
    text: string
    count: number
    yes: boolean
    none: null
    list: number[]
    word: 'b' | 'c'
  }
  const plain: Plain = { text: 'a', count: 1, yes: true, none: null, list: [1, 2], word: 'b' }

  expectTypeOf(stored(plain)).toEqualTypeOf<Plain>()
  expect(stored(plain)).toEqual(plain)
})

test('a date becomes a text, at every depth', () => {
  const value = stored({ at, list: [at], in: { url: new URL('https://a.example/') } })

  expectTypeOf(value).toEqualTypeOf<{ at: string; list: string[]; in: { url: string } }>()
  expectTypeOf(stored(at)).toEqualTypeOf<string>()
  expect(value).toEqual({ at: at.toISOString(), list: [at.toISOString()], in: { url: 'https://a.example/' } })
})

test('a field that may be left out is optional', () => {
  interface Order {
    readonly id: string
    note: string | undefined
    paidAt?: Date
    readonly act: () => void
    maybe: (() => void) | number
    [Symbol.iterator]?: number
  }
  const order: Order = { id: 'a', note: undefined, act: () => undefined, maybe: () => undefined }

  const value = stored(order)

  expectTypeOf(value).toEqualTypeOf<{ readonly id: string; note?: string; paidAt?: string; maybe?: number }>()
  expect(value).toEqual({ id: 'a' })
})

test('an array keeps its length and its form', () => {
  const pair: readonly [Date, number | undefined] = [at, undefined]

  expectTypeOf(stored(pair)).toEqualTypeOf<readonly [string, number | null]>()
  expectTypeOf<Jsonify<[a: string, b?: Date]>>().toExtend<[string, (string | null)?]>()
  expectTypeOf<Jsonify<readonly (Date | (() => void))[]>>().toEqualTypeOf<readonly (string | null)[]>()
  expect(stored(pair)).toEqual([at.toISOString(), null])
})

test('bytes stay bytes as the whole value, and become an object inside another', () => {
  const bytes = new Uint8Array([7])

  expectTypeOf(stored(bytes)).toEqualTypeOf<Uint8Array>()
  expectTypeOf(stored(Buffer.from([7]))).toEqualTypeOf<Uint8Array>()
  expectTypeOf(stored({ bytes })).toEqualTypeOf<{ bytes: Record<string, number> }>()
  expect([stored(bytes), stored({ bytes })]).toEqual([bytes, { bytes: { 0: 7 } }])
  expectTypeOf(stored({ buffer: Buffer.from([7]) })).toEqualTypeOf<{ buffer: { type: 'Buffer'; data: number[] } }>()
  expect(stored({ buffer: Buffer.from([7]) })).toEqual({ buffer: { type: 'Buffer', data: [7] } })
})

test('what cannot be stored is never, and what is lost inside a value is empty', () => {
  expectTypeOf<Jsonify<Map<string, number>>>().toEqualTypeOf<never>()
  expectTypeOf<Jsonify<Set<string>>>().toEqualTypeOf<never>()
  expectTypeOf<Jsonify<() => void>>().toEqualTypeOf<never>()
  expectTypeOf<Jsonify<symbol | bigint>>().toEqualTypeOf<never>()
  expect(() => stored(new Map())).toThrow('Map')

  const value = stored({ map: new Map([['a', 1]]), set: new Set([1]), error: new Error('no') })

  expectTypeOf(value).toEqualTypeOf<{
    map: Record<string, never>
    set: Record<string, never>
    error: Record<string, unknown>
  }>()
  expect(value).toEqual({ map: {}, set: {}, error: {} })
})

test('types that say nothing, brands, records and recursive types are kept', () => {
  type Id = string & { readonly brand: 'id' }
  interface Tree {
    readonly at: Date
    readonly parts: readonly Tree[]
  }

  expectTypeOf<Jsonify<unknown>>().toEqualTypeOf<unknown>()
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- stays any
  expectTypeOf<Jsonify<any>>().toBeAny()
  expectTypeOf<Jsonify<never>>().toEqualTypeOf<never>()
  expectTypeOf<Jsonify<undefined>>().toEqualTypeOf<undefined>()

  expectTypeOf<Jsonify<void>>().toEqualTypeOf<undefined>()
  expectTypeOf<Jsonify<{ id: Id; known: unknown }>>().toEqualTypeOf<{ id: Id; known: unknown }>()
  expectTypeOf<Jsonify<Record<string, Date>>>().toEqualTypeOf<Record<string, string>>()
  expectTypeOf<Jsonify<Date | { at: Date } | undefined>>().toEqualTypeOf<string | { at: string } | undefined>()
  expectTypeOf<Jsonify<Tree>['parts'][number]['at']>().toEqualTypeOf<string>()
})

test('a class is stored as its fields', () => {
  class Order {
    readonly at = at
    total(): number {
      return 1
    }
  }

  expectTypeOf(stored(new Order())).toEqualTypeOf<{ readonly at: string }>()
  expect(stored(new Order())).toEqual({ at: at.toISOString() })
})

test('a task without schemas takes and returns what JSON makes of its types', () => {
  const bill = task<{ due: Date }, { paid: Date }>('bill')
  const send = task<null, string, { bill: { paid: string } }>('send')

  bill.handle((input) => {
    expectTypeOf(input).toEqualTypeOf<{ due: string }>()
    return { paid: at }
  })
  expectTypeOf<NonNullable<typeof bill.types>['output']>().toEqualTypeOf<{ paid: string }>()
  expectTypeOf<NonNullable<typeof bill.types>['input']>().toEqualTypeOf<{ due: Date }>()
  const billing = flow('billing', (f) => {
    const first = f.node('bill', bill, { input: { due: at } })
    return f.node('send', send, { input: null, after: allOf({ bill: first }) })
  })
  expectTypeOf<NonNullable<typeof billing.types>['output']>().toEqualTypeOf<string>()
})

test('a task with schemas returns what they parse from JSON', () => {
  const bill = task('bill', { input: z.object({ due: z.coerce.date<string>() }), output: z.coerce.date<string>() })

  bill.handle((input) => {
    expectTypeOf(input).toEqualTypeOf<{ due: Date }>()
    return '1970-01-01'
  })
  expectTypeOf<NonNullable<typeof bill.types>['output']>().toEqualTypeOf<Date>()
})
