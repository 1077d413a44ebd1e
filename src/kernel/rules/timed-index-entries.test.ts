/** Entries of records that have a timer, or belong to a schedule, a shaping key or an execution. */
import { describe, expect, test } from 'vitest'
import type { Budget, Charge } from '../model/budget-schema.ts'
import { chargesIndex, firingsIndex, ledgerIndex, lineIndex, timersIndex } from '../model/indexes.ts'
import { accountId } from '../model/budget-ids.ts'
import type { AnyRecord, Execution, ExecutionId, Flow, Schedule, ShapingKey } from '../model/records.ts'
import { unpackRecord } from '../model/schema.ts'
import { claimScore } from './execution-state.ts'
import { noMembers } from './flow-state.ts'
import { entriesOf } from './index-entries.ts'

const id = '0-a' as ExecutionId
const execution = (fields: Partial<Execution>): Execution => ({
  ...unpackRecord('execution', []),
  id,
  lane: 'main',
  class: '',
  createdAt: 100,
  retentionMs: 1_000,
  tags: [],
  state: { phase: 'eligible' },
  ...fields,
})
const shaping = (fields: Partial<NonNullable<Execution['shaping']>>): NonNullable<Execution['shaping']> =>
  ({ id: 'key', place: undefined, holdsBack: undefined, ...fields }) as NonNullable<Execution['shaping']>

describe('a shaped execution stands', () => {
  test('while it waits for its turn, in the line of its key by its place', () => {
    const inLine = (place: number | undefined) =>
      entriesOf(execution({ state: { phase: 'blocked', by: 'order', gate: undefined }, shaping: shaping({ place }) }))

    expect(inLine(7)).toContainEqual({ index: lineIndex('key'), score: 7, id })
    expect(inLine(undefined)).toContainEqual({ index: lineIndex('key'), score: 0, id })
  })

  test.each<[string, Partial<Execution>]>([
    ['while it is blocked for another reason', { state: { phase: 'blocked', by: 'hold', gate: undefined } }],
    ['while it may run', {}],
  ])('in no line %s', (_when, fields) => {
    const indexes = entriesOf(execution({ ...fields, shaping: shaping({ place: 7 }) })).map(({ index }) => index)

    expect(indexes).not.toContain(lineIndex('key'))
  })

  test('in no line if it has no key', () => {
    const unshaped = execution({ state: { phase: 'blocked', by: 'order', gate: undefined } })

    expect(entriesOf(unshaped)).toHaveLength(2)
  })

  test('in no purge index while it holds others back', () => {
    const state = { phase: 'ended', outcome: 'completed', at: 300 } as Execution['state']
    const purged = (holdsBack: boolean | undefined) =>
      entriesOf(execution({ state, shaping: shaping({ holdsBack }) })).filter(({ index }) => index === 'purge')

    expect(purged(true)).toEqual([])
    expect(purged(undefined)).toEqual([{ index: 'purge', score: 1_300, id }])
  })
})

test('a firing stands under its schedule by its creation', () => {
  const schedule = { id: 'nightly' } as Execution['schedule']

  expect(entriesOf(execution({ schedule }))).toContainEqual({ index: firingsIndex('nightly'), score: 100, id })
  expect(entriesOf(execution({ schedule }))).toHaveLength(entriesOf(execution({})).length + 1)
})

test('a schedule stands among all schedules, and among the timers while it has one', () => {
  const schedule: Schedule = { ...unpackRecord('schedule', []), id: 's', planned: [] }

  expect(entriesOf(schedule)).toEqual([{ index: '@schedules', score: 0, id: 's' }])
  expect(entriesOf({ ...schedule, planAt: 70 })).toEqual([
    { index: '@schedules', score: 0, id: 's' },
    { index: timersIndex('schedule'), score: 70, id: 's' },
  ])
})

test('a budget stands among all budgets, and among the timers while it has one', () => {
  const budget: Budget = { ...unpackRecord('budget', []), id: 'b', boundaries: [] }

  expect(entriesOf(budget)).toEqual([{ index: '@budgets', score: 0, id: 'b' }])
  expect(entriesOf({ ...budget, boundaries: [70] })).toEqual([
    { index: '@budgets', score: 0, id: 'b' },
    { index: timersIndex('budget'), score: 70, id: 'b' },
  ])
})

test('a shaping key stands among all shaping keys, and among the timers while it is to be removed', () => {
  const key: ShapingKey = { ...unpackRecord('shaping_key', []), id: 'k', removeAt: undefined }

  expect(entriesOf(key)).toEqual([{ index: '@shaping_keys', score: 0, id: 'k' }])
  expect(entriesOf({ ...key, removeAt: 70 })).toEqual([
    { index: '@shaping_keys', score: 0, id: 'k' },
    { index: timersIndex('shaping_key'), score: 70, id: 'k' },
  ])
})

test('a charge stands in the ledgers of its accounts, and under the execution that has spent it', () => {
  const accounts = [{ name: 'team', key: 'x', period: 1 }]
  const outside = { namespace: '', task: 't', epoch: 0, attempt: 0, executionId: undefined }
  const charge: Charge = {
    ...unpackRecord('charge', []),
    id: 'c',
    root: 'r',
    accounts,
    at: 5,
    expiresAt: 90,
    spender: outside,
  }
  const everywhere = [
    { index: '@charges', score: 0, id: 'c' },
    { index: timersIndex('charge'), score: 90, id: 'c' },
    { index: ledgerIndex(accountId('r', 'team', 'x')), score: 5, id: 'c' },
  ]

  expect(entriesOf(charge)).toEqual(everywhere)
  expect(entriesOf({ ...charge, spender: { ...outside, executionId: id } })).toEqual([
    ...everywhere,
    { index: chargesIndex(id), score: 5, id: 'c' },
  ])
})

