import { expect, test } from 'vitest'
import { DUE_INDEX, readyIndex } from '../../../kernel/index.ts'
import type { Head } from '../load/working-set.ts'
import { ClearIndexes } from './clear-indexes.ts'

const READY = readyIndex('lane', 'class')

/** A head with entries of these scores, which is the whole index. */
function head(...scores: number[]): Head {
  return { entries: scores.map((score) => ({ index: '', id: `id${score}`, score })), isWhole: true }
}

test('nothing is believed of an index that was never seen, and of no other kind of index', () => {
  const clear = new ClearIndexes()
  clear.saw('members', head())

  expect([READY, DUE_INDEX, 'members'].map((index) => clear.isClear(index, 1))).toEqual([false, false, false])
})

test('a ready index is clear while it is empty, the due index until its first entry is due', () => {
  const clear = new ClearIndexes()
  clear.saw(READY, head())
  clear.saw(DUE_INDEX, head(10))

  expect(clear.isClear(READY, 1)).toBe(true)
  expect([9, 10].map((now) => clear.isClear(DUE_INDEX, now))).toEqual([true, false])
  expect(clear.isClear(DUE_INDEX, undefined)).toBe(false)
  clear.saw(READY, head(5))
  expect(clear.isClear(READY, 1)).toBe(false)
})

test('an added entry makes its index not clear, and the removal of the last one makes a ready index clear again', () => {
  const clear = new ClearIndexes()
  clear.saw(READY, head())
  clear.saw(DUE_INDEX, head(10))
  clear.wrote([{ index: DUE_INDEX, id: 'a', before: undefined, after: 5 }])
  clear.wrote([{ index: READY, id: 'a', before: undefined, after: 5 }])
  expect([READY, DUE_INDEX].map((index) => clear.isClear(index, 7))).toEqual([false, false])

  clear.wrote([
    { index: DUE_INDEX, id: 'a', before: 5, after: undefined },
    { index: READY, id: 'a', before: 5, after: undefined },
  ])
  expect([READY, DUE_INDEX].map((index) => clear.isClear(index, 7))).toEqual([true, false])
})

test('a ready index that was not loaded as a whole is not clear, whatever is removed from it', () => {
  const clear = new ClearIndexes()
  clear.saw(READY, { ...head(5), isWhole: false })
  clear.wrote([{ index: READY, id: 'id5', before: 5, after: undefined }])

  expect(clear.isClear(READY, 7)).toBe(false)
})

test('what turned out wrong is believed again only once it was seen', () => {
  const clear = new ClearIndexes()
  clear.saw(READY, head())
  clear.doubt(READY)
  expect(clear.isClear(READY, 1)).toBe(false)

  clear.saw(READY, head())
  expect(clear.isClear(READY, 1)).toBe(true)
})
