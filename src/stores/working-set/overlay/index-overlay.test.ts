import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { compareKeyed } from '../../../kernel/index.ts'
import type { IndexEntry, Range } from '../../../kernel/index.ts'
import { IndexOverlay, inRange } from './index-overlay.ts'
import type { StoredData } from './stored-data.ts'

const INDEX = 'index'

/** Stored entries that answer in the plainest way, with all that is wanted or with no more than they have to. */
function storedEntries(entries: readonly IndexEntry[], isSparing = false): StoredData & { reads: number } {
  return {
    reads: 0,
    find: () => undefined,
    range(range, least = range.limit) {
      this.reads += 1
      return naiveRange(entries, isSparing ? { ...range, limit: least } : range)
    },
    count: (range) => naiveRange(entries, range).length,
    score: (_, id) => entries.find((entry) => entry.id === id)?.score,
    blob: () => undefined,
  }
}

function naiveRange(entries: readonly IndexEntry[], range: Range): IndexEntry[] {
  const sorted = entries.filter((entry) => inRange(range, entry.score, entry.id)).sort(compareKeyed)
  return (range.reverse === true ? sorted.reverse() : sorted).slice(0, range.limit)
}

const id = fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j', 'k', 'l')
const score = fc.integer({ min: 0, max: 4 })
const position = fc.oneof(fc.record({ score }), fc.record({ score, id }))
const step = fc.oneof(
  fc.record({ kind: fc.constant('set' as const), id, after: fc.option(score, { nil: undefined }) }),
  fc.record({
    kind: fc.constant('look' as const),
    from: fc.option(position, { nil: undefined }),
    to: fc.option(score, { nil: undefined }),
    reverse: fc.boolean(),
    limit: fc.integer({ min: 1, max: 6 }),
  }),
  fc.record({ kind: fc.constant('undo' as const) }),
)

describe('an index with changes in front of it', () => {
  test.each([false, true])('reads at every moment like an index in which they were made', (isSparing) => {
    const stored = fc.uniqueArray(fc.record({ index: fc.constant(INDEX), score, id }), {
      selector: (entry) => entry.id,
    })
    fc.assert(
      fc.property(stored, fc.array(step, { maxLength: 30 }), (entries, steps) => {
        const overlay = new IndexOverlay(storedEntries(entries, isSparing), INDEX)
        const model = new Map<string, number>(entries.map((entry) => [entry.id, entry.score]))
        const undo: (() => void)[] = []
        for (const next of steps) {
          if (next.kind === 'set') {
            const before = model.get(next.id)
            const change = overlay.set(next.id, before, next.after, 0)
            undo.push(() => {
              overlay.undo(change)
              setIn(model, next.id, before)
            })
            setIn(model, next.id, next.after)
          } else if (next.kind === 'undo') {
            undo.pop()?.()
          } else {
            const range: Range = {
              index: INDEX,
              from: next.from,
              to: next.to,
              reverse: next.reverse,
              limit: next.limit,
            }
            const expected = naiveRange(
              [...model].map(([id, score]) => ({ index: INDEX, score, id })),
              range,
            )
            expect(overlay.range(range)).toEqual(expected)
            expect(overlay.count(range)).toBe(expected.length)
          }
          for (const known of ['a', 'b', 'c']) expect(overlay.score(known, 0)).toBe(model.get(known))
        }
      }),
      { numRuns: 500 },
    )
  })

  test('is read in few steps by a batch that takes its first entries one by one', () => {
    const entries = Array.from({ length: 200 }, (_, i) => ({ index: INDEX, score: i, id: `entry ${i}` }))
    const stored = storedEntries(entries)
    const overlay = new IndexOverlay(stored, INDEX)

    for (let i = 0; i < 50; i++) {
      const first = overlay.range({ index: INDEX, limit: 2 })[0]!
      expect(first.score).toBe(i)
      overlay.set(first.id, first.score, undefined, 0)
    }

    expect(stored.reads).toBeLessThan(10)
  })
})

function setIn(model: Map<string, number>, id: string, score: number | undefined): void {
  if (score === undefined) model.delete(id)
  else model.set(id, score)
}
