import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type {
  EdgeGroup,
  EdgeTolerance,
  Execution,
  ExecutionState,
  GroupPolicy,
  GroupVerdict,
  Membership,
  Outcome,
} from '../model/records.ts'
import { unpackRecord } from '../model/schema.ts'
import {
  countEffect,
  edgeEffect,
  hasPolicy,
  isExcusedGroup,
  isShort,
  needsMore,
  newGroup,
  reasonToCancel,
  uncountEffect,
  verdictOf,
} from './edge-group.ts'
import type { EdgeEffect, PolicyInput } from './edge-group.ts'

const allOf: PolicyInput = { policy: 'all_of' }
const anyOf: PolicyInput = { policy: 'any_of' }

const ended: PolicyInput = { policy: 'ended' }

function quorum(need: number): PolicyInput {
  return { policy: 'quorum', need }
}

interface Buckets {
  readonly total: number
  readonly completed?: number
  readonly failed?: number
  readonly skipped?: number
}

function group(policy: PolicyInput, { total, completed = 0, failed = 0, skipped = 0 }: Buckets): EdgeGroup {
  return { ...newGroup(policy), total, completed, failed, skipped }
}

function decided(policy: PolicyInput, verdict: GroupVerdict): EdgeGroup {
  return { ...newGroup(policy), verdict }
}

describe('a group that waits for all', () => {
  test.each<[Buckets, GroupVerdict]>([
    [{ total: 0 }, 'pending'],
    [{ total: 1 }, 'pending'],
    [{ total: 1, completed: 1 }, 'satisfied'],
    [{ total: 3, completed: 2 }, 'pending'],
    [{ total: 3, completed: 3 }, 'satisfied'],
    [{ total: 3, failed: 1 }, 'impossible'],
    [{ total: 3, skipped: 1 }, 'impossible'],
    [{ total: 3, completed: 2, failed: 1 }, 'impossible'],
    [{ total: 3, completed: 2, skipped: 1 }, 'impossible'],
    [{ total: 3, failed: 2, skipped: 1 }, 'impossible'],
  ])('%j: %s', (buckets, verdict) => {
    expect(verdictOf(group(allOf, buckets), true)).toBe(verdict)
  })

  test('is open again once it has one more upstream', () => {
    expect(verdictOf(group(allOf, { total: 1, completed: 1 }), true)).toBe('satisfied')
    expect(verdictOf(group(allOf, { total: 2, completed: 1 }), true)).toBe('pending')
  })
})

describe('a group that waits for any', () => {
  test.each<[Buckets, GroupVerdict]>([
    [{ total: 0 }, 'pending'],
    [{ total: 1 }, 'pending'],
    [{ total: 3, completed: 1 }, 'satisfied'],
    [{ total: 3, completed: 1, failed: 2 }, 'satisfied'],
    [{ total: 3, failed: 2 }, 'pending'],
    [{ total: 3, failed: 1, skipped: 1 }, 'pending'],
    [{ total: 3, failed: 3 }, 'impossible'],
    [{ total: 3, failed: 1, skipped: 2 }, 'impossible'],
    [{ total: 1, skipped: 1 }, 'impossible'],
  ])('%j: %s', (buckets, verdict) => {
    expect(verdictOf(group(anyOf, buckets), true)).toBe(verdict)
  })
})

describe('a group that waits for the end of all', () => {
  test.each<[Buckets, GroupVerdict]>([
    [{ total: 0 }, 'pending'],
    [{ total: 3, completed: 2 }, 'pending'],
    [{ total: 3, failed: 1, skipped: 1 }, 'pending'],
    [{ total: 3, completed: 3 }, 'satisfied'],
    [{ total: 3, completed: 1, failed: 1, skipped: 1 }, 'satisfied'],
    [{ total: 2, skipped: 2 }, 'satisfied'],
  ])('%j: %s', (buckets, verdict) => {
    const tolerated = (buckets.failed ?? 0) + (buckets.skipped ?? 0)
    expect(verdictOf({ ...group(ended, buckets), tolerated }, true)).toBe(verdict)
  })
})

