import { describe, expect, test } from 'vitest'
import { ACCOUNT_IDLE_MS, BUDGET_PLAN_LOW, DURATION_MAX_MS, OWN_ACCOUNT_IDLE_MS } from '../limits.ts'
import type { Account, Budget } from '../model/budget-schema.ts'
import { unpackRecord } from '../model/schema.ts'
import {
  boundaryBefore,
  budgetDueAt,
  exhaustedOf,
  heldUntilOf,
  isIdleAccount,
  lacksBudgetBoundaries,
  lastBoundary,
  limitOfBudget,
  nextPeriod,
  nextReset,
  presentAccount,
  shortageOf,
} from './budget-state.ts'

const cost = (value: number) => [{ dimension: 'cost', value }]
const budget = (fields: Partial<Budget>): Budget => ({
  ...unpackRecord('budget', []),
  hard: cost(10),
  boundaries: [],
  ...fields,
})
const account = (fields: Partial<Account>): Account => ({
  ...unpackRecord('account', []),
  spent: [],
  reserved: [],
  raised: [],
  tasks: [],
  removedNow: [],
  ...fields,
})
const daily = { every: 'day', cron: '0 0 * * *', timeZone: 'UTC' }

describe('the boundaries of a budget', () => {
  test('of those that have passed, one that is now included, the last one counts', () => {
    const boundaries = [10, 20, 30]
    expect([9, 10, 25, 30].map((now) => boundaryBefore(budget({ since: 5, boundaries }), now))).toEqual([5, 10, 20, 30])
    expect(boundaryBefore(budget({ boundaries }), 9)).toBeUndefined()
  })

  test('the next one is after now', () => {
    const boundaries = [10, 20]
    expect([9, 10, 19, 20].map((now) => nextReset(budget({ boundaries }), now))).toEqual([10, 20, 20, undefined])
  })

  test('too few are those that are ahead of now', () => {
    const boundaries = Array.from({ length: BUDGET_PLAN_LOW + 1 }, (_, i) => 10 * (i + 1))
    expect(lacksBudgetBoundaries(budget({ boundaries: [] }), 0)).toBe(false)
    expect([0, 9, 10].map((now) => lacksBudgetBoundaries(budget({ period: daily, boundaries }), now))).toEqual([
      false,
      false,
      true,
    ])
  })

  test.each([
    { boundaries: [], planAt: undefined, dueAt: undefined },
    { boundaries: [10, 20], planAt: undefined, dueAt: 10 },
    { boundaries: [], planAt: 7, dueAt: 7 },
    { boundaries: [10], planAt: 7, dueAt: 7 },
    { boundaries: [5], planAt: 7, dueAt: 5 },
  ])('with $boundaries and a plan at $planAt, its timer is $dueAt', ({ dueAt, ...fields }) => {
    expect(budgetDueAt(budget(fields))).toBe(dueAt)
  })

  test('further ones are computed from the last one, the beginning, or its creation', () => {
    expect(lastBoundary(budget({ boundaries: [10, 20], since: 5, createdAt: 1 }), 15)).toBe(20)
    expect(lastBoundary(budget({ boundaries: [], since: 5, createdAt: 1 }), 15)).toBe(5)
    expect(lastBoundary(budget({ boundaries: [], createdAt: 1 }), 15)).toBe(1)
    expect(lastBoundary(budget({ boundaries: [], createdAt: 20 }), 15)).toBe(15)
  })
})

describe('the room of an account', () => {
  test('may be used up exactly, and is spent, reserved and asked for together', () => {
    const used = account({ spent: cost(4), reserved: cost(3), raised: cost(2) })

    expect(shortageOf(budget({}), used, cost(5))).toBeUndefined()
    expect(shortageOf(budget({}), used, cost(6))).toEqual({
      dimension: 'cost',
      spent: 4,
      reserved: 3,
      hard: 12,
      asked: 6,
    })
  })

  test('lacks only in dimensions that are asked for', () => {
    const over = account({ spent: cost(11) })

    expect(shortageOf(budget({}), over, [{ dimension: 'tokens', value: 5 }])).toBeUndefined()
    expect(shortageOf(budget({}), over, cost(0))).toMatchObject({ asked: 0 })
  })

  test('is exhausted once nothing is left', () => {
    expect(exhaustedOf(budget({}), account({ spent: cost(4), reserved: cost(5) }))).toBeUndefined()
    expect(exhaustedOf(budget({}), account({ spent: cost(4), reserved: cost(8), raised: cost(2) }))).toEqual({
      dimension: 'cost',
      spent: 4,
      reserved: 8,
      hard: 12,
      asked: 0,
    })
  })
})

