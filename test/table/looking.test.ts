import { describe, expect, test } from 'vitest'
import { AHEAD_COUNT_MAX, QUEUE_SCAN_COUNT } from '../../src/kernel/index.ts'
import type { LaneCounts, Position } from '../../src/kernel/index.ts'
import { LEASE_MS } from './trials/world.ts'
import { Partition } from './partition.ts'

describe('the answer to why an execution is not running', () => {
  test('counts what is claimed before it and what its lane runs', () => {
    const partition = new Partition()
    partition.submit({ priority: 9 })
    partition.hold()
    partition.submit({ priority: 8 })
    partition.advance(1)
    const id = partition.submit()
    partition.advance(1)
    partition.submit()

    expect(partition.run('explainExecution', { executionId: id })).toMatchObject({
      explanation: { why: 'waits_for_worker', ahead: 1, activeInLane: 1, lane: 'main' },
    })
  })

  test('stops counting at its limit', () => {
    const partition = new Partition()
    partition.submitMany(AHEAD_COUNT_MAX + 10)
    partition.advance(1)
    const id = partition.submit()

    expect(partition.run('explainExecution', { executionId: id })).toMatchObject({
      explanation: { ahead: AHEAD_COUNT_MAX, aheadLimit: AHEAD_COUNT_MAX },
    })
  })

  test('names the failure that a retry waits for, and whether it is due', () => {
    const partition = new Partition()
    const id = partition.submit()
    const { fence } = partition.hold()
    partition.run('failExecution', {
      executionId: id,
      fence,
      failure: { category: 'rate', message: 'slow down' },
      retryAfterMs: 50,
      seed: 1,
    })
    const delayed = { why: 'delayed', cause: 'retry', failureCount: 1, attempts: 3, failure: { message: 'slow down' } }

    expect(partition.run('explainExecution', { executionId: id })).toMatchObject({
      explanation: { ...delayed, isOverdue: false },
    })
    partition.advance(50)
    expect(partition.run('explainExecution', { executionId: id })).toMatchObject({
      explanation: { ...delayed, isOverdue: true },
    })
  })

  test('names the holder, and whether its lease has expired', () => {
    const partition = new Partition()
    const id = partition.submit()
    partition.hold()
    const running = { why: 'running', attempt: 1, workerId: 'pool', workerInstanceId: 'pool-a' }

    expect(partition.run('explainExecution', { executionId: id })).toMatchObject({
      explanation: { ...running, isLeaseExpired: false },
    })
    partition.advance(LEASE_MS)
    expect(partition.run('explainExecution', { executionId: id })).toMatchObject({
      explanation: { ...running, isLeaseExpired: true },
    })
  })

  test('names who ended it and why', () => {
    const partition = new Partition()
    const id = partition.submit()
    partition.run('cancelExecution', { executionId: id, reason: 'unwanted', by: 'ada', force: false, graceMs: 0 })

    expect(partition.run('explainExecution', { executionId: id })).toMatchObject({
      explanation: { why: 'ended', outcome: 'cancelled', reason: 'unwanted', by: 'ada' },
    })
  })
})

/** All pages of counts, those of one lane added up. */
function counts(partition: Partition): Map<string, Record<string, number>> {
  const lanes = new Map<string, Record<string, number>>()
  const add = (lane: LaneCounts): void => {
    const sums = lanes.get(lane.lane) ?? {}
    for (const { state, count } of lane.counts) sums[state] = (sums[state] ?? 0) + count
    lanes.set(lane.lane, sums)
  }
  let cursor: Position | undefined
  do {
    const page = partition.run('countExecutions', { cursor })
    page.lanes.forEach(add)
    cursor = page.cursor
  } while (cursor !== undefined)
  return lanes
}

describe('counting', () => {
  test('gives every state of every lane, all classes together', () => {
    const partition = new Partition()
    partition.submitMany(2)
    partition.submit({ class: 'gpu' })
    partition.submit({ delayMs: 5 })
    partition.submit({ lane: 'side' })
    partition.hold({ queues: [{ lane: 'side', class: 'default' }] })

    expect(Object.fromEntries(counts(partition))).toEqual({ main: { waiting: 3, delayed: 1 }, side: { active: 1 } })
  })

  test('counts each execution once also if the queues of a lane fill more than a page', () => {
    const partition = new Partition()
    partition.submit({ lane: 'a', class: 'first', delayMs: 5 })
    for (let i = 0; i < QUEUE_SCAN_COUNT + 10; i++) partition.submit({ lane: 'b', class: `c${i}` })
    partition.submit({ lane: 'b', class: 'c0', delayMs: 5 })

    expect(Object.fromEntries(counts(partition))).toEqual({
      a: { delayed: 1 },
      b: { waiting: QUEUE_SCAN_COUNT + 10, delayed: 1 },
    })
  })

  test('of one lane leaves the others out', () => {
    const partition = new Partition()
    partition.submit({ lane: 'a' })
    partition.submit({ lane: 'a b' })

    expect(partition.run('countExecutions', { lane: 'a' }).lanes.map(({ lane }) => lane)).toEqual(['a'])
  })
})

describe('a description', () => {
  test('has the attempts that came to an end, oldest first, the completed one among them', () => {
    const partition = new Partition()
    const id = partition.submit()
    const failing = partition.hold()
    partition.run('failExecution', {
      executionId: id,
      fence: failing.fence,
      failure: { category: 'error', message: 'no luck', stack: 'at work' },
      retryAfterMs: 0,
      seed: 1,
    })
    partition.run('completeExecution', { executionId: id, fence: partition.hold().fence })

    expect(partition.run('describeExecution', { executionId: id, attempts: true })).toMatchObject({
      state: 'completed',
      attempts: [
        { number: 1, kind: 'initial', outcome: 'failed', failure: { message: 'no luck', stack: 'at work' } },
        { number: 2, kind: 'retry', outcome: 'completed', failure: undefined },
      ],
    })
  })

  test('keeps a completed attempt in history when the execution is replayed', () => {
    const partition = new Partition()
    const id = partition.submit()
    partition.run('completeExecution', { executionId: id, fence: partition.hold().fence })
    partition.run('replayExecution', { executionId: id, requestId: 'r' })
    const { fence, attemptKind } = partition.hold()
    const described = partition.run('describeExecution', { executionId: id, attempts: true })

    expect([fence.attempt, attemptKind]).toEqual([2, 'replay'])
    expect(described).toMatchObject({ attempts: [{ number: 1, outcome: 'completed' }] })
  })
})