describe('the end of an upstream', () => {
  const lost: readonly Outcome[] = ['failed', 'cancelled', 'expired', 'skipped']

  test.each<[GroupPolicy, EdgeTolerance | undefined, EdgeEffect]>([
    ['all_of', undefined, 'lost'],
    ['all_of', 'continue', 'tolerated'],
    ['all_of', 'ignore', 'tolerated'],
    ['any_of', undefined, 'lost'],
    ['any_of', 'continue', 'tolerated'],
    ['quorum', undefined, 'lost'],
    ['quorum', 'ignore', 'tolerated'],
    ['ended', undefined, 'tolerated'],
    ['ended', 'ignore', 'tolerated'],
  ])('in %s with onFailure %s is %s unless it completed', (policy, onFailure, effect) => {
    expect(lost.map((outcome) => edgeEffect(policy, onFailure, outcome, false))).toEqual(lost.map(() => effect))
    expect(edgeEffect(policy, onFailure, 'completed', false)).toBe('met')
  })

  test('is excused if a condition skipped it and the edge does not tolerate it', () => {
    expect(edgeEffect('all_of', undefined, 'skipped', true)).toBe('excused')
    expect(edgeEffect('all_of', 'continue', 'skipped', true)).toBe('tolerated')
    expect(edgeEffect('ended', undefined, 'skipped', true)).toBe('tolerated')
  })

  test('is lost if it failed, even if an upstream that a condition skips would be excused', () => {
    expect(edgeEffect('all_of', undefined, 'failed', true)).toBe('lost')
  })

  test('counts once, and not at all once it is reverted', () => {
    const one = group(allOf, { total: 3 })
    countEffect(one, 'completed', 'met')
    countEffect(one, 'failed', 'tolerated')
    countEffect(one, 'skipped', 'excused')
    expect(one).toMatchObject({ completed: 1, failed: 1, skipped: 1, tolerated: 1, excused: 1 })
    expect(verdictOf(one, false)).toBe('impossible')
    uncountEffect(one, 'skipped', 'excused')
    expect(one).toMatchObject({ skipped: 0, excused: 0 })
    expect(verdictOf(one, false)).toBe('pending')
  })
})

describe('a group that cannot be satisfied', () => {
  test.each<[string, [Outcome, EdgeEffect][], boolean]>([
    ['by conditions alone', [['skipped', 'excused']], true],
    ['by a failure', [['failed', 'lost']], false],
    [
      'by both',
      [
        ['skipped', 'excused'],
        ['failed', 'lost'],
      ],
      false,
    ],
    [
      'by a condition, beside a failure that it tolerates',
      [
        ['failed', 'tolerated'],
        ['skipped', 'excused'],
      ],
      true,
    ],
  ])('%s', (_, ends, isExcused) => {
    const one = group(quorum(3), { total: 3 })
    for (const [outcome, effect] of ends) countEffect(one, outcome, effect)
    one.verdict = verdictOf(one, false)

    expect(one.verdict).toBe('impossible')
    expect(isExcusedGroup(one)).toBe(isExcused)
    expect(reasonToCancel(one)).toBe(isExcused ? 'sibling_quorum_skipped' : 'sibling_quorum_impossible')
  })
})

test('a group is excused only if it is impossible and has lost an upstream', () => {
  const lost = { ...group(quorum(3), { total: 3, skipped: 1 }), excused: 1 }

  expect(isExcusedGroup({ ...lost, verdict: 'impossible' })).toBe(true)
  expect(isExcusedGroup({ ...lost, verdict: 'pending' })).toBe(false)
  // The flow was sealed before the group had as many upstreams as it needs.
  const short: EdgeGroup = { ...group(quorum(3), { total: 2 }), verdict: 'impossible' }
  expect([short, { ...short, excused: 0 }].map(isExcusedGroup)).toEqual([false, false])
})

test('a new group is pending, and lets its upstreams run if it needs all of them', () => {
  const losers = (policy: PolicyInput) => newGroup({ ...policy, losers: 'cancel' }).losers

  expect(newGroup(allOf).verdict).toBe('pending')
  expect([allOf, ended, anyOf, quorum(2)].map(losers)).toEqual(['let_run', 'let_run', 'cancel', 'cancel'])
})

test('every tolerated end counts', () => {
  const one = group(allOf, { total: 2 })
  countEffect(one, 'failed', 'tolerated')
  countEffect(one, 'expired', 'tolerated')

  expect(one).toMatchObject({ failed: 2, tolerated: 2 })
  expect(verdictOf(one, false)).toBe('satisfied')
})

test('a group with too few upstreams is impossible once it cannot grow', () => {
  const short = group(quorum(3), { total: 2 })

  expect([true, false].map((mayGrow) => verdictOf(short, mayGrow))).toEqual(['pending', 'impossible'])
})

test('only a quorum with a number, and a group that waits for any, need a number of upstreams', () => {
  const needs = [allOf, ended, anyOf, quorum(3), { policy: 'quorum' } as const].map((policy) => newGroup(policy).need)
  expect(needs).toEqual([0, 0, 1, 3, 0])
})