describe('new work of a key is held back', () => {
  const exhausted = account({ spent: cost(10), since: 7 })

  test('by a freeze, whatever was spent', () => {
    expect(heldUntilOf(budget({ freeze: { at: 3, by: undefined, reason: undefined } }), undefined, 5)).toBe(
      3 + DURATION_MAX_MS,
    )
  })

  test('while it is exhausted, until the budget begins anew', () => {
    expect(heldUntilOf(budget({ onBreach: 'refuse_new', boundaries: [20] }), exhausted, 5)).toBe(20)
    expect(heldUntilOf(budget({ onBreach: 'cancel' }), exhausted, 5)).toBe(7 + DURATION_MAX_MS)
  })

  test('not otherwise', () => {
    expect(heldUntilOf(budget({ onBreach: 'refuse_new' }), account({ spent: cost(9) }), 5)).toBeUndefined()
    expect(heldUntilOf(budget({ onBreach: 'refuse_new' }), undefined, 5)).toBeUndefined()
    expect(heldUntilOf(budget({ onBreach: 'warn' }), exhausted, 5)).toBeUndefined()
    expect(heldUntilOf(budget({ onBreach: 'suspend' }), exhausted, 5)).toBeUndefined()
    expect(heldUntilOf(budget({ onBreach: 'refuse_new', deletedAt: 4 }), exhausted, 5)).toBeUndefined()
  })
})

describe('the sums of an account', () => {
  const full = account({
    period: 3,
    since: 10,
    spent: cost(4),
    reserved: cost(2),
    raised: cost(1),
    chargeCount: 9,
    tasks: [{ namespace: '', task: 't', count: 1, spent: cost(4) }],
    total: cost(30),
    removedNow: cost(1),
    warned: ['cost'],
  })

  test('count in the period in which they were made, and no more after it', () => {
    expect(presentAccount(budget({}), full, 50)).toBe(full)
    expect(presentAccount(budget({ since: 10 }), full, 50)).toBe(full)
    expect(presentAccount(budget({ since: 9 }), full, 50)).toBe(full)
    expect(presentAccount(budget({ boundaries: [20] }), full, 19)).toBe(full)
    expect(presentAccount(budget({ boundaries: [20] }), full, 20)).toEqual(nextPeriod(full, 20))
  })

  test('begin anew without what is reserved and the totals', () => {
    expect(nextPeriod(full, 20)).toEqual(
      account({ period: 4, since: 20, reserved: cost(2), total: cost(30), chargeCount: 0, warned: undefined }),
    )
  })
})

/** The key of the account of an execution. */
const OWN_KEY = '1-018f4a3e-7b6b-7000-8000-000000000000'

describe('an account may be removed', () => {
  const idle = (fields: Partial<Account>, of: Partial<Budget> = {}, ms = ACCOUNT_IDLE_MS) =>
    isIdleAccount(budget(of), account({ raises: [], createdAt: 5, since: 3, reservationCount: 0, ...fields }), 5 + ms)

  test('once it was not used for long, and nothing of it applies', () => {
    expect([idle({}), idle({}, {}, ACCOUNT_IDLE_MS - 1)]).toEqual([true, false])
    expect([idle({ spent: cost(1) }), idle({ raised: cost(1) }), idle({ reservationCount: 1 })]).toEqual([
      false,
      false,
      false,
    ])
    expect(idle({ spent: cost(1) }, { boundaries: [9] })).toBe(true)
  })

  test('counted from its last use, of whatever kind', () => {
    const raise = (at: number) => ({ id: 'r', at, amounts: [], by: undefined })

    expect([idle({ breachedAt: 6 }), idle({ chargedAt: 6 }), idle({ raises: [raise(4), raise(6)] })]).toEqual([
      false,
      false,
      false,
    ])
    expect([idle({ since: 6, resetId: 'x' }), idle({ since: 6 })]).toEqual([false, true])
    expect([idle({ breachedAt: 5 }), idle({ chargedAt: 5 }), idle({ raises: [raise(5)] })]).toEqual([true, true, true])
  })

  test('later if it is that of an execution, whatever was spent', () => {
    const own = { isPerExecution: true }

    expect([
      idle({ key: OWN_KEY, spent: cost(1) }, own, OWN_ACCOUNT_IDLE_MS),
      idle({ key: OWN_KEY }, own, OWN_ACCOUNT_IDLE_MS - 1),
    ]).toEqual([true, false])
    expect(idle({ key: OWN_KEY, reservationCount: 1 }, own, OWN_ACCOUNT_IDLE_MS)).toBe(false)
  })

  test('not if it is that of a key from before its budget was one for each execution', () => {
    const own = { isPerExecution: true }
    const keys = ['acme', '', '1-acme', `f${OWN_KEY}`, `${OWN_KEY}.`]

    expect(keys.filter((key) => idle({ key, spent: cost(1) }, own, OWN_ACCOUNT_IDLE_MS))).toEqual([])
    expect(idle({ key: `${OWN_KEY}.2`, spent: cost(1) }, own, OWN_ACCOUNT_IDLE_MS)).toBe(true)
  })
})

test('a budget as a limit has neither a rate nor a cap', () => {
  const { id, version, createdAt, changedAt, changedBy } = budget({ id: 'b', version: 2, createdAt: 3, changedAt: 4 })

  expect(limitOfBudget(budget({ id, version, createdAt, changedAt }))).toEqual({
    ...unpackRecord('limit_definition', []),
    ...{ id, version, createdAt, changedAt, changedBy },
  })
})
