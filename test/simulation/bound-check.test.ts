import { expect, test } from 'vitest'
import { BATCH_WORK_LIMIT, OPERATION_WORK_LIMIT } from '../../src/kernel/index.ts'
import type { Queue } from '../../src/kernel/index.ts'
import type { Answer, Call, PartitionDump } from '../../src/stores/store.ts'
import { boundProblems } from './bound-check.ts'

const call: Call = { operation: 'runDue', input: { limit: 1, seed: 1 }, blobs: [] }
const run: Answer = { kind: 'fault', reason: 'as good as any', recordId: '' }
const left: Answer = { kind: 'not_run' }

function dumpOf(count: number): PartitionDump {
  const records = Array.from({ length: count }, (_, i): Queue => ({
    type: 'queue',
    id: `${i}`,
    lane: 'a',
    class: `${i}`,
    createdAt: 0,
    needs: undefined,
    keeps: undefined,
  }))
  return { records, entries: [], blobKeys: [], events: [] }
}

function problemsWith(answers: readonly Answer[], changed: number): string[] {
  const calls = answers.map(() => call)
  return boundProblems({ partition: 'fp:0', calls, answers, before: dumpOf(0), after: dumpOf(changed), now: 0 })
}

test('one call changes as many records as an operation may', () => {
  expect(problemsWith([run], OPERATION_WORK_LIMIT)).toEqual([])
  expect(problemsWith([run], OPERATION_WORK_LIMIT + 1)).toHaveLength(1)
})

test('the operation that passes the bound of a batch is its last', () => {
  const most = BATCH_WORK_LIMIT + OPERATION_WORK_LIMIT - 1

  expect(problemsWith([run, run, run], most)).toEqual([])
  expect(problemsWith([run, run, run], most + 1)).toHaveLength(1)
})

test('only the end of a batch is left for another time, and never all of it', () => {
  expect(problemsWith([run, left, left], 1)).toEqual([])
  expect(problemsWith([run, left, run], 1)).toEqual(['a call was left out of the middle of a batch'])
  expect(problemsWith([left], 0)).toEqual(['a batch was left before its first call'])
})
