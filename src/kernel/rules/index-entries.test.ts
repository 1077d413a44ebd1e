import { describe, expect, test } from 'vitest'
import { noMembers } from './flow-state.ts'
import {
  edgeId,
  inboundIndex,
  bufferedSignalsIndex,
  isReadyIndex,
  laneIndex,
  membersIndex,
  outboundIndex,
  readyIndex,
  signalsIndex,
  stepsIndex,
  tagIndex,
  waitpointsIndex,
} from '../model/indexes.ts'
import { entriesOf } from './index-entries.ts'
import { newJournal, scopeIn, signalIdAt, stepIdIn, stepKey, waitpointIdIn } from './journal-ids.ts'
import type { Signal, Step, Waitpoint } from '../model/journal-schema.ts'
import type {
  Attempt,
  Edge,
  EdgeGroup,
  EdgeState,
  Execution,
  ExecutionId,
  ExecutionState,
  Flow,
  FlowId,
  Membership,
} from '../model/records.ts'
import { unpackRecord } from '../model/schema.ts'
import { claimScore } from './execution-state.ts'

const id = '0-a' as ExecutionId

function execution(state: ExecutionState): Execution {
  return {
    ...unpackRecord('execution', []),
    id,
    lane: 'main',
    class: 'gpu',
    priority: 2,
    createdAt: 100,
    changedAt: 450,
    retentionMs: 1_000,
    deadlineAt: 900,
    tags: [
      { name: 'plan', value: 'pro', indexed: true },
      { name: 'note', value: 'x', indexed: false },
    ],
    state,
  }
}

const everywhere = [
  { index: 'created', score: 100, id },
  { index: tagIndex('plan', 'pro'), score: 100, id },
]

function sorted<T extends { index: string }>(entries: readonly T[]): T[] {
  return [...entries].sort((a, b) => (a.index < b.index ? -1 : 1))
}

describe('an execution stands', () => {
  test('while eligible, in the queue of its lane and class by the order of claiming', () => {
    const eligible = execution({ phase: 'eligible' })

    expect(sorted(entriesOf(eligible))).toEqual(
      sorted([
        ...everywhere,
        { index: readyIndex('main', 'gpu'), score: claimScore(eligible), id },
        { index: 'due', score: 900, id },
      ]),
    )
  })

  test('without a timer, in no index of timers', () => {
    const entries = entriesOf({ ...execution({ phase: 'eligible' }), deadlineAt: undefined })

    expect(entries.map(({ index }) => index).filter((index) => ['due', 'purge'].includes(index))).toEqual([])
  })

  test('while delayed, in its lane by its public state and in the due index by its delay', () => {
    expect(sorted(entriesOf(execution({ phase: 'delayed', until: 300, cause: 'retry' })))).toEqual(
      sorted([
        ...everywhere,
        { index: laneIndex('main', 'delayed'), score: 100, id },
        { index: 'due', score: 300, id },
      ]),
    )
  })

  test('while held back, in no queue', () => {
    const entries = entriesOf(execution({ phase: 'blocked', by: 'hold', gate: undefined }))

    expect(entries.map((entry) => entry.index)).toContain(laneIndex('main', 'waiting'))
    expect(entries.some((entry) => isReadyIndex(entry.index))).toBe(false)
  })

  test('once ended, in the purge index by the end of its retention and no longer in the due index', () => {
    const state: ExecutionState = { phase: 'ended', outcome: 'failed', at: 500, reason: undefined, by: undefined }

    expect(sorted(entriesOf(execution(state)))).toEqual(
      sorted([
        ...everywhere,
        { index: laneIndex('main', 'failed'), score: 100, id },
        { index: 'purge', score: 1_500, id },
      ]),
    )
  })
})

describe('an execution of which only the id is kept stands', () => {
  const state: ExecutionState = { phase: 'ended', outcome: 'failed', at: 500, reason: undefined, by: undefined }
  const removed: Execution = { ...execution(state), removed: {} as Execution['removed'] }

  test('in the purge index alone, until its id may be used again', () => {
    expect(entriesOf({ ...removed, dedupeMs: 40 })).toEqual([{ index: 'purge', score: 540, id }])
    expect(entriesOf(removed)).toEqual([{ index: 'purge', score: 500, id }])
  })

  test('nowhere while its parent may need its result', () => {
    expect(entriesOf({ ...removed, parent: {} as Execution['parent'] })).toEqual([])
  })
})

