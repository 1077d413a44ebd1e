import { describe, expect, test } from 'vitest'
import { recordsReadAfter, guardOf, recordsNamedBy } from './index-guards.ts'
import {
  CANCEL_BACKLOG_INDEX,
  CREATED_INDEX,
  DUE_INDEX,
  FLOWS_INDEX,
  OPEN_WAITPOINTS_INDEX,
  PURGE_INDEX,
  QUEUES_INDEX,
  SIBLING_CANCELS_INDEX,
  accountsIndex,
  attemptsIndex,
  chargesIndex,
  edgeId,
  firingsIndex,
  flowFiringsIndex,
  gatedIndex,
  holdersIndex,
  keptIndex,
  keysIndex,
  ledgerIndex,
  lineIndex,
  parkedIndex,
  periodsIndex,
  reservedIndex,
  inboundIndex,
  bufferedSignalsIndex,
  laneIndex,
  membersIndex,
  outboundIndex,
  readyIndex,
  signalsIndex,
  stepsIndex,
  tagIndex,
  timersIndex,
  waitpointsIndex,
} from './indexes.ts'
import { scopeIn, waitpointIdIn } from '../rules/journal-ids.ts'
import type { Execution, ExecutionId, FlowId, Membership } from './records.ts'
import { unpackRecord } from './schema.ts'

const EXECUTION = '0-a' as ExecutionId
const OTHER = '0-b' as ExecutionId
const FLOW = 'f0-c' as FlowId
/** The second life of an execution, whose names have one part more. */
const SCOPE = scopeIn(EXECUTION, 1)
const WAITPOINT = waitpointIdIn(SCOPE, 'approval')

describe('the guard of an index', () => {
  test.each([
    attemptsIndex(EXECUTION),
    stepsIndex(EXECUTION),
    stepsIndex(SCOPE),
    waitpointsIndex(SCOPE),
    signalsIndex(SCOPE),
    bufferedSignalsIndex(WAITPOINT),
  ])('%j is the execution that it belongs to', (index) => {
    expect(guardOf(index)).toEqual({ kind: 'record', type: 'execution', id: EXECUTION })
  })

  test('of members is their flow', () => {
    expect(guardOf(membersIndex(FLOW))).toEqual({ kind: 'record', type: 'flow', id: FLOW })
  })

  test.each([outboundIndex(EXECUTION), inboundIndex(EXECUTION)])('%j is the flow of the execution', (index) => {
    expect(guardOf(index)).toEqual({ kind: 'flow_of', executionId: EXECUTION })
  })

  test('of holders is the key that they hold permits of', () => {
    expect(guardOf(holdersIndex('mail\u001fann'))).toEqual({ kind: 'record', type: 'gauge', id: 'mail\u001fann' })
  })

  test('of a line is its shaping key', () => {
    expect(guardOf(lineIndex('shop\u001fkey'))).toEqual({ kind: 'record', type: 'shaping_key', id: 'shop\u001fkey' })
  })

  test.each([
    keptIndex('shop', 'mail'),
    gatedIndex('mail\u001fann'),
    readyIndex('main', 'greet'),
    DUE_INDEX,
    PURGE_INDEX,
    QUEUES_INDEX,
    timersIndex('worker'),
  ])('%j needs none, its entries are hints', (index) => {
    expect(guardOf(index)).toEqual({ kind: 'advisory' })
  })

  test.each([
    CREATED_INDEX,
    laneIndex('main', 'active'),
    tagIndex('plan', 'pro'),
    FLOWS_INDEX,
    SIBLING_CANCELS_INDEX,
    CANCEL_BACKLOG_INDEX,
    OPEN_WAITPOINTS_INDEX,
  ])('%j does not exist', (index) => {
    expect(guardOf(index)).toEqual({ kind: 'none' })
  })
})