describe('a group that waits for three', () => {
  test.each<[Buckets, GroupVerdict]>([
    [{ total: 5, completed: 2 }, 'pending'],
    [{ total: 5, completed: 3 }, 'satisfied'],
    [{ total: 5, completed: 3, failed: 2 }, 'satisfied'],
    [{ total: 5, failed: 2 }, 'pending'],
    [{ total: 5, completed: 2, failed: 2 }, 'pending'],
    [{ total: 5, failed: 3 }, 'impossible'],
    [{ total: 5, completed: 2, failed: 2, skipped: 1 }, 'impossible'],
    [{ total: 3, failed: 1 }, 'impossible'],
  ])('%j: %s', (buckets, verdict) => {
    expect(verdictOf(group(quorum(3), buckets), true)).toBe(verdict)
  })

  test.each<Buckets>([
    { total: 0 },
    { total: 1, completed: 1 },
    { total: 2, completed: 1, failed: 1 },
    { total: 2, failed: 2 },
    { total: 2, failed: 1, skipped: 1 },
  ])('is undecided as long as it has fewer upstreams than it needs, since it may still grow: %j', (buckets) => {
    expect(verdictOf(group(quorum(3), buckets), true)).toBe('pending')
  })

  test('is impossible with its third upstream if one before that was lost', () => {
    expect(verdictOf(group(quorum(3), { total: 3, completed: 1, failed: 1 }), true)).toBe('impossible')
    expect(verdictOf(group(quorum(3), { total: 4, completed: 1, failed: 1 }), true)).toBe('pending')
  })
})

const policies: readonly PolicyInput[] = [allOf, anyOf, quorum(1), quorum(2), quorum(4)]
const outcomes = ['completed', 'failed', 'skipped'] as const

test('what a whole group comes to does not depend on the order in which its upstreams end', () => {
  const upstreams = fc.array(fc.constantFrom(...outcomes), { minLength: 4, maxLength: 8 })
  const run = (policy: PolicyInput, ends: readonly (typeof outcomes)[number][]): GroupVerdict => {
    const one = group(policy, { total: ends.length })
    // The first decision stands, whatever ends later.
    for (const end of ends) {
      one[end] += 1
      if (one.verdict === 'pending') one.verdict = verdictOf(one, true)
    }
    return one.verdict
  }
  fc.assert(
    fc.property(fc.constantFrom(...policies), upstreams, fc.nat(), (policy, ends, seed) => {
      const turned = ends.map((_, i) => ends[(i + seed) % ends.length]!).reverse()
      const verdict = run(policy, ends)

      expect(run(policy, turned)).toBe(verdict)
      expect(verdict).not.toBe('pending')
    }),
  )
})

test('a group is short as long as it has fewer upstreams than it needs', () => {
  expect([0, 1, 2].map((total) => needsMore(group(quorum(2), { total })))).toEqual([true, true, false])
  expect([0, 1].map((total) => needsMore(group(anyOf, { total })))).toEqual([true, false])
  expect([0, 1].map((total) => needsMore(group(allOf, { total })))).toEqual([false, false])
  expect(needsMore(undefined)).toBe(false)
})

test('a member is short while its group is, and it has not ended', () => {
  const waiting = { ...unpackRecord('execution', []), state: { phase: 'blocked', by: 'dependencies' } } as Execution
  const inGroup = (one: EdgeGroup | undefined): Execution => ({ ...waiting, member: { group: one } as Membership })
  const ended: ExecutionState = { phase: 'ended', outcome: 'skipped', at: 1, reason: undefined, by: undefined }
  const short = group(quorum(2), { total: 1 })

  expect(isShort(inGroup(short))).toBe(true)
  expect(isShort({ ...inGroup(short), state: ended })).toBe(false)
  expect([inGroup(group(quorum(2), { total: 2 })), inGroup(undefined), waiting].map(isShort)).toEqual([
    false,
    false,
    false,
  ])
})

describe('those that a decided group no longer needs', () => {
  test.each<[PolicyInput, GroupVerdict, string | undefined]>([
    [anyOf, 'satisfied', 'sibling_quorum_satisfied'],
    [anyOf, 'impossible', 'sibling_quorum_impossible'],
    [anyOf, 'pending', undefined],
    [quorum(2), 'satisfied', 'sibling_quorum_satisfied'],
    [quorum(2), 'impossible', 'sibling_quorum_impossible'],
    [{ ...anyOf, losers: 'let_run' }, 'satisfied', undefined],
    [{ ...quorum(2), losers: 'let_run' }, 'impossible', undefined],
    [allOf, 'satisfied', undefined],
    [allOf, 'impossible', undefined],
    [{ ...allOf, losers: 'cancel' }, 'impossible', undefined],
    [{ policy: 'ended', losers: 'cancel' }, 'satisfied', undefined],
  ])('%j, %s: %s', (policy, verdict, reason) => {
    expect(reasonToCancel(decided(policy, verdict))).toBe(reason)
  })
})

test('a policy is the same only if its number and its losers are, too', () => {
  const two = newGroup(quorum(2))

  expect(hasPolicy(two, quorum(2))).toBe(true)
  expect(hasPolicy(two, { ...quorum(2), losers: 'cancel' })).toBe(true)
  expect(hasPolicy(two, { ...quorum(2), losers: 'let_run' })).toBe(false)
  expect(hasPolicy(two, quorum(3))).toBe(false)
  expect(hasPolicy(newGroup(anyOf), quorum(1))).toBe(false)
})