describe('a member of a flow stands', () => {
  const flowId = 'f0-a' as FlowId
  const ended: ExecutionState = { phase: 'ended', outcome: 'completed', at: 500, reason: undefined, by: undefined }
  const group: EdgeGroup = {
    policy: 'any_of',
    need: 1,
    losers: 'cancel',
    total: 2,
    completed: 1,
    failed: 0,
    skipped: 0,
    verdict: 'satisfied',
    decidedAt: 400,
    owedFrom: undefined,
    tolerated: undefined,
    excused: undefined,
  }

  function entriesOfMember(state: ExecutionState, fields: Partial<Membership> = {}) {
    const member: Membership = {
      flowId,
      name: 'a',
      rank: 3,
      group: undefined,
      delay: undefined,
      inputCount: 0,
      given: [],
      payloadEdgeCount: 0,
      payloadFrom: undefined,
      owesEdges: false,
      hasCondition: undefined,
      takesOutcomes: undefined,
      mayFail: undefined,
      ...fields,
    }
    return entriesOf({ ...execution(state), member }).filter(
      (entry) => !everywhere.some(({ index }) => index === entry.index),
    )
  }

  test('in its flow by its rank', () => {
    expect(entriesOfMember({ phase: 'eligible' })).toContainEqual({ index: membersIndex(flowId), score: 3, id })
  })

  test('once ended, in no purge index: it goes with its flow', () => {
    expect(sorted(entriesOfMember(ended))).toEqual(
      sorted([
        { index: laneIndex('main', 'completed'), score: 100, id },
        { index: membersIndex(flowId), score: 3, id },
      ]),
    )
  })

  test('in the due index since its end, while its outbound edges are pending', () => {
    expect(entriesOfMember(ended, { owesEdges: true })).toContainEqual({ index: 'due', score: 500, id })
  })

  test('in the due index and among those with cancels to send, while its group owes them', () => {
    const entries = entriesOfMember({ phase: 'eligible' }, { group: { ...group, owedFrom: '' } })

    expect(entries).toContainEqual({ index: 'due', score: 400, id })
    expect(entries).toContainEqual({ index: 'sibling_cancels', score: 400, id })
    const undated = entriesOfMember({ phase: 'eligible' }, { group: { ...group, owedFrom: '', decidedAt: undefined } })
    expect(undated).toContainEqual({ index: 'due', score: 450, id })
    expect(undated).toContainEqual({ index: 'sibling_cancels', score: 450, id })
    expect(entriesOfMember({ phase: 'eligible' }, { group })).not.toContainEqual(
      expect.objectContaining({ index: 'sibling_cancels' }),
    )
  })
})

test.each<[EdgeState, number]>([
  ['open', 0],
  ['satisfied', 1],
  ['impossible', 1],
])('an edge that is %s stands at %d with both its members, under the id of the other', (state, score) => {
  const other = '0-b' as ExecutionId
  const edge: Edge = {
    ...unpackRecord('edge', []),
    id: edgeId(id, other),
    upstreamId: id,
    downstreamId: other,
    state,
  }

  expect(entriesOf(edge)).toEqual([
    { index: outboundIndex(id), score, id: other },
    { index: inboundIndex(other), score, id },
  ])
})

describe('a flow stands among all flows by its creation', () => {
  const flowId = 'f0-a' as FlowId

  function entriesOfFlow(fields: Partial<Flow>) {
    const flow: Flow = {
      ...unpackRecord('flow', []),
      id: flowId,
      createdAt: 100,
      changedAt: 600,
      retentionMs: 1_000,
      counts: noMembers(),
      state: { phase: 'open' },
      ...fields,
    }
    return entriesOf(flow).map(({ index, score }) => [index, score])
  }
  const cancelled = { policy: 'cancel_all' as const, at: 600, reason: '', by: '', force: false, graceMs: 0 }
  const walk = { fromRank: undefined, fromId: undefined, rootId: undefined }

  test('unless only its id is kept: then in the purge index alone', () => {
    expect(entriesOfFlow({ removedAt: 600, dedupeMs: 40 })).toEqual([['purge', 640]])
    expect(entriesOfFlow({ removedAt: 600 })).toEqual([['purge', 600]])
  })

  test.each<[string, Partial<Flow>, [string, number][]]>([
    ['and nowhere else while it is open', {}, []],
    ['and when it is given up while it is held', { state: { phase: 'held', until: 900 } }, [['due', 900]]],
    ['and since it has members to release', { walk: { purpose: 'release', ...walk } }, [['due', 600]]],
    [
      'and at the end of its retention once it has ended',
      { state: { phase: 'ended', outcome: 'failed', at: 600 } },
      [['purge', 1_600]],
    ],
    [
      'and in the backlog while it has members to cancel',
      { state: { phase: 'cancelled', ...cancelled }, walk: { purpose: 'cancel', ...walk } },
      [
        ['due', 600],
        ['cancel_backlog', 600],
      ],
    ],
    [
      'and at the end of its retention once all that was cancelled has ended',
      { state: { phase: 'cancelled', ...cancelled } },
      [['purge', 1_600]],
    ],
  ])('%s', (_, fields, others) => {
    expect(entriesOfFlow(fields)).toEqual([['flows', 100], ...others])
  })
})

