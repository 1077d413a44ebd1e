import { describe, expect, test } from 'vitest'
import { CLAIM_COUNT_MAX, CLAIM_PAYLOAD_BYTES, RECLAIM_CAP } from '../../src/kernel/index.ts'
import { LEASE_MS, newClaim } from './trials/world.ts'
import { Partition, idOf } from './partition.ts'

const MANY = 50

describe('claiming', () => {
  test('takes the highest priority first, then the oldest, across several queues', () => {
    const partition = new Partition()
    const submits = [
      { lane: 'main', priority: 0 },
      { lane: 'side', priority: 7 },
      { lane: 'main', priority: 7 },
      { lane: 'side', priority: 0 },
      { lane: 'other', priority: 9_000 },
    ]
    for (const submit of submits) {
      partition.submit(submit)
      partition.advance(1)
    }
    const queues = ['side', 'main'].map((lane) => ({ lane, class: 'default' }))
    const claimed = partition.claim({ queues, count: 10 })

    expect(claimed.map((one) => one.executionId)).toEqual([idOf(2), idOf(3), idOf(1), idOf(4)])
  })

  test('takes executions of one millisecond in the order of their ids', () => {
    const partition = new Partition()
    partition.submitMany(3)

    expect(partition.claim({ count: 3 }).map((one) => one.executionId)).toEqual([idOf(1), idOf(2), idOf(3)])
  })

  test('keeps the seniority of an execution that failed, was delayed or changed its priority', () => {
    const partition = new Partition()
    const old = partition.submit()
    partition.advance(10)
    const young = partition.submit({ priority: 4 })
    const { fence } = partition.hold()
    partition.run('failExecution', {
      executionId: old,
      fence,
      failure: { category: 'error', message: '' },
      retryAfterMs: 5,
      seed: 1,
    })
    partition.run('changePriority', { executionId: young, priority: 5 })
    partition.advance(5)

    expect(partition.claim({ count: 2 }).map((one) => one.executionId)).toEqual([old, young])
  })

  test('leaves alone what asks for another class', () => {
    const partition = new Partition()
    partition.submit({ class: 'gpu' })

    expect(partition.claim()).toEqual([])
    expect(partition.claim({ queues: [{ lane: 'main', class: 'gpu' }] })).toHaveLength(1)
  })

  test('returns whether more was ready than was taken', () => {
    const partition = new Partition()
    partition.submitMany(3)
    const more = [2, 1].map((count) => partition.run('claimForWorker', { ...newClaim(`c${count}`), count }).more)

    expect(more).toEqual([true, false])
  })

  test('takes no more than one claim may, however many are asked for', () => {
    const partition = new Partition()
    partition.submitMany(CLAIM_COUNT_MAX + 5)

    expect(partition.claim({ count: 1_000 })).toHaveLength(CLAIM_COUNT_MAX)
    expect(partition.claim({ count: 1_000 })).toHaveLength(5)
  })

  test('hands out an execution once even if its queue is named twice', () => {
    const partition = new Partition()
    partition.submit()
    const queue = { lane: 'main', class: 'default' }

    expect(partition.claim({ queues: [queue, queue], count: 4 })).toHaveLength(1)
  })

  test('stops before its payloads are over the limit, and always takes one', () => {
    const partition = new Partition()
    const big = (size: number) => ({ payload: { blob: 0, size, encoding: 'bytes' as const } })
    partition.submit(big(CLAIM_PAYLOAD_BYTES - 1))
    partition.submit(big(1))
    partition.submit(big(1))
    partition.submit(big(CLAIM_PAYLOAD_BYTES))

    expect([1, 2, 3].map(() => partition.claim({ count: 10 }).length)).toEqual([2, 1, 1])
  })

  test('counts each attempt and each lease', () => {
    const partition = new Partition()
    const id = partition.submit()
    const first = partition.hold()
    partition.run('releaseExecution', { executionId: id, fence: first.fence, reason: 'shutdown' })
    const second = partition.hold()
    partition.run('failExecution', {
      executionId: id,
      fence: second.fence,
      failure: { category: 'error', message: '' },
      retryAfterMs: 0,
      seed: 1,
    })
    const third = partition.hold()

    expect([first, second, third].map(({ fence }) => [fence.epoch, fence.attempt])).toEqual([
      [1, 1],
      [2, 1],
      [3, 2],
    ])
    expect(third.attemptKind).toBe('retry')
  })

  test('passes over what is past its deadline', () => {
    const partition = new Partition()
    const late = partition.submitMany(MANY, { totalTimeoutMs: 10, priority: 9 })
    const good = partition.submit()
    partition.advance(10)
    const rounds = [1, 2, 3].flatMap(() => partition.claim({ count: 5 }))

    expect(rounds.map((one) => one.executionId)).toEqual([good])
    expect(late.every((id) => partition.execution(id).state.phase === 'ended')).toBe(true)
  })
})

