import { describe, expect, expectTypeOf, test } from 'vitest'
import { EngineError } from '../kernel/engine-error.ts'
import { boolean, oneOf, required, shape, unchecked, wholeNumber } from './shape.ts'

interface Inner {
  readonly attempts: number
}

interface Options {
  readonly id: string
  readonly delay?: number
  readonly force?: boolean
  readonly retry?: Inner
}

const inner = shape<Inner>()('{ attempts: 3 }', { attempts: required(wholeNumber(1, 9)) })
const options = shape<Options>()("{ id: 'a' }", {
  id: required((value, field) => (typeof value === 'string' ? value : fail(field))),
  delay: (value) => Number(value) * 1_000,
  force: boolean,
  retry: inner,
})

function fail(field: string): never {
  throw new Error(`${field} is wrong`)
}

describe('a shape', () => {
  test('returns the parsed values, and leaves out what is left out', () => {
    expect(options({ id: 'a', delay: 2, retry: { attempts: 3 } })).toEqual({
      id: 'a',
      delay: 2_000,
      retry: { attempts: 3 },
    })
    expect(options({ id: 'a', force: undefined })).toEqual({ id: 'a' })
    expectTypeOf(options({ id: 'a' }).id).toEqualTypeOf<string>()
    expectTypeOf(options({ id: 'a' }).delay).toEqualTypeOf<number | undefined>()
  })

  test('names the field of a wrong value, also of a nested one', () => {
    expect(() => options({})).toThrow('id is wrong')
    expect(() => options({ id: 'a', force: 1 })).toThrow('force is 1, but must be true or false.')
    expect(() => options({ id: 'a', retry: { attempts: 10 } })).toThrow('retry.attempts is 10')
    expect(() => options({ id: 'a', retry: {} })).toThrow('retry.attempts is undefined')
  })

  test.each([null, 'text', 7, undefined, ['id']])('refuses %j instead of an object', (value) => {
    expect(() => options(value)).toThrow("must be an object such as { id: 'a' }.")
  })

  test('refuses an unknown key, and names the nearest', () => {
    expect(() => options({ id: 'a', dealy: 1 })).toThrow(
      'options has the unknown key "dealy"; the known ones are id, delay, force, retry. Did you mean delay?',
    )
    expect(() => options({ id: 'a', retry: { attempt: 1 } })).toThrow('retry has the unknown key "attempt"; ')
    expect(() => options({ id: 'a', Force: undefined })).toThrow('Did you mean force?')
    expect(() => options({ id: 'a', timeout: 1 })).toThrow(/force, retry\.$/)
    expect(() => options({ id: 'a', toString: 1 })).toThrow('unknown key "toString"')
  })

  test('throws the error that it was made with', () => {
    const made = shape<Inner>((field, message) => new EngineError('invalid_configuration', { field, message }))
    expect(() => made('{ attempts: 3 }', { attempts: unchecked() })({ retries: 1 })).toThrow(
      expect.objectContaining({ code: 'invalid_configuration' }),
    )
  })

  test('that lacks a check, or has one for no option, does not compile', () => {
    // @ts-expect-error -- attempts is missing
    shape<Inner>()('{}', {})
    // @ts-expect-error -- retries is unknown
    shape<Inner>()('{}', { attempts: boolean, retries: boolean })
  })
})

test('a word is one of the keys', () => {
  const check = oneOf<'join' | 'reject'>({ join: true, reject: true })
  expect(check('join', 'ifExists')).toBe('join')
  for (const value of ['toString', 7, null])
    expect(() => check(value, 'ifExists')).toThrow("must be 'join' or 'reject'")
})
