import { expect, test } from 'vitest'
import { drawByWeight } from './lane-order.ts'

const items = (name: string, count: number) => Array.from({ length: count }, (_, i) => `${name}${i}`)

function drawnFrom(name: string, drawn: readonly string[]): number {
  return drawn.filter((item) => item.startsWith(name)).length
}

test('over many claims a lane gets the share of its weight', () => {
  const lanes = [
    { weight: 3, items: items('a', 8) },
    { weight: 1, items: items('b', 8) },
  ]
  const drawn = Array.from({ length: 4_000 }, (_, i) => drawByWeight(lanes, 1, 7_919 * (i + 1))[0] ?? '')

  expect(drawnFrom('a', drawn) / drawn.length).toBeCloseTo(0.75, 1)
})

test('a lane without work leaves its share to the others, and each keeps its order', () => {
  const drawn = drawByWeight(
    [
      { weight: 100, items: items('a', 1) },
      { weight: 1, items: items('b', 3) },
    ],
    10,
    1,
  )

  expect([...drawn].sort()).toEqual(['a0', 'b0', 'b1', 'b2'])
  expect(drawn.filter((item) => item.startsWith('b'))).toEqual(['b0', 'b1', 'b2'])
})

test('within a claim, every item is drawn anew', () => {
  const lanes = ['a', 'b'].map((name) => ({ weight: 1, items: items(name, 50) }))

  const drawn = drawnFrom('a', drawByWeight(lanes, 50, 5))

  expect(drawn).toBeGreaterThan(10)
  expect(drawn).toBeLessThan(40)
})

test('no more is drawn than was asked for', () => {
  expect(drawByWeight([{ weight: 1, items: items('a', 5) }], 2, 1)).toEqual(['a0', 'a1'])
  expect(drawByWeight([], 2, 1)).toEqual([])
})
