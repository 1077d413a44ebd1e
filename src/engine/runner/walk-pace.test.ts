import { expect, test } from 'vitest'
import { WalkPace } from './walk-pace.ts'

const PARTITIONS = 4
/** A thousand items in each pass over a partition. */
const RATE = { everyMs: 40_000, examinedPerPass: 2_000, examinedPerSecond: 100 }
const WHOLE = 1_000
const SOUND = 100
const CLEAN = { processed: 0, errors: 0, failure: undefined }

const createPace = () => new WalkPace(RATE, PARTITIONS)

test('a partition takes the whole rate until a walk has found nothing, and then a tenth', () => {
  const pace = createPace()

  pace.add('fp:0', { ...CLEAN, next: 'middle' })
  expect(pace.examinedMax('fp:0')).toBe(WHOLE)
  pace.add('fp:0', { ...CLEAN, next: undefined })

  expect(pace.examinedMax('fp:0')).toBe(SOUND)
  expect(pace.examinedMax('fp:1')).toBe(WHOLE)
})

test.each([
  ['a repair', { ...CLEAN, processed: 1 }],
  ['an item that failed', { ...CLEAN, errors: 1 }],
  ['a failure', { ...CLEAN, failure: { cause: 'any' } }],
])('%s brings the whole rate back, until the next walk is over', (_, found) => {
  const pace = createPace()
  pace.add('fp:0', { ...CLEAN, next: undefined })

  pace.add('fp:0', { ...found, next: 'middle' })
  expect(pace.examinedMax('fp:0')).toBe(WHOLE)
  pace.add('fp:0', { ...CLEAN, next: undefined })
  expect(pace.examinedMax('fp:0')).toBe(WHOLE)
  pace.add('fp:0', { ...CLEAN, next: undefined })

  expect(pace.examinedMax('fp:0')).toBe(SOUND)
})

test('a pass never has less than one item, and never more than its own bound', () => {
  const slow = new WalkPace({ ...RATE, examinedPerSecond: 0.001 }, PARTITIONS)
  const unbounded = new WalkPace({ ...RATE, examinedPerSecond: Infinity }, PARTITIONS)
  for (const pace of [slow, unbounded]) pace.add('fp:0', { ...CLEAN, next: undefined })

  expect([slow.examinedMax('fp:0'), slow.examinedMax('fp:1')]).toEqual([1, 1])
  expect([unbounded.examinedMax('fp:0'), unbounded.examinedMax('fp:1')]).toEqual([2_000, 2_000])
})
