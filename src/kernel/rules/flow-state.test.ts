import { describe, expect, test } from 'vitest'
import type { Execution, ExecutionState, Flow, FlowState, FlowWalk, MemberCounts } from '../model/records.ts'
import { unpackRecord } from '../model/schema.ts'
import {
  BY_FLOW,
  LOST_TO_CONDITION,
  LOST_TO_FAILURE,
  LOST_TO_SIBLING,
  bucketIn,
  bucketOf,
  flowDueAt,
  flowOutcome,
  groupBucket,
  isExcused,
  isFailure,
  isFlowFinished,
  isGivingWay,
  liveCount,
  mayGrow,
  movesMembers,
  newWalk,
  noMembers,
  publicFlowState,
  standingOf,
  stopsMembers,
} from './flow-state.ts'
import type { MemberBucket, PublicFlowState, Standing } from './flow-state.ts'

const CHANGED_AT = 700

function flow(state: FlowState, counts: Partial<MemberCounts> = {}, fields: Partial<Flow> = {}): Flow {
  const all = { ...noMembers(), ...counts }
  const memberCount = Object.values(all as unknown as Record<string, number>).reduce((sum, count) => sum + count, 0)
  const empty = unpackRecord('flow', [])
  return { ...empty, state, counts: all, memberCount, outcomeRule: 'all_members', changedAt: CHANGED_AT, ...fields }
}

const held: FlowState = { phase: 'held', until: undefined }
const open: FlowState = { phase: 'open' }
const sealed: FlowState = { phase: 'sealed' }

function cancelled(policy: 'cancel_all' | 'cancel_pending' | 'flow_only'): FlowState {
  return { phase: 'cancelled', policy, at: 5, reason: 'enough', by: 'ada', force: false, graceMs: 0 }
}

function walk(purpose: FlowWalk['purpose']): FlowWalk {
  return { purpose, fromRank: undefined, fromId: undefined, rootId: undefined }
}

describe('the public state of a flow', () => {
  describe.each([open, sealed])('that is $phase', (state) => {
    test.each<[Partial<MemberCounts>, PublicFlowState]>([
      // No members.
      [{}, 'open'],
      // All have ended.
      [{ completed: 3 }, 'completed'],
      [{ completed: 1, skipped: 1 }, 'completed'],
      [{ completed: 1, superseded: 4 }, 'completed'],
      [{ skipped: 2 }, 'completed'],
      [{ completed: 2, failed: 1 }, 'failed'],
      [{ completed: 2, expired: 1 }, 'failed'],
      [{ completed: 2, cancelled: 1 }, 'failed'],
      [{ failed: 1, skipped: 7 }, 'failed'],
      // A member is running.
      [{ active: 1 }, 'running'],
      [{ active: 1, waiting: 5, waiting_dependencies: 3 }, 'running'],
      [{ active: 1, failed: 1 }, 'running'],
      // A member could run, and one has ended.
      [{ waiting: 1, completed: 1 }, 'running'],
      [{ waiting: 1, failed: 1, waiting_dependencies: 2 }, 'running'],
      // A member could run, and none has ended.
      [{ waiting: 2 }, 'open'],
      [{ waiting: 1, waiting_dependencies: 4, delayed: 1 }, 'open'],
      // No member can run.
      [{ suspended: 1 }, 'blocked'],
      [{ delayed: 1 }, 'blocked'],
      [{ rate_limited: 1 }, 'blocked'],
      [{ waiting_dependencies: 1 }, 'blocked'],
      [{ suspended: 1, completed: 9 }, 'blocked'],
      [{ delayed: 1, failed: 1, waiting_dependencies: 2 }, 'blocked'],
    ])('%j: %s', (counts, expected) => {
      expect(publicFlowState(flow(state, counts))).toBe(expected)
    })
  })

  test('is cancelled from the moment of the cancel, whatever its members still do', () => {
    for (const policy of ['cancel_all', 'cancel_pending', 'flow_only'] as const) {
      expect(publicFlowState(flow(cancelled(policy), { active: 2, completed: 1 }))).toBe('cancelled')
      expect(publicFlowState(flow(cancelled(policy), { completed: 1 }))).toBe('cancelled')
    }
  })

  test('is what it ended with once it has ended', () => {
    expect(publicFlowState(flow({ phase: 'ended', outcome: 'completed', at: 1 }, { failed: 1 }))).toBe('completed')
    expect(publicFlowState(flow({ phase: 'ended', outcome: 'failed', at: 1 }, { completed: 1 }))).toBe('failed')
  })

  test('where only members count that nothing depends on, follows those', () => {
    const sinks = { outcomeRule: 'sinks' as const }
    expect(publicFlowState(flow(sealed, { failed: 1, completed: 1 }, sinks))).toBe('completed')
    expect(publicFlowState(flow(sealed, { skipped: 1, completed: 1 }, { ...sinks, failedSinkCount: 1 }))).toBe('failed')
  })
})

