import { expect, test } from 'vitest'
import { accountId, budgetId, chargeId, nameInBudgetId, pastPeriodId, rootInId, treeStart } from './budget-ids.ts'
import {
  accountsIndex,
  bufferedSignalsIndex,
  chargesIndex,
  consumerId,
  firingsIndex,
  flowFiringsIndex,
  gateId,
  gatedIndex,
  gaugeId,
  holdingId,
  isNameIndex,
  isTimersIndex,
  keysIndex,
  laneIndex,
  ledgerIndex,
  parkedIndex,
  periodsIndex,
  queueId,
  queueOfIndex,
  readyIndex,
  reservedIndex,
  scheduleId,
  shapingKeyId,
  shareId,
  signalsIndex,
  stepsIndex,
  timersIndex,
  turnScope,
  waitpointsIndex,
  webhookId,
} from './indexes.ts'
import { indexesOf, namedTypes, namedTypesIn } from './named-types.ts'
import { joinName } from './names.ts'

let laneCount = 0

/** Names are kept, so a lane that no other test has named shows how they are made. */
function newLane(): string {
  laneCount += 1
  return `lane-${laneCount}`
}

test('an index has the name of its kind and of what it belongs to', () => {
  expect([stepsIndex('0-a'), waitpointsIndex('0-a'), signalsIndex('0-a'), bufferedSignalsIndex('w')]).toEqual([
    joinName('steps', '0-a'),
    joinName('waitpoints', '0-a'),
    joinName('signals', '0-a'),
    joinName('inbox', 'w'),
  ])
  const lane = newLane()
  expect(readyIndex(lane, 'report')).toBe(joinName('ready', joinName(lane, 'report')))
  expect(queueId('main', 'report')).toBe(joinName('main', 'report'))
  expect(timersIndex('worker')).toBe(joinName('@due', 'worker'))
})

test('names that are stored with budgets, schedules and consumers never change', () => {
  expect([scheduleId('shop', 'nightly'), consumerId('shop', 'mail'), webhookId('shop', 'crm')]).toEqual([
    'shop\u001fnightly',
    'shop\u001fmail',
    'shop\u001fcrm\u001fwebhook',
  ])
  expect([firingsIndex('s'), accountsIndex('b'), parkedIndex('b')]).toEqual([
    'firings\u001fs',
    '@accounts_of\u001fb',
    '@parked_of\u001fb',
  ])
  expect([chargesIndex('0-a'), reservedIndex('a'), periodsIndex('a')]).toEqual([
    '@charges_of\u001f0-a',
    '@reserved\u001fa',
    '@periods\u001fa',
  ])
  const id = budgetId('acme', 'team')
  expect([id, rootInId(id), rootInId('mail'), nameInBudgetId(id)]).toEqual(['acme\u001fteam', 'acme', 'mail', 'team'])
  expect(pastPeriodId(accountId('acme', 'team', 'x'), 3)).toBe('acme\u001fteam\u001fx\u001f3')
})

test('names that are stored with limits, turns and shaping never change', () => {
  expect([flowFiringsIndex('s'), keysIndex('mail'), gatedIndex('g'), ledgerIndex('a')]).toEqual([
    'flow_firings\u001fs',
    '@keys\u001fmail',
    'gated\u001fg',
    '@ledger\u001fa',
  ])
  expect([gaugeId('mail', 'ann'), gateId('mail', 'ann'), holdingId('mail', 'ann', 'w')]).toEqual([
    'mail\u001fann',
    'mail\u001fann',
    'mail\u001fann\u001fw',
  ])
  expect([turnScope('main', 'report', 5), shareId('scope', 'ann'), treeStart('acme'), chargeId('acme', 'k')]).toEqual([
    'main\u001freport\u001f5',
    'scope\u001fann',
    'acme\u001f',
    'acme\u001fk',
  ])
  expect([shapingKeyId('shop', 'order', 't', 'k'), shapingKeyId('shop', 'debounce', 't', 'k')]).toEqual([
    'shop\u001forder\u001f\u001fk',
    'shop\u001fdebounce\u001ft\u001fk',
  ])
})

test('a lane has an index for each state, whose stored word never changes', () => {
  const lane = newLane()
  expect(laneIndex(lane, 'active')).toBe(joinName('lane', joinName(lane, 'active')))
  expect(laneIndex(lane, 'waiting_dependencies')).toBe(joinName('lane', joinName(lane, 'waiting_children')))
})

test('a ready index names its queue, whose class may have several parts', () => {
  const classes = ['report', joinName('report', '2')]

  expect(classes.map((name) => queueOfIndex(readyIndex('main', name)))).toEqual(
    classes.map((name) => ({ lane: 'main', class: name })),
  )
})

test('timers and names have indexes of their own', () => {
  expect(['due', timersIndex('worker'), 'purge', '@workers'].map(isTimersIndex)).toEqual([true, true, false, false])
  expect(['queues', '@workers', timersIndex('worker'), 'created'].map(isNameIndex)).toEqual([true, true, true, false])
})

test('the records of a named type are in all of its indexes, in partitions of its families', () => {
  const worker = namedTypes.find(({ type }) => type === 'worker')

  expect(namedTypesIn('m')).toContain(worker)
  expect(namedTypesIn('q')).not.toContain(worker)
  expect(indexesOf(worker!)).toEqual(['@workers', timersIndex('worker'), '@unswept_workers'])
  expect(indexesOf({ ...worker!, isTimed: false })).toEqual(['@workers', '@unswept_workers'])
})
