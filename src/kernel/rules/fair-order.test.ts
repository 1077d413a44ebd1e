import { expect, test } from 'vitest'
import { unpackRecord } from '../model/schema.ts'
import type { Execution } from '../model/records.ts'
import { takeAlternately } from './fair-order.ts'

function named(id: string, priority = 0): Execution {
  return { ...unpackRecord('execution', []), id: id as Execution['id'], priority }
}

function order(aged: Execution[], fair: Execution[], seed: number): string {
  return takeAlternately([fair, aged], 10, seed)
    .map(({ id }) => id)
    .join(' ')
}

test('executions with and without turns alternate, and the seed decides which begin', () => {
  const aged = [named('a1'), named('a2'), named('a3')]
  const fair = [named('f1'), named('f2')]

  expect(order(aged, fair, 0)).toBe('f1 a1 f2 a2 a3')
  expect(order(aged, fair, 1)).toBe('a1 f1 a2 f2 a3')
})

test('the higher priority comes first, whichever it is', () => {
  expect(order([named('a1', 1), named('a2')], [named('f1', 2), named('f2')], 1)).toBe('f1 a1 f2 a2')
  expect(order([named('a1', 3)], [named('f1', 2)], 0)).toBe('a1 f1')
})

test('either kind alone keeps its order', () => {
  expect(order([named('a1'), named('a2')], [], 0)).toBe('a1 a2')
  expect(order([], [named('f1'), named('f2')], 1)).toBe('f1 f2')
})

test('no more are taken than were asked for, and three lists alternate too', () => {
  const lists = ['a', 'b', 'c'].map((name) => [named(`${name}1`), named(`${name}2`)])

  expect(takeAlternately(lists, 4, 1).map(({ id }) => id)).toEqual(['b1', 'c1', 'a1', 'b2'])
  expect(takeAlternately([], 4, 1)).toEqual([])
})