test('the duties of engines stand in an index of their own', () => {
  expect(entriesOf({ ...unpackRecord('duties', []), id: 'm:0' })).toEqual([{ index: '@duties', score: 0, id: 'm:0' }])
})

test('an ended execution that counts towards what a task keeps stands among those by its end', () => {
  const state: Execution['state'] = { phase: 'ended', outcome: 'completed', at: 300, reason: undefined, by: undefined }
  const retentions = { keep: 3 } as Execution['retentions']
  const one = execution({ state, retentions, namespace: 'shop', task: 'mail' })
  const kept = (fields: Partial<Execution>) =>
    entriesOf({ ...one, ...fields }).filter(({ index }) => /^kept/.test(index))

  expect(kept({})).toEqual([{ index: 'kept\u001fshop\u001fmail', score: 300, id }])
  expect([kept({ retentions: undefined }), kept({ shaping: shaping({ holdsBack: true }) })]).toEqual([[], []])
  expect([kept({ state: { phase: 'eligible' } }), kept({ state: { phase: 'eligible' }, deadlineAt: 9 })]).toEqual([
    [],
    [],
  ])
})

test('an execution that a limit blocks stands at its gate in the order of claiming', () => {
  const blocked = execution({ state: { phase: 'blocked', by: 'limit', gate: 'mail' } })

  expect(entriesOf(blocked)).toContainEqual({ index: 'gated\u001fmail', score: claimScore(blocked), id })
})

test('a flow that a schedule has started stands under it by its creation', () => {
  const blank = unpackRecord('flow', [])
  const flow: Flow = { ...blank, id: 'f0-a' as Flow['id'], createdAt: 7, retentionMs: 1, changedAt: 9 }
  const counted: Flow = { ...flow, counts: noMembers(), state: { phase: 'open' } }
  const schedule = { id: 'nightly' } as Flow['schedule']

  expect(entriesOf({ ...counted, schedule })).toContainEqual({
    index: 'flow_firings\u001fnightly',
    score: 7,
    id: 'f0-a',
  })
})

describe('records of limits stand among all of their kind, and among the timers', () => {
  const entries =
    (...list: [index: string, score: number][]) =>
    (of: string) =>
      list.map(([index, score]) => ({ index, score, id: of }))

  test.each<[AnyRecord, (of: string) => object[]]>([
    [{ ...unpackRecord('limit_definition', []), id: 'x' }, entries(['@limits', 0])],
    [
      { ...unpackRecord('gauge', []), id: 'x', limit: 'mail', window: [], heldCount: 2, holderCount: 1 },
      entries(['@gauges', 0], ['@keys\u001fmail', -2]),
    ],
    [
      { ...unpackRecord('gauge', []), id: 'x', limit: 'mail', window: [], heldCount: 0, holderCount: 0, createdAt: 8 },
      entries(['@gauges', 0], ['@keys\u001fmail', 0], ['@due\u001fgauge', 8]),
    ],
    [
      { ...unpackRecord('holding', []), id: 'x', limit: 'mail', key: 'ann', expiresAt: 9 },
      entries(['@holdings', 0], ['@holders\u001fmail\u001fann', 0], ['@due\u001fholding', 9]),
    ],
    [{ ...unpackRecord('gate', []), id: 'x', until: 9 }, entries(['@gates', 0], ['@due\u001fgate', 9])],
    [
      { ...unpackRecord('account', []), id: 'x', root: 'r', name: 'b' },
      entries(['@accounts', 0], ['@accounts_of\u001fr\u001fb', 0]),
    ],
    [
      { ...unpackRecord('account', []), id: 'x', root: 'r', name: 'b', parked: [] },
      entries(['@accounts', 0], ['@accounts_of\u001fr\u001fb', 0], ['@parked_of\u001fr\u001fb', 0]),
    ],
    [
      {
        ...unpackRecord('reservation', []),
        id: 'x',
        root: 'r',
        accounts: [{ name: 'b', key: 'k' }],
        spender: { executionId: id, namespace: 'default', task: 't', epoch: 1, attempt: 1 },
        expiresAt: 9,
      },
      entries(
        ['@reservations', 0],
        ['@due\u001freservation', 9],
        ['@reserved\u001fr\u001fb\u001fk', 0],
        [`@reservations_of\u001f${id}`, 0],
      ),
    ],
    [
      { ...unpackRecord('past_period', []), id: 'x', root: 'r', name: 'b', key: 'k', since: 4 },
      entries(['@past_periods', 0], ['@periods\u001fr\u001fb\u001fk', 4]),
    ],
    [
      { ...unpackRecord('audit_entry', []), id: 'x', sequence: 3, expiresAt: 9 },
      entries(['@audit', 3], ['@due\u001faudit_entry', 9]),
    ],
    [{ ...unpackRecord('consumer', []), id: 'x' }, entries(['@consumers', 0])],
    [{ ...unpackRecord('stream', []), id: 'x' }, entries()],
    [{ ...unpackRecord('frame_chunk', []), id: 'x' }, entries()],
  ])('$type', (record, expected) => {
    expect(entriesOf(record)).toEqual(expected('x'))
  })
})
