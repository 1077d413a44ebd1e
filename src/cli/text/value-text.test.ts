import { expect, test } from 'vitest'
import { valueForJson, valueText } from './value-text.ts'

test('bytes are shown in base64, everything else as it is', () => {
  expect(valueForJson(new Uint8Array([1, 2, 3]))).toEqual({ base64: 'AQID' })
  expect(valueForJson({ a: 1 })).toEqual({ a: 1 })
  expect(valueText({ a: 1 })).toBe('{\n  "a": 1\n}')
})

test('what is nested without end is shown to a depth, and breaks nothing', () => {
  let deep: unknown = 'core'
  for (let i = 0; i < 100_000; i++) deep = i % 2 === 0 ? [deep] : { deep }

  expect(valueText(deep)).toMatch(/"\[…\]"|"\{…\}"/)
  expect(valueText(deep).length).toBeLessThan(2_000)
  expect(JSON.stringify(valueForJson(deep)).length).toBeLessThan(10_000)
  expect(valueForJson([[['kept']]])).toEqual([[['kept']]])
})
