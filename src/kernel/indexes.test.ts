import { describe, expect, test } from 'vitest'
import { entriesOf, isReadyIndex, laneIndex, readyIndex, tagIndex } from './indexes.ts'
import type { Attempt, Execution, ExecutionId, ExecutionState } from './records.ts'
import { unpackRecord } from './schema.ts'
import { claimScore } from './state.ts'

const id = '0-a' as ExecutionId

function execution(state: ExecutionState): Execution {
  return {
    ...unpackRecord('execution', []),
    id,
    lane: 'main',
    class: 'gpu',
    priority: 2,
    createdAt: 100,
    retentionMs: 1_000,
    deadlineAt: 900,
    tags: [
      { name: 'plan', value: 'pro', indexed: true },
      { name: 'note', value: 'x', indexed: false },
    ],
    state,
  }
}

const everywhere = [
  { index: 'created', score: 100, id },
  { index: tagIndex('plan', 'pro'), score: 100, id },
]

function sorted<T extends { index: string }>(entries: readonly T[]): T[] {
  return [...entries].sort((a, b) => (a.index < b.index ? -1 : 1))
}

describe('an execution stands', () => {
  test('while eligible, in the queue of its lane and class by the order of claiming', () => {
    const eligible = execution({ phase: 'eligible' })

    expect(sorted(entriesOf(eligible))).toEqual(
      sorted([
        ...everywhere,
        { index: readyIndex('main', 'gpu'), score: claimScore(eligible), id },
        { index: 'due', score: 900, id },
      ]),
    )
  })

  test('while delayed, in its lane by its public state and in the due index by its delay', () => {
    expect(sorted(entriesOf(execution({ phase: 'delayed', until: 300, cause: 'retry' })))).toEqual(
      sorted([
        ...everywhere,
        { index: laneIndex('main', 'delayed'), score: 100, id },
        { index: 'due', score: 300, id },
      ]),
    )
  })

  test('while held back, in no queue', () => {
    const entries = entriesOf(execution({ phase: 'blocked', by: 'operator' }))

    expect(entries.map((entry) => entry.index)).toContain(laneIndex('main', 'waiting'))
    expect(entries.some((entry) => isReadyIndex(entry.index))).toBe(false)
  })

  test('once ended, in the purge index by the end of its retention and no longer in the due index', () => {
    const state: ExecutionState = { phase: 'ended', outcome: 'failed', at: 500, reason: undefined, by: undefined }

    expect(sorted(entriesOf(execution(state)))).toEqual(
      sorted([
        ...everywhere,
        { index: laneIndex('main', 'failed'), score: 100, id },
        { index: 'purge', score: 1_500, id },
      ]),
    )
  })
})

test('an attempt stands under its execution by its number', () => {
  const attempt: Attempt = { ...unpackRecord('attempt', []), id: 'a-3', executionId: id, number: 3 }

  expect(entriesOf(attempt)).toEqual([{ index: 'attempts\u001f0-a', score: 3, id: 'a-3' }])
})

test('a queue stands among all queues in the order of their ids', () => {
  expect(entriesOf({ type: 'queue', id: 'q', lane: 'main', class: '', createdAt: 5 })).toEqual([
    { index: 'queues', score: 0, id: 'q' },
  ])
})

test('only the queues of eligible executions are ready indexes', () => {
  expect([readyIndex('main', ''), laneIndex('ready', 'waiting'), 'ready', 'created'].map(isReadyIndex)).toEqual([
    true,
    false,
    false,
    false,
  ])
})
