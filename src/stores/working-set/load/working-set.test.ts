import { describe, expect, test } from 'vitest'
import { BATCH_WORK_LIMIT } from '../../../kernel/index.ts'
import type { IndexEntry, Range } from '../../../kernel/index.ts'
import { WorkingSet } from './working-set.ts'

const INDEX = 'ready'

function entries(...scores: number[]): IndexEntry[] {
  return scores.map((score) => ({ index: INDEX, score, id: `id ${score}` }))
}

function scoresOf(set: WorkingSet, range: Omit<Range, 'index'>): number[] {
  return set.range({ index: INDEX, ...range }).map(({ score }) => score)
}

describe('what was not loaded', () => {
  test('is answered with nothing and noted, once for everything that is asked for', () => {
    const set = new WorkingSet()

    expect(set.find('execution', 'a')).toBeUndefined()
    expect(set.find('execution', 'b')).toBeUndefined()
    expect(set.find('execution', 'a')).toBeUndefined()
    expect(set.count({ index: INDEX, limit: 5 })).toBe(0)
    expect(set.blob('key')?.byteLength).toBe(0)

    const needs = set.takeNeeds()
    expect([...(needs.records.get('execution') ?? [])]).toEqual(['a', 'b'])
    expect([needs.counts.size, needs.blobs.size]).toEqual([1, 1])
    expect(set.isMissingAny).toBe(false)
  })

  test('is known to be absent once it was looked for', () => {
    const set = new WorkingSet()
    set.keepText('execution', 'a', undefined)
    set.keepBlob('key', undefined)
    set.keepScore(`${INDEX}\u0000a`, undefined)

    expect(set.find('execution', 'a')).toMatchObject({ record: undefined, version: undefined })
    expect(set.blob('key')).toBeUndefined()
    expect(set.score(INDEX, 'a', 7)).toBeUndefined()
    expect(set.isMissingAny).toBe(false)
  })

  test('of scores is taken to be as expected until it is known', () => {
    const set = new WorkingSet()

    expect(set.score(INDEX, 'a', 7)).toBe(7)
    expect(set.isMissingAny).toBe(true)
  })
})

describe('the head of an index', () => {
  test('answers every range that it covers', () => {
    const set = new WorkingSet()
    set.keepHead(INDEX, 4, entries(1, 2, 3, 4))

    expect(scoresOf(set, { limit: 2 })).toEqual([1, 2])
    expect(scoresOf(set, { limit: 9, to: 3 })).toEqual([1, 2, 3])
    expect(scoresOf(set, { from: { score: 2, id: 'id 2' }, limit: 2 })).toEqual([3, 4])
    expect(set.isMissingAny).toBe(false)
  })

  test('answers with what it has who can do with less than he would like', () => {
    const set = new WorkingSet()
    set.keepHead(INDEX, 4, entries(1, 2, 3, 4))
    const range = { index: INDEX, from: { score: 1, id: 'id 1' }, limit: 50 }

    expect(set.range(range, 3)).toEqual(entries(2, 3, 4))
    expect(set.isMissingAny).toBe(false)
    expect(set.range(range, 4)).toEqual([])
    expect(set.isMissingAny).toBe(true)
  })

  test('returns all entries of an index that ends in it', () => {
    const set = new WorkingSet()
    set.keepHead(INDEX, 9, entries(1, 2))

    expect(scoresOf(set, { limit: 50 })).toEqual([1, 2])
    expect(scoresOf(set, { from: { score: 7 }, limit: 50 })).toEqual([])
    expect(set.isMissingAny).toBe(false)
  })

  test('is asked for anew, and longer, where a range leads beyond it', () => {
    const set = new WorkingSet()
    set.keepHead(INDEX, 2, entries(1, 2))

    expect(scoresOf(set, { limit: 3, to: 8 })).toEqual([])

    expect(set.takeNeeds().heads.get(INDEX)).toMatchObject({ limit: 5 })
  })

  test('does not serve what begins behind it: that is a page of its own', () => {
    const set = new WorkingSet()
    set.keepHead(INDEX, 2, entries(1, 2))
    const range = { index: INDEX, from: { score: 9 }, limit: 1 }

    expect(set.range(range)).toEqual([])
    const [[key] = ['']] = set.takeNeeds().pages
    set.keepPage(key, range, entries(9))

    expect(set.range(range)).toEqual(entries(9))
    expect(set.isMissingAny).toBe(false)
  })

  test('is planned as long as all calls of a batch together want it', () => {
    const set = new WorkingSet()
    const claim = {
      operation: 'claimForWorker',
      input: {
        requestId: 'r',
        workerId: 'w',
        workerInstanceId: 'i',
        queues: [{ lane: 'main', class: 'greet' }],
        count: 10,
        leaseTtlMs: 1_000,
        seed: 1,
      },
      blobs: [],
    } as const
    const ready = 'ready\u001fmain\u001fgreet'
    set.plan([claim, claim, claim])

    const needs = set.takeNeeds()

    expect(needs.heads.get(ready)).toMatchObject({ limit: 33, hasPayloads: true, reserve: 30 })
    expect(needs.heads.get('due')).toMatchObject({ limit: 61, hasPayloads: false, reserve: 60, to: 'now' })
    // The last one that is still run begins where almost as many were taken as a batch may change.
    set.plan(Array.from({ length: 50 }, () => claim))
    expect(set.takeNeeds().heads.get(ready)).toMatchObject({ limit: BATCH_WORK_LIMIT + 11 })
  })
})

test('what came of an index with several loads is as old as the first of them', () => {
  const set = new WorkingSet()
  set.takeNeeds()
  set.keepHead(INDEX, 2, entries(1, 2))
  set.takeNeeds()
  set.keepRecord('execution', 'guard', undefined)
  set.takeNeeds()
  set.keepHead(INDEX, 4, entries(1, 2, 3, 4))

  expect(set.indexMomentOf(INDEX)).toBe(1)
  expect(set.find('execution', 'guard')?.moment).toBe(2)
})
