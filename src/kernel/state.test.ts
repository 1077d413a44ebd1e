import { describe, expect, test } from 'vitest'
import { PRIORITY_MAX } from './limits.ts'
import type { Execution, ExecutionState } from './records.ts'
import { unpackRecord } from './schema.ts'
import { claimScore, dueAt, publicState, publicStates } from './state.ts'

function execution(fields: Partial<Execution>): Execution {
  return { ...unpackRecord('execution', []), ...fields }
}

function ended(outcome: Extract<ExecutionState, { phase: 'ended' }>['outcome']): ExecutionState {
  return { phase: 'ended', outcome, at: 1, reason: undefined, by: undefined }
}

function active(timers: { timeoutAt?: number; forceAt?: number }): ExecutionState {
  return {
    phase: 'active',
    lease: { id: 'l', workerId: 'w', workerInstanceId: 'i', acquiredAt: 0, expiresAt: 1_000 },
    timeoutAt: timers.timeoutAt,
    cancel: timers.forceAt === undefined ? undefined : { reason: '', by: '', at: 0, forceAt: timers.forceAt },
    runningSince: 0,
  }
}

const shown: { state: ExecutionState; word: string }[] = [
  { state: { phase: 'eligible' }, word: 'waiting' },
  { state: { phase: 'delayed', until: 5, cause: 'retry' }, word: 'delayed' },
  { state: { phase: 'blocked', by: 'dependencies' }, word: 'waiting_children' },
  { state: { phase: 'blocked', by: 'budget' }, word: 'rate_limited' },
  { state: { phase: 'blocked', by: 'limit' }, word: 'rate_limited' },
  { state: { phase: 'blocked', by: 'operator' }, word: 'waiting' },
  { state: { phase: 'blocked', by: 'hold' }, word: 'waiting' },
  { state: active({}), word: 'active' },
  { state: { phase: 'suspended', suspensionId: 's' }, word: 'suspended' },
  { state: ended('completed'), word: 'completed' },
  { state: ended('failed'), word: 'failed' },
  { state: ended('cancelled'), word: 'cancelled' },
  { state: ended('expired'), word: 'expired' },
  { state: ended('skipped'), word: 'skipped' },
]

describe('the public state', () => {
  test.each(shown)('of $state.phase is $word', ({ state, word }) => {
    expect(publicState(state)).toBe(word)
  })

  test('takes on every public word', () => {
    expect(new Set(shown.map(({ word }) => word))).toEqual(new Set(publicStates))
  })
})

describe('the moment at which time alone changes an execution', () => {
  test.each<{ when: string; state: ExecutionState; deadlineAt?: number; due: number | undefined }>([
    { when: 'waiting without a deadline', state: { phase: 'eligible' }, due: undefined },
    { when: 'waiting, by its deadline', state: { phase: 'eligible' }, deadlineAt: 9, due: 9 },
    { when: 'delayed, by its delay', state: { phase: 'delayed', until: 5, cause: 'submitted' }, deadlineAt: 9, due: 5 },
    {
      when: 'delayed past its deadline',
      state: { phase: 'delayed', until: 12, cause: 'retry' },
      deadlineAt: 9,
      due: 9,
    },
    { when: 'blocked, by its deadline', state: { phase: 'blocked', by: 'budget' }, deadlineAt: 9, due: 9 },
    { when: 'suspended, by its deadline', state: { phase: 'suspended', suspensionId: 's' }, deadlineAt: 9, due: 9 },
    { when: 'active, by its lease', state: active({}), due: 1_000 },
    { when: 'active, by its timeout', state: active({ timeoutAt: 700 }), due: 700 },
    { when: "active, by the cancel's grace", state: active({ timeoutAt: 700, forceAt: 600 }), due: 600 },
    { when: 'active, by its deadline', state: active({ timeoutAt: 700 }), deadlineAt: 9, due: 9 },
    { when: 'ended: never', state: ended('failed'), deadlineAt: 9, due: undefined },
  ])('$when', ({ state, deadlineAt, due }) => {
    expect(dueAt(execution({ state, deadlineAt }))).toBe(due)
  })
})

describe('the order of claiming', () => {
  const now = 1_790_000_000_000
  const YEAR_MS = 31_557_600_000

  test('puts the higher priority first, even if the other is decades older', () => {
    const old = claimScore(execution({ priority: 3, createdAt: now - 30 * YEAR_MS }))
    const urgent = claimScore(execution({ priority: 4, createdAt: now }))

    expect(urgent).toBeLessThan(old)
  })

  test('is exact to the millisecond at every priority', () => {
    for (const priority of [0, 1, 4_500, PRIORITY_MAX]) {
      const score = claimScore(execution({ priority, createdAt: now }))

      expect(claimScore(execution({ priority, createdAt: now + 1 })) - score).toBe(1)
      expect(Number.isSafeInteger(score)).toBe(true)
    }
  })
})