describe('the outcome of a flow', () => {
  test.each<[Partial<MemberCounts>, 'completed' | 'failed']>([
    [{ completed: 1 }, 'completed'],
    [{ completed: 1, skipped: 3, superseded: 2 }, 'completed'],
    [{ completed: 1, failed: 1 }, 'failed'],
    [{ completed: 1, expired: 1 }, 'failed'],
    [{ completed: 1, cancelled: 1 }, 'failed'],
  ])('%j: %s', (counts, outcome) => {
    expect(flowOutcome(flow(sealed, counts))).toBe(outcome)
  })
})

describe('a member counts', () => {
  function ended(outcome: 'cancelled' | 'completed' | 'skipped', reason?: string, by?: string): ExecutionState {
    return { phase: 'ended', outcome, at: 1, reason, by }
  }

  test.each<[ExecutionState, MemberBucket]>([
    [{ phase: 'eligible' }, 'waiting'],
    [{ phase: 'blocked', by: 'hold', gate: undefined }, 'waiting'],
    [{ phase: 'blocked', by: 'dependencies', gate: undefined }, 'waiting_dependencies'],
    [{ phase: 'delayed', until: 9, cause: 'retry' }, 'delayed'],
    [{ phase: 'suspended', step: 's', reason: 'signal', until: 9, remindAt: undefined }, 'suspended'],
    [ended('completed'), 'completed'],
    [ended('skipped', 'dependency_impossible', '0-a'), 'skipped'],
    [ended('cancelled', 'enough', 'ada'), 'cancelled'],
    [ended('cancelled', LOST_TO_SIBLING, BY_FLOW), 'superseded'],
    [ended('cancelled', LOST_TO_CONDITION, BY_FLOW), 'superseded'],
    [ended('cancelled', LOST_TO_FAILURE, BY_FLOW), 'cancelled'],
    // A caller may give any reason.
    [ended('cancelled', LOST_TO_SIBLING, 'ada'), 'cancelled'],
  ])('%j as %s', (state, bucket) => {
    expect(bucketOf({ ...unpackRecord('execution', []), state })).toBe(bucket)
  })

  test('as alive until it has ended', () => {
    const alive = { waiting: 1, delayed: 1, rate_limited: 1, waiting_dependencies: 1, active: 1, suspended: 1 }
    const over = { completed: 1, failed: 1, cancelled: 1, expired: 1, skipped: 1, superseded: 1 }
    expect(liveCount({ ...noMembers(), ...alive, ...over })).toBe(6)
    expect(liveCount({ ...noMembers(), ...over })).toBe(0)
  })

  test('in the groups that it feeds as completed, skipped, or failed in any way', () => {
    const outcomes = ['completed', 'failed', 'cancelled', 'expired', 'skipped'] as const
    expect(outcomes.map(groupBucket)).toEqual(['completed', 'failed', 'failed', 'failed', 'skipped'])
  })
})

describe('a member', () => {
  function withState(state: ExecutionState): Execution {
    return { ...unpackRecord('execution', []), state }
  }

  test.each(['condition', 'upstream_condition'])('that was skipped by a %s is excused', (reason) => {
    expect(isExcused(withState({ phase: 'ended', outcome: 'skipped', at: 1, reason, by: BY_FLOW }))).toBe(true)
    // A caller may give any reason.
    expect(isExcused(withState({ phase: 'ended', outcome: 'cancelled', at: 1, reason, by: 'ada' }))).toBe(false)
  })

  test('that was skipped for another reason, or has not ended, is not excused', () => {
    const reason = 'dependency_impossible'
    expect(isExcused(withState({ phase: 'ended', outcome: 'skipped', at: 1, reason, by: BY_FLOW }))).toBe(false)
    expect(isExcused(withState({ phase: 'eligible' }))).toBe(false)
  })

  test('that is excused counts as skipped', () => {
    const skipped = (reason: string): Execution =>
      withState({ phase: 'ended', outcome: 'skipped', at: 1, reason, by: BY_FLOW })

    expect(['condition', 'dependency_impossible'].map((reason) => standingOf(skipped(reason)))).toEqual([
      'excused',
      'skipped',
    ])
    expect((['excused', 'active'] as const).map(bucketIn)).toEqual(['skipped', 'active'])
  })

  test('fails its flow if it failed, expired or was cancelled', () => {
    const standings: readonly Standing[] = [...(Object.keys(noMembers()) as (keyof MemberCounts)[]), 'excused']
    expect(standings.filter(isFailure)).toEqual(['failed', 'cancelled', 'expired'])
  })
})

