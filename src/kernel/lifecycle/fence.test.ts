import { describe, expect, test } from 'vitest'
import { isCurrent, leaseEnded, refuseUnlessHeld } from './fence.ts'
import type { Execution, ExecutionState, Fence, LeaseEnd } from '../model/records.ts'
import { unpackRecord } from '../model/schema.ts'
import type { Tx } from '../tx.ts'

const own: Fence = { leaseId: 'lease', epoch: 4, attempt: 2 }
const EXPIRES_AT = 1_000

const held: ExecutionState = {
  phase: 'active',
  lease: { id: own.leaseId, workerId: 'w', workerInstanceId: 'i', acquiredAt: 0, expiresAt: EXPIRES_AT },
  timeoutAt: undefined,
  cancel: undefined,
  runningSince: 0,
  unadmitted: undefined,
}

function execution(state: ExecutionState, ended?: LeaseEnd): Execution {
  return {
    ...unpackRecord('execution', []),
    state,
    epoch: own.epoch,
    attempt: { number: own.attempt, kind: 'initial', startedAt: 0, usedMs: 0, workerId: 'w', workerInstanceId: 'i' },
    lastLease: ended === undefined ? undefined : { id: own.leaseId, epoch: own.epoch, how: ended, until: undefined },
  }
}

function codeAt(now: number, one: Execution, fence: Fence): string {
  return refuseUnlessHeld({ now } as Tx, one, fence)?.code ?? 'held'
}

const others: { name: string; fence: Fence }[] = [
  { name: 'another lease id', fence: { ...own, leaseId: 'other' } },
  { name: 'an older epoch', fence: { ...own, epoch: 3 } },
  { name: 'a newer epoch', fence: { ...own, epoch: 5 } },
  { name: 'another attempt', fence: { ...own, attempt: 1 } },
]

describe('a fence', () => {
  test('of the live lease is let through until the very moment of expiry', () => {
    expect(codeAt(EXPIRES_AT - 1, execution(held), own)).toBe('held')
    expect(codeAt(EXPIRES_AT, execution(held), own)).toBe('lease_expired')
  })

  test.each(others)('with $name is stale', ({ fence }) => {
    expect(codeAt(0, execution(held), fence)).toBe('stale_lease')
  })

  test.each(others)('with $name is refused as expired once the lease has expired', ({ fence }) => {
    expect(codeAt(EXPIRES_AT, execution(held), fence)).toBe('lease_expired')
  })

  test.each<{ how: LeaseEnd; code: string }>([
    { how: 'lease_expired', code: 'lease_expired' },
    { how: 'lease_revoked', code: 'lease_revoked' },
    { how: 'released', code: 'execution_not_active' },
    { how: 'failed', code: 'execution_not_active' },
    { how: 'completed', code: 'execution_not_active' },
  ])('whose lease ended as $how is refused with $code', ({ how, code }) => {
    expect(codeAt(0, execution({ phase: 'eligible' }, how), own)).toBe(code)
  })

  test.each(others)('with $name does not learn how the last lease ended', ({ fence }) => {
    expect(codeAt(0, execution({ phase: 'eligible' }, 'lease_revoked'), fence)).toBe('execution_not_active')
  })
})

describe('a call that a former holder repeats', () => {
  test('is known by lease, epoch and attempt together', () => {
    const released = execution({ phase: 'eligible' }, 'released')

    expect(leaseEnded(released, own, 'released')).toBe(true)
    expect(others.map(({ fence }) => leaseEnded(released, fence, 'released'))).toEqual([false, false, false, false])
  })

  test('is not known if the lease ended in another way', () => {
    expect(leaseEnded(execution({ phase: 'eligible' }, 'released'), own, 'completed')).toBe(false)
    expect(leaseEnded(execution({ phase: 'eligible' }), own, 'completed')).toBe(false)
  })
})

test('a fence is current until the next claim of the execution', () => {
  const one = execution(held)

  expect(isCurrent(one, own)).toBe(true)
  expect(isCurrent({ ...one, epoch: 5 }, own)).toBe(false)
  expect(isCurrent({ ...one, attempt: undefined }, own)).toBe(false)
})
