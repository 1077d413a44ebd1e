import { describe, expect, test } from 'vitest'
import { newJournal } from './journal-ids.ts'
import type { Journal } from '../model/journal-schema.ts'
import { PRIORITY_MAX } from '../limits.ts'
import type { Execution, ExecutionState } from '../model/records.ts'
import { unpackRecord } from '../model/schema.ts'
import {
  claimScore,
  dueAt,
  hasCompensations,
  hasStepsToUndo,
  isAtRest,
  isKeptForParent,
  isPastDeadline,
  isPastUnwinding,
  unwindingUntil,
} from './execution-state.ts'
import { publicState, publicStates } from '../model/public-state.ts'

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
    unadmitted: undefined,
  }
}

function delayed(until: number): ExecutionState {
  return { phase: 'delayed', until, cause: 'resume' }
}

function suspended(timers: { until?: number; remindAt?: number }): ExecutionState {
  return { phase: 'suspended', step: 's', reason: 'signal', until: timers.until, remindAt: timers.remindAt }
}

const shown: { state: ExecutionState; word: string }[] = [
  { state: { phase: 'eligible' }, word: 'waiting' },
  { state: { phase: 'delayed', until: 5, cause: 'retry' }, word: 'delayed' },
  { state: { phase: 'blocked', by: 'dependencies', gate: undefined }, word: 'waiting_dependencies' },
  { state: { phase: 'blocked', by: 'hold', gate: undefined }, word: 'waiting' },
  { state: active({}), word: 'active' },
  { state: suspended({}), word: 'suspended' },
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

  test('takes on every public word but rate_limited, which is reserved for limits', () => {
    const reached = new Set<string>(shown.map(({ word }) => word))
    expect(publicStates.filter((word) => !reached.has(word))).toEqual(['rate_limited'])
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
    {
      when: 'blocked, by its deadline',
      state: { phase: 'blocked', by: 'hold', gate: undefined },
      deadlineAt: 9,
      due: 9,
    },
    { when: 'suspended without a time', state: suspended({}), due: undefined },
    { when: 'suspended, by the end of its wait', state: suspended({ until: 5, remindAt: 7 }), deadlineAt: 9, due: 5 },
    { when: 'suspended, by its next reminder', state: suspended({ until: 8, remindAt: 7 }), deadlineAt: 9, due: 7 },
    { when: 'suspended, by its deadline', state: suspended({ until: 12 }), deadlineAt: 9, due: 9 },
    { when: 'active, by its lease', state: active({}), due: 1_000 },
    { when: 'active, by its timeout', state: active({ timeoutAt: 700 }), due: 700 },
    { when: "active, by the cancel's grace", state: active({ timeoutAt: 700, forceAt: 600 }), due: 600 },
    { when: 'active, by its lease, which ends first', state: active({ timeoutAt: 1_001, forceAt: 1_002 }), due: 1_000 },
    { when: 'active, by its deadline', state: active({ timeoutAt: 700 }), deadlineAt: 9, due: 9 },
    { when: 'ended: never', state: ended('failed'), deadlineAt: 9, due: undefined },
  ])('$when', ({ state, deadlineAt, due }) => {
    expect(dueAt(execution({ state, deadlineAt }))).toBe(due)
  })

  const lastReplay = { requestId: 'r', reason: undefined, by: undefined, at: 3 }
  const open = [
    { target: 'late', since: 1, expiresAt: 8 },
    { target: 'soon', since: 1, expiresAt: 6 },
    { target: 'always', since: 1, expiresAt: undefined },
  ]

  test.each<{ when: string; journal: Partial<Journal>; state?: ExecutionState; due: number | undefined }>([
    { when: 'with an empty journal, by nothing else', journal: {}, due: 9 },
    { when: 'with open waitpoints, by the first that closes itself', journal: { open }, due: 6 },
    { when: 'delayed until before a waitpoint closes', journal: { open }, state: delayed(5), due: 5 },
    { when: 'with steps that were set aside, by the replay', journal: { open, cuts: [{ from: 0, to: 2 }] }, due: 3 },
    { when: 'with something left of an earlier life, by the replay', journal: { life: 2, firstLife: 1 }, due: 3 },
    {
      when: 'ended: never, whatever its journal holds',
      journal: { cuts: [{ from: 0, to: 2 }] },
      state: ended('failed'),
      due: undefined,
    },
  ])('$when', ({ journal, state, due }) => {
    const one = execution({
      state: state ?? { phase: 'eligible' },
      deadlineAt: 9,
      lastReplay,
      journal: { ...newJournal(0, 0), ...journal },
    })

    expect(dueAt(one)).toBe(due)
  })

  test('that was replaced, by its creation', () => {
    const journal = newJournal(1, 0)

    expect(dueAt(execution({ state: { phase: 'eligible' }, createdAt: 2, deadlineAt: 9, journal }))).toBe(2)
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

const unwinding = {
  outcome: 'cancelled',
  reason: '',
  by: undefined,
  at: 0,
  until: 9,
  leftMs: 7,
  failure: undefined,
  undoFailure: undefined,
  incompleteRuns: undefined,
} as const

describe('the time to undo steps', () => {
  const waiting = execution({ state: { phase: 'eligible' }, unwinding })
  const running = execution({ state: { ...active({}), runningSince: 20 } as ExecutionState, unwinding })

  test('runs while a handler does, and is stored while none does', () => {
    expect([waiting, running, execution({ state: { phase: 'eligible' } })].map(unwindingUntil)).toEqual([
      9,
      27,
      undefined,
    ])
  })

  test('is over from its instant on', () => {
    expect([8, 9, 10].map((now) => isPastUnwinding(waiting, now))).toEqual([false, true, true])
    expect([26, 27].map((now) => isPastUnwinding(running, now))).toEqual([false, true])
  })

  test('is not over for a handler whose lease ends first, nor for an execution that has ended or undoes nothing', () => {
    const leased = (runningSince: number): Execution =>
      execution({ state: { ...active({}), runningSince } as ExecutionState, unwinding })

    expect([992, 993].map((since) => isPastUnwinding(leased(since), 2_000))).toEqual([true, false])
    expect(isPastUnwinding(execution({ state: ended('failed'), unwinding }), 10)).toBe(false)
    expect(isPastUnwinding(execution({ state: { phase: 'eligible' } }), 10)).toBe(false)
  })
})

test('a child is kept for its parent until the parent has released it', () => {
  const child = (fields: object): Execution => execution({ parent: { ...fields } as Execution['parent'] })

  expect([child({}), child({ isDetached: true }), child({ isReleased: true })].map(isKeptForParent)).toEqual([
    true,
    false,
    false,
  ])
  expect(isKeptForParent(execution({}))).toBe(false)
})

describe('a deadline', () => {
  test('is past from its instant on, and without one never', () => {
    const waiting = execution({ state: { phase: 'eligible' }, deadlineAt: 5 })

    expect([4, 5, 6].map((now) => isPastDeadline(waiting, now))).toEqual([false, true, true])
    expect(isPastDeadline({ ...waiting, deadlineAt: undefined }, 6)).toBe(false)
  })

  test('does not concern an execution that has ended, or that undoes its steps', () => {
    expect(isPastDeadline(execution({ state: ended('completed'), deadlineAt: 5 }), 6)).toBe(false)
    expect(isPastDeadline(execution({ state: { phase: 'eligible' }, deadlineAt: 5, unwinding }), 6)).toBe(false)
  })
})

test('steps can be undone once one has completed, until they are removed', () => {
  const withJournal = (fields: Partial<Journal>): Execution =>
    execution({ journal: { ...newJournal(0, 0), ...fields } })

  expect(hasStepsToUndo(withJournal({ hasCompletedSteps: true }))).toBe(true)
  expect(hasStepsToUndo(withJournal({}))).toBe(false)
  expect(hasStepsToUndo(withJournal({ hasCompletedSteps: true, isRemoving: true }))).toBe(false)
  expect(hasStepsToUndo(withJournal({ compensationCount: 1 }))).toBe(true)
  expect(hasStepsToUndo(execution({}))).toBe(false)
})

test('an execution that waits for a worker or has ended is at rest, unless a flow or a parent refers to it', () => {
  const states: [ExecutionState, boolean][] = [
    [{ phase: 'eligible' }, true],
    [delayed(5), true],
    [ended('failed'), true],
    [active({}), false],
    [suspended({}), false],
    [{ phase: 'blocked', by: 'hold', gate: undefined }, false],
  ]
  const parent = { executionId: 'parent' } as Execution['parent']
  const member = { flowId: 'flow' } as Execution['member']

  for (const [state, expected] of states) {
    expect([state.phase, isAtRest(execution({ state }))]).toEqual([state.phase, expected])
    expect(isAtRest(execution({ state, parent }))).toBe(false)
    expect(isAtRest(execution({ state, member }))).toBe(false)
  }
  expect(isAtRest(unpackRecord('flow', []))).toBe(false)
  expect(isAtRest(unpackRecord('duties', []))).toBe(true)
})

test('compensations run once one was registered, until they are removed', () => {
  const withJournal = (fields: Partial<Journal>): Execution =>
    execution({ journal: { ...newJournal(0, 0), ...fields } })

  expect(hasCompensations(withJournal({ compensationCount: 0 }))).toBe(true)
  expect(hasCompensations(withJournal({ compensationCount: 1, isRemoving: true }))).toBe(false)
  expect([withJournal({}), execution({})].map(hasCompensations)).toEqual([false, false])
})