test('a walk begins at the first member', () => {
  expect(newWalk('cancel')).toEqual(walk('cancel'))
})

test('failures that an edge ignores do not fail a flow', () => {
  const failed = flow(sealed, { failed: 1, expired: 1 })

  expect([1, 2].map((ignoredCount) => flowOutcome({ ...failed, ignoredCount }))).toEqual(['failed', 'completed'])
  const sinks = flow(sealed, { failed: 1 }, { outcomeRule: 'sinks' })
  expect([0, 1].map((failedSinkCount) => flowOutcome({ ...sinks, failedSinkCount }))).toEqual(['completed', 'failed'])
})

test('a flow is settled once nothing in it will change by itself', () => {
  const outcomes = [
    flow(sealed, { completed: 1 }),
    flow({ phase: 'ended', outcome: 'completed', at: 1 }, { completed: 1 }),
    flow(cancelled('cancel_all'), { cancelled: 2 }),
    flow(cancelled('cancel_all'), { cancelled: 2, active: 1 }),
    flow(cancelled('cancel_all'), { cancelled: 2 }, { walk: walk('cancel') }),
    flow(cancelled('flow_only'), { waiting: 1 }),
    flow(open, { completed: 1 }),
  ]

  expect(outcomes.map(isFlowFinished)).toEqual([false, true, true, false, false, false, false])
})

test('a flow is due at once during a walk, and when its submission is abandoned', () => {
  expect(flowDueAt(flow(sealed, {}, { walk: walk('release') }))).toBe(CHANGED_AT)
  expect(flowDueAt(flow(cancelled('cancel_all'), {}, { walk: walk('cancel') }))).toBe(CHANGED_AT)
  expect(flowDueAt(flow(sealed, {}, { walk: walk('replay') }))).toBe(CHANGED_AT)
  expect(flowDueAt(flow({ phase: 'held', until: 90 }))).toBe(90)
  expect(flowDueAt(flow(held))).toBeUndefined()
  expect(flowDueAt(flow(sealed, { active: 1 }))).toBeUndefined()
  // Its removal follows the end of its retention, which has an index of its own.
  expect(flowDueAt(flow({ phase: 'ended', outcome: 'completed', at: 1 }, {}, { walk: walk('remove') }))).toBeUndefined()
})

test('callers may add edges until a flow is sealed or cancelled', () => {
  const over: FlowState = { phase: 'ended', outcome: 'completed', at: 1 }
  const growing = [held, open, sealed, cancelled('flow_only'), over].filter((state) => mayGrow(flow(state)))

  expect(growing).toEqual([held, open])
})

test('a flow is due at once while it gives way to its follow-up, and while it begins', () => {
  const over: FlowState = { phase: 'ended', outcome: 'completed', at: 1 }
  const followUp = {} as Flow['followUp']
  const removed = flow(over, {}, { walk: walk('remove'), followUp })

  expect([removed, flow(over, {}, { walk: walk('remove') }), flow(over, {}, { followUp })].map(isGivingWay)).toEqual([
    true,
    false,
    false,
  ])
  expect(isGivingWay(flow(sealed, {}, { walk: walk('cancel'), followUp }))).toBe(false)
  expect(flowDueAt(removed)).toBe(CHANGED_AT)
  expect(flowDueAt(flow(held, {}, { begins: {} as Flow['begins'] }))).toBe(CHANGED_AT)
})

test.each<[FlowState, { moves: boolean; stops: boolean }]>([
  [held, { moves: false, stops: false }],
  [open, { moves: true, stops: false }],
  [sealed, { moves: true, stops: false }],
  [cancelled('flow_only'), { moves: true, stops: false }],
  [cancelled('cancel_pending'), { moves: false, stops: true }],
  [cancelled('cancel_all'), { moves: false, stops: true }],
])('whether verdicts of a flow take effect, and whether it stops its members: %j', (state, { moves, stops }) => {
  const one = flow(state)
  expect({ moves: movesMembers(one), stops: stopsMembers(one) }).toEqual({ moves, stops })
})
