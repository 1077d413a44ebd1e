import { describe, expect, test } from 'vitest'
import {
  CREATED_INDEX,
  DUE_INDEX,
  PURGE_INDEX,
  entriesOf,
  laneIndex,
  readyIndex,
  tagIndex,
} from '../../src/kernel/index.ts'
import type { IndexProblem, ReconcileCursor, TenantFilter, Tx } from '../../src/kernel/index.ts'
import { storedEntries, storedRecords } from './dialect/memory.ts'
import { Partition, idOf } from './partition.ts'

/** Walks the whole partition once and says what was repaired. */
function walk(partition: Partition, filter?: TenantFilter): IndexProblem[] {
  const repaired: IndexProblem[] = []
  let cursor: ReconcileCursor | undefined
  do {
    const result = partition.run('reconcileIndexes', { cursor, filter })
    repaired.push(...result.repaired)
    cursor = result.cursor
  } while (cursor !== undefined)
  return repaired
}

function expectAgreement(partition: Partition): void {
  const text = (entry: { index: string; score: number; id: string }): string =>
    [entry.index, entry.score, entry.id].join(' ')
  const { memory } = partition.world

  expect(storedEntries(memory).map(text).sort()).toEqual(
    storedRecords(memory)
      .flatMap((record) => entriesOf(record).map(text))
      .sort(),
  )
}

function livelyPartition(): Partition {
  const partition = new Partition()
  partition.submit()
  partition.submit({ delayMs: 500 })
  partition.submit({ lane: 'side', totalTimeoutMs: 900 })
  partition.hold()
  partition.run('cancelExecution', { executionId: idOf(2), reason: '', by: '', force: true, graceMs: 0 })
  return partition
}

describe('reconciling', () => {
  test('finds nothing where operations alone wrote', () => {
    expect(walk(livelyPartition())).toEqual([])
  })

  const active = idOf(1)
  const ended = idOf(2)
  const waiting = idOf(3)

  test.each<{ damage: string; inflict: (tx: Tx) => void; problem: IndexProblem }>([
    {
      damage: 'a missing entry of a queue',
      inflict: (tx) => tx.repair(readyIndex('side', 'default'), waiting, undefined),
      problem: { problem: 'missing_entry', index: readyIndex('side', 'default'), id: waiting },
    },
    {
      damage: 'a missing entry of a lane',
      inflict: (tx) => tx.repair(laneIndex('main', 'active'), active, undefined),
      problem: { problem: 'missing_entry', index: laneIndex('main', 'active'), id: active },
    },
    {
      damage: 'a missing timer',
      inflict: (tx) => tx.repair(DUE_INDEX, active, undefined),
      problem: { problem: 'missing_entry', index: DUE_INDEX, id: active },
    },
    {
      damage: 'a missing end of retention',
      inflict: (tx) => tx.repair(PURGE_INDEX, ended, undefined),
      problem: { problem: 'missing_entry', index: PURGE_INDEX, id: ended },
    },
    {
      damage: 'a missing tag',
      inflict: (tx) => tx.repair(tagIndex('plan', 'pro'), waiting, undefined),
      problem: { problem: 'missing_entry', index: tagIndex('plan', 'pro'), id: waiting },
    },
    {
      damage: 'an execution missing among all executions',
      inflict: (tx) => tx.repair(CREATED_INDEX, waiting, undefined),
      problem: { problem: 'missing_entry', index: CREATED_INDEX, id: waiting },
    },
    {
      damage: 'a timer at the wrong time',
      inflict: (tx) => tx.repair(DUE_INDEX, active, 1),
      problem: { problem: 'wrong_score', index: DUE_INDEX, id: active },
    },
    {
      damage: 'an entry of a queue in which the execution does not wait',
      inflict: (tx) => tx.repair(readyIndex('main', 'default'), ended, 1),
      problem: { problem: 'extra_entry', index: readyIndex('main', 'default'), id: ended },
    },
    {
      damage: 'an entry in another lane',
      inflict: (tx) => tx.repair(laneIndex('side', 'active'), active, 1),
      problem: { problem: 'extra_entry', index: laneIndex('side', 'active'), id: active },
    },
    {
      damage: 'a timer of an execution that has ended',
      inflict: (tx) => tx.repair(DUE_INDEX, ended, 1),
      problem: { problem: 'extra_entry', index: DUE_INDEX, id: ended },
    },
    {
      damage: 'an entry whose execution does not exist',
      inflict: (tx) => tx.repair(CREATED_INDEX, '0-gone', 1),
      problem: { problem: 'extra_entry', index: CREATED_INDEX, id: '0-gone' },
    },
    {
      damage: 'an end of retention of an execution that runs',
      inflict: (tx) => tx.repair(PURGE_INDEX, active, 1),
      problem: { problem: 'extra_entry', index: PURGE_INDEX, id: active },
    },
  ])('repairs $damage and says so', ({ inflict, problem }) => {
    const partition = livelyPartition()
    partition.write(inflict)

    expect(walk(partition)).toEqual([problem])
    expectAgreement(partition)
    expect(walk(partition)).toEqual([])
  })

  test('repairs any amount of damage in one walk, a bounded part of it in each call', () => {
    const partition = new Partition()
    const ids = partition.submitMany(450, { totalTimeoutMs: 5_000 })
    partition.write((tx) => {
      for (const id of ids) {
        tx.repair(DUE_INDEX, id, undefined)
        tx.repair(readyIndex('main', 'default'), id, undefined)
      }
      for (let i = 0; i < 250; i++) tx.repair(CREATED_INDEX, `0-gone-${i}`, i)
    })

    expect(walk(partition)).toHaveLength(450 * 2 + 250)
    expectAgreement(partition)
  })

  test('leaves the executions of other tenants alone', () => {
    const partition = new Partition()
    const other = partition.submit({ namespace: 'beta', totalTimeoutMs: 100 })
    partition.write((tx) => tx.repair(DUE_INDEX, other, undefined))

    expect(walk(partition, { namespace: 'acme' })).toEqual([])
    expect(walk(partition, { namespace: 'beta' })).toHaveLength(1)
  })
})
