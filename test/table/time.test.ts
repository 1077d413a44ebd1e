import { describe, expect, test } from 'vitest'
import { OPERATION_WORK_LIMIT } from '../../src/kernel/index.ts'
import type { DueResult, Position } from '../../src/kernel/index.ts'
import { LEASE_MS } from './trials/world.ts'
import { Partition } from './partition.ts'

function runDue(partition: Partition, from?: Position): DueResult {
  return partition.run('runDue', { limit: 1_000, seed: 1, from })
}

describe('the due pass', () => {
  test('leaves to the next call what it has no room for, and comes to the end', () => {
    const partition = new Partition()
    const ids = partition.submitMany(OPERATION_WORK_LIMIT * 2 + 5, { delayMs: 10 })
    partition.advance(10)
    const handled: number[] = []
    let next: Position | undefined
    do {
      const result = runDue(partition, next)
      handled.push(result.handled.length)
      next = result.next
    } while (next !== undefined)

    expect(handled.length).toBeGreaterThan(1)
    expect(Math.max(...handled)).toBeLessThanOrEqual(OPERATION_WORK_LIMIT)
    expect(ids.every((id) => partition.execution(id).state.phase === 'eligible')).toBe(true)
    expect(partition.eventsOf(ids[0]!)).toEqual(['execution_created', 'execution_promoted'])
  })

  test('skips other tenants and what its input excludes', () => {
    const partition = new Partition()
    const [mine, skipped] = partition.submitMany(2, { delayMs: 10 })
    const other = partition.submit({ delayMs: 10, namespace: 'beta' })
    partition.advance(10)
    partition.run('runDue', { limit: 10, seed: 1, filter: { namespace: 'default' }, skip: [skipped!] })

    expect([mine!, skipped!, other].map((id) => partition.execution(id).state.phase)).toEqual([
      'eligible',
      'delayed',
      'delayed',
    ])
  })

  test('returns when the next timer is due', () => {
    const partition = new Partition()
    partition.submit({ delayMs: 70 })
    partition.submit({ delayMs: 30 })
    const result = runDue(partition)

    expect(result.nextDueAt).toBe(partition.world.now + 30)
  })

  test('stops at an index entry for which nothing is due, and changes nothing', () => {
    const partition = new Partition()
    const id = partition.submit()
    partition.write((tx) => tx.repair('due', id, tx.now))

    expect(partition.faultOf('runDue', { limit: 10, seed: 1 }).recordId).toBe(id)
    expect(partition.eventsOf(id)).toEqual(['execution_created'])
  })
})

describe('a lease', () => {
  test('that was renewed in time survives the pass that comes after its first end', () => {
    const partition = new Partition()
    const id = partition.submit()
    const { fence } = partition.hold()
    partition.advance(LEASE_MS - 1)
    partition.run('renewLease', { executionId: id, fence, leaseTtlMs: LEASE_MS })
    partition.advance(1)

    expect(runDue(partition).handled).toEqual([])
    expect(partition.execution(id).state.phase).toBe('active')
  })

  test('is over at the very millisecond of its end, for its holder as for the pass', () => {
    const partition = new Partition()
    const id = partition.submit()
    const { fence } = partition.hold()
    partition.advance(LEASE_MS)

    expect(partition.run('renewLease', { executionId: id, fence, leaseTtlMs: LEASE_MS })).toMatchObject({
      code: 'lease_expired',
    })
    expect(runDue(partition).handled).toEqual([{ case: 'lease_expiry', executionId: id }])
  })
})

describe('an attempt timeout', () => {
  const timed = { attemptTimeoutMs: 1_000 }

  test('is a failure under the retry policy, of category timeout', () => {
    const partition = new Partition()
    const id = partition.submit(timed)
    partition.hold()
    partition.advance(1_000)

    expect(runDue(partition).handled).toEqual([{ case: 'attempt_timeout', executionId: id }])
    expect(partition.execution(id)).toMatchObject({
      state: { phase: 'delayed', cause: 'retry' },
      failureCount: 1,
      failure: { category: 'timeout' },
    })
  })

  test('expires the execution when no attempt is left', () => {
    const partition = new Partition()
    const retry = { attempts: 1, backoff: { kind: 'fixed' as const, delayMs: 0 }, jitter: false, onlyCategories: [] }
    const id = partition.submit({ ...timed, retry })
    partition.hold()
    partition.advance(1_000)
    runDue(partition)

    expect(partition.execution(id).state).toMatchObject({
      phase: 'ended',
      outcome: 'expired',
      reason: 'attempt_timeout',
    })
  })

  test('counts the time under earlier leases of the same attempt, and none while it was parked', () => {
    const partition = new Partition()
    const id = partition.submit(timed)
    const { fence } = partition.hold()
    partition.advance(600)
    partition.run('delayExecution', { executionId: id, fence, delayMs: 5_000 })
    partition.advance(5_000)
    const again = partition.hold()

    expect(again.fence.attempt).toBe(1)
    expect(again.timeoutAt).toBe(partition.world.now + 400)
  })

  test('starts anew with a new attempt', () => {
    const partition = new Partition()
    partition.submit(timed)
    partition.hold({ leaseTtlMs: 900 })
    partition.advance(900)
    const again = partition.hold()

    expect(again.attemptKind).toBe('reclaim')
    expect(again.timeoutAt).toBe(partition.world.now + 1_000)
  })

  test('cancels an execution whose cancel was asked for, instead of retrying it', () => {
    const partition = new Partition()
    const id = partition.submit(timed)
    partition.hold()
    partition.run('cancelExecution', { executionId: id, reason: 'unwanted', by: 'ada', force: false, graceMs: 30_000 })
    partition.advance(1_000)
    runDue(partition)

    expect(partition.execution(id).state).toMatchObject({ phase: 'ended', outcome: 'cancelled', reason: 'unwanted' })
  })
})

describe('a deadline', () => {
  test('is set anew by a replay', () => {
    const partition = new Partition()
    const id = partition.submit({ totalTimeoutMs: 100 })
    partition.advance(100)
    runDue(partition)
    partition.advance(50)
    partition.run('replayExecution', { executionId: id, requestId: 'r' })

    expect(partition.execution(id)).toMatchObject({
      state: { phase: 'eligible' },
      deadlineAt: partition.world.now + 100,
      next: 'initial',
    })
  })

  test('closes an attempt that was parked, in history too', () => {
    const partition = new Partition()
    const id = partition.submit({ totalTimeoutMs: 100 })
    partition.run('delayExecution', { executionId: id, fence: partition.hold().fence, delayMs: 5_000 })
    partition.advance(100)
    runDue(partition)

    expect(partition.run('describeExecution', { executionId: id, attempts: true })).toMatchObject({
      state: 'expired',
      attempts: [{ number: 1, outcome: 'expired' }],
    })
  })
})
