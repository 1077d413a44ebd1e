import { expect, test } from 'vitest'
import { HotRecords } from './hot-records.ts'
import { WorkingSet } from '../load/working-set.ts'

/** A batch that is about to read an execution. */
function reader(id: string): WorkingSet {
  const set = new WorkingSet()
  set.find('execution', id)
  return set
}

function noted(...times: number[]): HotRecords {
  const hot = new HotRecords()
  for (const time of times) hot.note('execution', 'x', time)
  return hot
}

test('one conflict makes no record hot, a second one within a second does', () => {
  expect(noted(0).concerns(reader('x'), 1)).toBe(false)
  expect(noted(0, 999).concerns(reader('x'), 1_000)).toBe(true)
  expect(noted(0, 1_001).concerns(reader('x'), 1_002)).toBe(false)
})

test('a record is hot for a second behind its last conflict', () => {
  const hot = noted(0, 500)

  expect(hot.concerns(reader('x'), 1_499)).toBe(true)
  expect(hot.concerns(reader('x'), 1_500)).toBe(false)
})

test('there are hot records as long as one of them is hot', () => {
  expect(noted(0).hasAny(1)).toBe(false)
  expect(noted(0, 1).hasAny(1_000)).toBe(true)
  expect(noted(0, 1).hasAny(1_001)).toBe(false)
})

test('a batch that does not read it is not concerned', () => {
  const hot = noted(0, 1)

  expect(hot.concerns(reader('y'), 2)).toBe(false)
  const flows = new WorkingSet()
  flows.find('flow', 'x')
  expect(hot.concerns(flows, 2)).toBe(false)
})

test('as many are watched as there is room for, the oldest conflicts are forgotten', () => {
  const hot = noted(0, 1)
  for (let i = 0; i < 1_000; i++) hot.note('execution', `other ${i}`, 2)

  expect(hot.concerns(reader('x'), 3)).toBe(false)
})
