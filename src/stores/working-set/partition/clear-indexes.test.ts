import { expect, test } from 'vitest'
import { DUE_INDEX, readyIndex } from '../../../kernel/index.ts'
import { ClearIndexes } from './clear-indexes.ts'

const READY = readyIndex('lane', 'class')

test('nothing is believed of an index that was never seen, and of no other kind of index', () => {
  const clear = new ClearIndexes()
  clear.saw('members', undefined)

  expect([READY, DUE_INDEX, 'members'].map((index) => clear.isClear(index, 1))).toEqual([false, false, false])
})

test('a ready index is clear while it is empty, the due index until its first entry is due', () => {
  const clear = new ClearIndexes()
  clear.saw(READY, undefined)
  clear.saw(DUE_INDEX, 10)

  expect(clear.isClear(READY, 1)).toBe(true)
  expect([9, 10].map((now) => clear.isClear(DUE_INDEX, now))).toEqual([true, false])
  expect(clear.isClear(DUE_INDEX, undefined)).toBe(false)
  clear.saw(READY, 5)
  expect(clear.isClear(READY, 1)).toBe(false)
})

test('an entry that a commit adds makes its index not clear, an entry that it removes does not make it clear again', () => {
  const clear = new ClearIndexes()
  clear.saw(READY, undefined)
  clear.saw(DUE_INDEX, 10)
  clear.wrote([{ index: DUE_INDEX, id: 'a', before: undefined, after: 5 }])
  clear.wrote([{ index: READY, id: 'a', before: undefined, after: 5 }])
  clear.wrote([
    { index: DUE_INDEX, id: 'a', before: 5, after: undefined },
    { index: READY, id: 'a', before: 5, after: undefined },
  ])

  expect(clear.isClear(DUE_INDEX, 7)).toBe(false)
  expect(clear.isClear(READY, 7)).toBe(false)
})

test('what turned out wrong is believed again only once it was seen', () => {
  const clear = new ClearIndexes()
  clear.saw(READY, undefined)
  clear.doubt(READY)
  expect(clear.isClear(READY, 1)).toBe(false)

  clear.saw(READY, undefined)
  expect(clear.isClear(READY, 1)).toBe(true)
})