describe('what an entry names', () => {
  test.each([
    [readyIndex('main', 'greet'), ['execution']],
    [laneIndex('main', 'active'), ['execution']],
    [CREATED_INDEX, ['execution']],
    [tagIndex('plan', 'pro'), ['execution']],
    [SIBLING_CANCELS_INDEX, ['execution']],
    [membersIndex(FLOW), ['execution']],
    [gatedIndex('mail'), ['execution']],
    [firingsIndex('nightly'), ['execution']],
    [keptIndex('shop', 'mail'), ['execution']],
    [flowFiringsIndex('nightly'), ['flow']],
    [lineIndex('key'), ['execution']],
    [keysIndex('mail'), ['gauge']],
    [holdersIndex('mail'), ['holding']],
    [accountsIndex('team'), ['account']],
    [parkedIndex('team'), ['account']],
    [ledgerIndex('team'), ['charge']],
    [chargesIndex(EXECUTION), ['charge']],
    [reservedIndex('team'), ['reservation']],
    [periodsIndex('team'), ['past_period']],
    [DUE_INDEX, ['execution', 'flow']],
    [PURGE_INDEX, ['execution', 'flow']],
    [FLOWS_INDEX, ['flow']],
    [CANCEL_BACKLOG_INDEX, ['flow']],
    [stepsIndex(SCOPE), ['step']],
    [signalsIndex(SCOPE), ['signal']],
    [bufferedSignalsIndex(WAITPOINT), ['signal']],
    [waitpointsIndex(SCOPE), ['waitpoint']],
    [OPEN_WAITPOINTS_INDEX, ['waitpoint']],
    [attemptsIndex(EXECUTION), ['attempt']],
    [QUEUES_INDEX, ['queue']],
    ['@workers', ['worker']],
    [timersIndex('worker'), ['worker']],
  ])('in %j has its id', (index, types) => {
    expect(recordsNamedBy(index)).toEqual(types.map((type) => ({ type, before: '', after: '' })))
  })

  test('in an index of another version is not known', () => {
    expect(recordsNamedBy('later')).toEqual([])
  })

  test('among the edges of a member is the edge and the other member', () => {
    const idsIn = (index: string) =>
      recordsNamedBy(index).map(({ type, before, after }) => [type, `${before}${OTHER}${after}`])

    expect(idsIn(outboundIndex(EXECUTION))).toEqual([
      ['edge', edgeId(EXECUTION, OTHER)],
      ['execution', OTHER],
    ])
    expect(idsIn(inboundIndex(EXECUTION))).toEqual([
      ['edge', edgeId(OTHER, EXECUTION)],
      ['execution', OTHER],
    ])
  })
})

describe('what a record brings', () => {
  function member(state: Execution['state'], more: Partial<Membership> = {}): Execution {
    const membership: Membership = {
      flowId: FLOW,
      name: 'node',
      rank: 1,
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
      ...more,
    }
    return { ...unpackRecord('execution', []), id: EXECUTION, state, member: membership }
  }

  test('is the flow of a member that can be claimed, and the member that its payload comes from', () => {
    expect(recordsReadAfter(member({ phase: 'eligible' }))).toEqual([{ type: 'flow', id: FLOW }])
    expect(recordsReadAfter(member({ phase: 'eligible' }, { payloadFrom: OTHER }))).toEqual([
      { type: 'flow', id: FLOW },
      { type: 'execution', id: OTHER },
    ])
  })

  test('is the flow alone for one that no claim takes next', () => {
    const delayed: Execution['state'] = { phase: 'delayed', until: 9, cause: 'retry' }

    expect(recordsReadAfter(member(delayed, { payloadFrom: OTHER }))).toEqual([{ type: 'flow', id: FLOW }])
  })

  test('is nothing for one that waits for its dependencies', () => {
    expect(recordsReadAfter(member({ phase: 'blocked', by: 'dependencies', gate: undefined }))).toEqual([])
  })

  test('is nothing for a record of another type', () => {
    expect(recordsReadAfter(unpackRecord('attempt', []))).toEqual([])
  })

  test('is nothing for one that has ended, unless it owes its edges', () => {
    const ended: Execution['state'] = { phase: 'ended', outcome: 'completed', at: 1, reason: undefined, by: undefined }

    expect(recordsReadAfter(member(ended))).toEqual([])
    expect(recordsReadAfter(member(ended, { owesEdges: true }))).toEqual([{ type: 'flow', id: FLOW }])
  })

  test('is nothing for an execution without a flow', () => {
    expect(recordsReadAfter({ ...unpackRecord('execution', []), state: { phase: 'eligible' } })).toEqual([])
  })
})