describe('a claim whose reply was lost', () => {
  test('hands out the same executions again when it is repeated', () => {
    const partition = new Partition()
    partition.submitMany(5)
    const claim = { requestId: 'lost', count: 3, repeated: true }
    const first = partition.claim(claim)
    const again = partition.claim(claim)

    expect(new Set(again.map((one) => one.executionId))).toEqual(new Set(first.map((one) => one.executionId)))
    expect(again.map((one) => one.fence.epoch)).toEqual([1, 1, 1])
    expect(again.map((one) => one.payloadBlob)).toEqual([0, 1, 2])
  })

  test('finds them among many that others hold', () => {
    const partition = new Partition()
    const id = partition.submit()
    partition.hold({ requestId: 'lost' })
    for (let i = 0; i < 6; i++) {
      partition.submitMany(MANY)
      partition.claim({ count: MANY })
    }

    expect(partition.claim({ requestId: 'lost', repeated: true }).map((one) => one.executionId)).toEqual([id])
  })

  test('is a new claim if nothing of the first is left', () => {
    const partition = new Partition()
    const old = partition.submit()
    const { fence } = partition.hold({ requestId: 'lost' })
    partition.run('completeExecution', { executionId: old, fence })
    const next = partition.submit()

    expect(partition.claim({ requestId: 'lost', repeated: true }).map((one) => one.executionId)).toEqual([next])
  })

  test('gives nothing that another process took under the same request', () => {
    const partition = new Partition()
    partition.submit()
    partition.hold({ requestId: 'same' })

    expect(partition.claim({ requestId: 'same', workerInstanceId: 'pool-b', repeated: true })).toEqual([])
  })

  test('within a completion is recovered when the completion is repeated', () => {
    const partition = new Partition()
    const done = partition.submit()
    partition.submitMany(4)
    const { fence } = partition.hold()
    const input = { executionId: done, fence, next: { ...newClaim('next'), count: 2 } }
    const first = partition.run('completeExecution', input)
    const again = partition.run('completeExecution', input)
    const claimed = [first, again].map((one) => (one.kind === 'refused' ? undefined : one.next?.executions))

    expect([first.kind, again.kind]).toEqual(['completed', 'already_completed'])
    expect(new Set(claimed[1]?.map((one) => one.executionId))).toEqual(new Set([idOf(2), idOf(3)]))
    expect(new Set(claimed[0]?.map((one) => one.executionId))).toEqual(new Set([idOf(2), idOf(3)]))
  })
})

describe('a lease that is lost again and again', () => {
  test('ends the execution as failed when the cap is reached', () => {
    const partition = new Partition()
    const id = partition.submit()
    for (let i = 0; i <= RECLAIM_CAP; i++) {
      partition.hold()
      partition.advance(LEASE_MS)
      partition.run('runDue', { limit: 10, seed: 1 })
    }

    expect(partition.execution(id)).toMatchObject({
      reclaimCount: RECLAIM_CAP,
      state: { phase: 'ended', outcome: 'failed', reason: 'reclaims_exhausted' },
    })
  })

  test('does not use up the attempts of the retry policy', () => {
    const partition = new Partition()
    const id = partition.submit()
    partition.hold()
    partition.advance(LEASE_MS)
    partition.run('runDue', { limit: 10, seed: 1 })

    expect(partition.execution(id)).toMatchObject({ failureCount: 0, reclaimCount: 1, next: 'reclaim' })
  })
})
