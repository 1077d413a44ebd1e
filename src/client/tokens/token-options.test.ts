import { expect, test } from 'vitest'
import { optionalClaims } from './token-options.ts'
import type { TokenOptions } from '../define/context.ts'

test('options become claims', () => {
  expect(optionalClaims({}, 1_000)).toEqual({})
  expect(optionalClaims({ for: 'ada', expires: '2s', names: ['approve'] }, 1_000)).toEqual({
    exp: 3_000,
    sub: 'ada',
    names: ['approve'],
  })
})

test('a token may have as many as 16 names', () => {
  const names = Array.from({ length: 16 }, (_, i) => `name ${i}`)

  expect(optionalClaims({ names }, 0).names).toEqual(names)
})

test.each<[string, unknown]>([
  ['for', { for: '' }],
  ['for', { for: 'a'.repeat(257) }],
  ['for', { for: 'a\u001fb' }],
  ['for', { for: 7 }],
  ['expires', { expires: 0 }],
  ['expires', { expires: 'soon' }],
  ['names', { names: [] }],
  ['names', { names: 'approve' }],
  ['names', { names: Array.from({ length: 17 }, (_, i) => `name ${i}`) }],
  ['names[1]', { names: ['approve', ''] }],
  ['options', { by: 'ada' }],
])('a wrong %s is refused and named', (field, options) => {
  expect(() => optionalClaims(options as TokenOptions, 0)).toThrow(
    expect.objectContaining({ code: 'invalid_input', detail: expect.objectContaining({ field }) as object }) as Error,
  )
})
