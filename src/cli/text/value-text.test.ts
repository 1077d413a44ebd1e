import { expect, test } from 'vitest'
import { valueForJson, valueText } from './value-text.ts'

test('bytes are shown in base64, everything else as it is', () => {
  expect(valueForJson(new Uint8Array([1, 2, 3]))).toEqual({ base64: 'AQID' })
  expect(valueForJson({ a: 1 })).toEqual({ a: 1 })
  expect(valueText({ a: 1 })).toBe('{\n  "a": 1\n}')
})
