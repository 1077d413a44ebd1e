/** A whole walk of the index reconciler over a partition, and what it is to lead to. */
import { expect } from 'vitest'
import { entriesOf } from '../../src/kernel/index.ts'
import type { IndexProblem, ReconcileCursor, TenantFilter } from '../../src/kernel/index.ts'
import { storedEntries, storedRecords } from './trials/memory.ts'
import type { Partition } from './partition.ts'

/** Walks the whole partition once. Returns what was repaired. */
export function walk(partition: Partition, filter?: TenantFilter): IndexProblem[] {
  const repaired: IndexProblem[] = []
  let cursor: ReconcileCursor | undefined
  do {
    const result = partition.run('reconcileIndexes', { cursor, filter })
    repaired.push(...result.repaired)
    cursor = result.cursor
  } while (cursor !== undefined)
  return repaired
}

/** Records and indexes agree, in both directions. */
export function expectAgreement(partition: Partition): void {
  const text = (entry: { index: string; score: number; id: string }): string =>
    [entry.index, entry.score, entry.id].join(' ')
  const { memory } = partition.world

  expect(storedEntries(memory).map(text).sort()).toEqual(
    storedRecords(memory)
      .flatMap((record) => entriesOf(record).map(text))
      .sort(),
  )
}
