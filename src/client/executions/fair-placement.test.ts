import { expect, test } from 'vitest'
import { virtualRuntime } from '../../runtime/index.ts'
import { FairPlacement } from './fair-placement.ts'

function placed(key: string, lane = 'default') {
  return { lane, class: 'brief', priority: 0, fairness: { key, weight: 1 } }
}

test('executions of a key go to the partitions one after the other, whatever is submitted between them', () => {
  const placement = new FairPlacement(8, virtualRuntime())
  const numbers: number[] = []
  for (let i = 0; i < 16; i++) {
    numbers.push(placement.nextNumber(placed('acme')))
    for (let other = 0; other <= i; other++) placement.nextNumber(placed('globex'))
  }

  expect(new Set(numbers.slice(0, 8)).size).toBe(8)
  expect(numbers.slice(8)).toEqual(numbers.slice(0, 8))
})

test('queues are placed each by itself', () => {
  const placement = new FairPlacement(8, virtualRuntime())
  const [first, second] = ['mail', 'print'].map(
    (lane) => new Set(Array.from({ length: 8 }, () => placement.nextNumber(placed('acme', lane)))),
  )

  expect([first!.size, second!.size]).toEqual([8, 8])
})

test('keys do not all begin with the same partition', () => {
  const placement = new FairPlacement(8, virtualRuntime())
  const starts = Array.from({ length: 100 }, (_, key) => placement.nextNumber(placed(`tenant-${key}`)))

  expect(new Set(starts).size).toBeGreaterThan(4)
})

test('more keys than are remembered are placed too', () => {
  const placement = new FairPlacement(4, virtualRuntime())

  for (let key = 0; key < 25_000; key++) expect(placement.nextNumber(placed(`tenant-${key}`))).toBeLessThan(4)
})

test('a store with one partition has no choice', () => {
  expect(new FairPlacement(1, virtualRuntime()).nextNumber(placed('acme'))).toBe(0)
})