describe('what an execution remembers stands with the life that it belongs to', () => {
  const lives: [string, number][] = [
    ['the first', 0],
    ['a later one', 3],
  ]

  test.each(lives)('in %s, a step by its position', (_, life) => {
    const scope = scopeIn(id, life)
    const key = stepKey('call', 'fetch')
    const step: Step = {
      ...unpackRecord('step', []),
      id: stepIdIn(scope, key),
      executionId: id,
      kind: 'call',
      name: 'fetch',
      position: 7,
    }

    expect(entriesOf(step)).toEqual([{ index: stepsIndex(scope), score: 7, id: step.id }])
  })

  test.each(lives)('in %s, a waitpoint in the order of their ids, whether or not it is open', (_, life) => {
    const scope = scopeIn(id, life)
    const waitpoint: Waitpoint = { ...unpackRecord('waitpoint', []), id: waitpointIdIn(scope, 'go'), target: 'go' }

    expect(entriesOf(waitpoint)).toEqual([{ index: waitpointsIndex(scope), score: 0, id: waitpoint.id }])
    expect(entriesOf({ ...waitpoint, closedAt: 5 })).toEqual(entriesOf(waitpoint))
  })

  test.each(lives)('in %s, a signal by its number, and so at its waitpoint while it is kept there', (_, life) => {
    const scope = scopeIn(id, life)
    const waitpointId = waitpointIdIn(scope, '@go')
    const signal: Signal = {
      ...unpackRecord('signal', []),
      id: signalIdAt(waitpointId, 2, 'k'),
      target: '@go',
      round: 2,
      key: 'k',
      sequence: 4,
      isWaiting: true,
    }

    expect(entriesOf({ ...signal, isWaiting: false })).toEqual([
      { index: signalsIndex(scope), score: 4, id: signal.id },
    ])
    expect(entriesOf(signal)).toEqual([
      { index: signalsIndex(scope), score: 4, id: signal.id },
      { index: bufferedSignalsIndex(waitpointId), score: 4, id: signal.id },
    ])
  })

  test.each(lives)('in %s, an open waitpoint among all that are open, by when it was opened', (_, life) => {
    const open = [
      { target: 'go', since: 200, expiresAt: 300 },
      { target: 'stop', since: 250, expiresAt: undefined },
    ]
    const journal = { ...newJournal(life, life), open }
    const entries = entriesOf({ ...execution({ phase: 'eligible' }), journal })

    expect(entries.filter(({ index }) => index === 'open_waitpoints')).toEqual([
      { index: 'open_waitpoints', score: 200, id: waitpointIdIn(scopeIn(id, life), 'go') },
      { index: 'open_waitpoints', score: 250, id: waitpointIdIn(scopeIn(id, life), 'stop') },
    ])
    expect(entries).toContainEqual({ index: 'due', score: 300, id })
  })
})

test('an attempt stands under its execution by its number', () => {
  const attempt: Attempt = { ...unpackRecord('attempt', []), id: 'a-3', executionId: id, number: 3 }

  expect(entriesOf(attempt)).toEqual([{ index: 'attempts\u001f0-a', score: 3, id: 'a-3' }])
})

test('a queue stands among all queues in the order of their ids', () => {
  expect(
    entriesOf({ type: 'queue', id: 'q', lane: 'main', class: '', createdAt: 5, needs: undefined, keeps: undefined }),
  ).toEqual([{ index: 'queues', score: 0, id: 'q' }])
})

test('only the queues of eligible executions are ready indexes', () => {
  expect([readyIndex('main', ''), laneIndex('ready', 'waiting'), 'ready', 'created'].map(isReadyIndex)).toEqual([
    true,
    false,
    false,
    false,
  ])
})
