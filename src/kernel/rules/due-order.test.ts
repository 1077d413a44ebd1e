import { expect, test } from 'vitest'
import { inDueOrder } from './due-order.ts'

test('reports of one run stay as they are', () => {
  const reports = [{ dueAt: 3 }, { dueAt: 1 }]

  expect(inDueOrder(reports, undefined)).toBe(reports)
})

test('reports of several runs are merged, earliest first, and those without a time before all', () => {
  const applied = [{ dueAt: 3 }, { dueAt: undefined, name: 'a' }, { dueAt: 5 }]
  const merged = inDueOrder([{ dueAt: 1 }, { dueAt: 4 }, { dueAt: undefined, name: 'b' }], applied)

  expect(merged.map(({ dueAt }) => dueAt)).toEqual([undefined, undefined, 1, 3, 4, 5])
  expect(merged.slice(0, 2)).toEqual([{ name: 'a' }, { name: 'b' }])
})
