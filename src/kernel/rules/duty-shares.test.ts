import fc from 'fast-check'
import { expect, test } from 'vitest'
import { dividePartitions } from './duty-shares.ts'
import type { EngineShare } from '../model/duties-schema.ts'

const partitions = (count: number) => Array.from({ length: count }, (_, i) => `fp:${i}`)
const engine = (id: string, held: readonly string[] = []): EngineShare => ({ id, expiresAt: 1, partitions: held })
const shareOf = ({ partitions: share }: EngineShare) => share

test('one engine gets all partitions', () => {
  expect(dividePartitions([engine('a')], partitions(3))).toEqual([engine('a', ['fp:0', 'fp:1', 'fp:2'])])
})

test('an engine that joins gets its share, and the others keep the rest of theirs', () => {
  const alone = engine('a', partitions(5))

  expect(dividePartitions([alone, engine('b')], partitions(5)).map(shareOf)).toEqual([
    ['fp:0', 'fp:1', 'fp:2'],
    ['fp:3', 'fp:4'],
  ])
})

test('the engine with the most partitions gets the larger share, so that none moves', () => {
  const held = [engine('a', ['fp:0']), engine('b', ['fp:1', 'fp:2']), engine('c', ['fp:3'])]

  expect(dividePartitions(held, partitions(4))).toEqual(held)
})

test('the share of an engine that has left goes to the others, which keep theirs', () => {
  const left = [engine('a', ['fp:0', 'fp:1']), engine('c', ['fp:4'])]

  expect(dividePartitions(left, partitions(5)).map(shareOf)).toEqual([
    ['fp:0', 'fp:1', 'fp:2'],
    ['fp:4', 'fp:3'],
  ])
})

test('partitions that the store does not have, and those that an earlier engine has, are in no share', () => {
  const odd = [engine('a', ['fp:0', 'fp:9']), engine('b', ['fp:0', 'fp:1'])]

  expect(dividePartitions(odd, partitions(2)).map(shareOf)).toEqual([['fp:0'], ['fp:1']])
})

test('every partition is in one share, shares are fair, and no more partitions move than have to', () => {
  const count = fc.integer({ min: 1, max: 40 })
  const owners = fc.array(fc.nat({ max: 9 }), { minLength: 40, maxLength: 40 })
  fc.assert(
    fc.property(count, fc.integer({ min: 1, max: 10 }), owners, (total, engineCount, ownerOf) => {
      const all = partitions(total)
      const before = Array.from({ length: engineCount }, (_, e) =>
        engine(
          `engine ${e}`,
          all.filter((_one, i) => ownerOf[i] === e),
        ),
      )

      const after = dividePartitions(before, all)

      const sizes = after.map(({ partitions: share }) => share.length)
      expect(after.flatMap(shareOf).sort()).toEqual([...all].sort())
      expect(Math.max(...sizes) - Math.min(...sizes)).toBeLessThanOrEqual(1)
      // An engine keeps all that it held, or holds nothing else.
      for (const [i, { partitions: share }] of after.entries()) {
        const held = before[i]!.partitions
        const kept = share.filter((partition) => held.includes(partition))
        expect(kept.length === held.length || kept.length === share.length).toBe(true)
      }
    }),
  )
})
