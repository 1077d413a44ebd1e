import fc from 'fast-check'
import { expect, test } from 'vitest'
import { compareKeyed } from '../../kernel/index.ts'
import type { IndexEntry, Range } from '../../kernel/index.ts'
import { inRange } from '../working-set/overlay/index-overlay.ts'
import { SortedIndex } from './sorted-index.ts'

const INDEX = 'index'
/** More than two pieces hold. */
const ENTRIES_MAX = 1_000

const changes = fc.array(
  fc.record({ id: fc.integer({ min: 0, max: ENTRIES_MAX }).map(String), score: fc.integer({ min: 0, max: 20 }) }),
  { maxLength: 3 * ENTRIES_MAX, size: 'max' },
)
const ranges = fc.record({
  from: fc.option(
    fc.record({
      score: fc.integer({ min: 0, max: 20 }),
      id: fc.option(fc.integer({ min: 0, max: ENTRIES_MAX }).map(String), { nil: undefined }),
    }),
    { nil: undefined },
  ),
  to: fc.option(fc.integer({ min: 0, max: 20 }), { nil: undefined }),
  reverse: fc.boolean(),
  limit: fc.integer({ min: 0, max: ENTRIES_MAX }),
})

/** What a range holds, found without any order. */
function expected(entries: ReadonlyMap<string, number>, range: Range): IndexEntry[] {
  return [...entries]
    .map(([id, score]) => ({ index: INDEX, score, id }))
    .filter(({ score, id }) => inRange(range, score, id))
    .sort((a, b) => (range.reverse === true ? compareKeyed(b, a) : compareKeyed(a, b)))
    .slice(0, range.limit)
}

test('ranges of an index hold what was added and not removed, in order', () => {
  fc.assert(
    fc.property(changes, fc.array(ranges, { minLength: 1, maxLength: 10 }), (all, asked) => {
      const index = new SortedIndex()
      const entries = new Map<string, number>()
      for (const { id, score } of all) {
        const old = entries.get(id)
        if (old !== undefined) index.remove(old, id)
        // A second change under the same score removes the entry.
        if (old === score) {
          entries.delete(id)
          continue
        }
        entries.set(id, score)
        index.add({ index: INDEX, score, id })
      }

      expect(index.isEmpty).toBe(entries.size === 0)
      for (let id = 0; id <= ENTRIES_MAX; id += 97) expect(index.scoreOf(String(id))).toBe(entries.get(String(id)))
      for (const one of asked) {
        const range: Range = { index: INDEX, ...one }
        expect(index.range(range)).toEqual(expected(entries, range))
      }
    }),
    { numRuns: 50 },
  )
})
