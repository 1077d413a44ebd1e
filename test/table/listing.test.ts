import { describe, expect, test } from 'vitest'
import { LIST_SCAN_COUNT } from '../../src/kernel/index.ts'
import type { ListInput, Position } from '../../src/kernel/index.ts'
import { Partition, idOf } from './partition.ts'

/** All pages of a listing, one after the other. */
function pages(partition: Partition, input: ListInput): string[][] {
  const all: string[][] = []
  let cursor: Position | undefined
  do {
    const page = partition.run('listExecutions', { ...input, cursor })
    all.push(page.executions.map((one) => one.id))
    cursor = page.cursor
  } while (cursor !== undefined)
  return all
}

function ids(count: number): string[] {
  return Array.from({ length: count }, (_, i) => idOf(i + 1))
}

describe('listing', () => {
  test.each([1, 2, 3, 7, 10, 11])(
    'in pages of %i gives everything once, newest first, also within one millisecond',
    (limit) => {
      const partition = new Partition()
      partition.submitMany(4)
      partition.advance(1)
      partition.submitMany(6)

      expect(pages(partition, { limit }).flat()).toEqual(ids(10).reverse())
    },
  )

  test('ends with the page that holds the last one', () => {
    const partition = new Partition()
    partition.submitMany(4)

    expect(pages(partition, { limit: 2 })).toHaveLength(2)
  })

  test('looks at a bounded number of records, so that a page may be empty and still not the last', () => {
    const partition = new Partition()
    const wanted = partition.submit({ task: 'rare' })
    partition.submitMany(LIST_SCAN_COUNT)

    expect(pages(partition, { task: 'rare', limit: 5 })).toEqual([[], [wanted]])
  })

  test('finds by lane and state, by task, by namespace, by tag and by time', () => {
    const partition = new Partition()
    const first = partition.submit({ lane: 'side', delayMs: 100 })
    partition.advance(10)
    const second = partition.submit({ task: 'other', namespace: 'beta' })
    partition.advance(10)
    const third = partition.submit({ tags: [{ name: 'team', value: 'blue', indexed: false }] })
    const found = (input: Omit<ListInput, 'limit'>): string[] => pages(partition, { ...input, limit: 10 }).flat()
    const start = partition.execution(first).createdAt

    expect(found({ lane: 'side', state: 'delayed' })).toEqual([first])
    expect(found({ lane: 'side', state: 'waiting' })).toEqual([])
    expect(found({ lane: 'main', state: 'waiting' })).toEqual([third, second])
    expect(found({ state: 'delayed' })).toEqual([first])
    expect(found({ task: 'other' })).toEqual([second])
    expect(found({ namespace: 'beta' })).toEqual([second])
    expect(found({ tag: { name: 'team', value: 'blue', indexed: false } })).toEqual([third])
    expect(found({ tag: { name: 'plan', value: 'pro', indexed: true } })).toEqual([second, first])
    expect(found({ tag: { name: 'plan', value: 'free', indexed: true } })).toEqual([])
    expect(found({ createdFrom: start + 10 })).toEqual([third, second])
    expect(found({ createdTo: start + 10 })).toEqual([second, first])
    expect(found({ createdFrom: start + 1, createdTo: start + 10 })).toEqual([second])
  })

  test('continues at its position, whatever was created or purged meanwhile', () => {
    const partition = new Partition()
    partition.submitMany(4)
    const page = partition.run('listExecutions', { limit: 2 })
    partition.advance(1)
    partition.submit()
    partition.run('cancelExecution', { executionId: idOf(2), reason: '', by: '', force: true, graceMs: 0 })
    partition.advance(10_000_000)
    partition.run('purgeExecutions', {})

    expect(partition.run('listExecutions', { limit: 2, cursor: page.cursor }).executions.map((one) => one.id)).toEqual([
      idOf(1),
    ])
  })
})
