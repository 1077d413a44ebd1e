import { expect, test } from 'vitest'
import {
  bufferedSignalsIndex,
  isNameIndex,
  isTimersIndex,
  laneIndex,
  queueId,
  queueOfIndex,
  readyIndex,
  signalsIndex,
  stepsIndex,
  timersIndex,
  waitpointsIndex,
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
