import { expect, test } from 'vitest'
import { uuidGenerator } from './runtime.ts'

const FORM = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/
const NOW = 0x0190_a7a0_1234

test('ids are version 7 UUIDs with their time in front', () => {
  const ids = [NOW, NOW + 1, 2 ** 48 - 1].map((now) => uuidGenerator(() => now)())

  for (const id of ids) expect(id).toMatch(FORM)
  expect(ids.map((id) => id.slice(0, 13))).toEqual(['0190a7a0-1234', '0190a7a0-1235', 'ffffffff-ffff'])
})

test('ids of one generator differ and sort in their order, also when the clock stands still or goes back', () => {
  let now = NOW
  const uuid = uuidGenerator(() => now)
  const ids: string[] = []
  for (let i = 0; i < 20_000; i++) {
    if (i % 1_000 === 0) now += i % 3_000 === 0 ? -5 : 7
    ids.push(uuid())
  }

  expect(ids.every((id) => FORM.test(id))).toBe(true)
  expect([...ids].sort()).toEqual(ids)
  expect(new Set(ids.map((id) => id.slice(19))).size).toBe(ids.length)
})
