import { describe, expect, test } from 'vitest'
import type { Journal, OpenWaitpoint, Signal, Step } from '../model/journal-schema.ts'
import { joinName } from '../model/names.ts'
import { unpackRecord } from '../model/schema.ts'
import {
  cutFrom,
  firstExpiry,
  hasExpired,
  isCut,
  isMailbox,
  journalOf,
  mailboxOf,
  needsSweep,
  newJournal,
  nextJournal,
  openWaitpointOf,
  scopeIn,
  scopeOf,
  scopeOfStep,
  scopeOfWaitpoint,
  signalIdAt,
  stepIdIn,
  stepKey,
  waitpointIdIn,
  waitpointOfSignal,
  withoutTargets,
} from './journal-ids.ts'

const ID = '0-a'

function open(target: string, expiresAt?: number): OpenWaitpoint {
  return { target, expiresAt } as OpenWaitpoint
}

function journal(fields: Partial<Journal>): Journal {
  return { ...newJournal(0, 0), ...fields }
}

test('the journal of the next life is empty, has ids of its own, and still knows of streams', () => {
  const before: Journal = { ...newJournal(3, 2), stepCount: 5, era: 1, hasStreams: true }

  const next = nextJournal(before)

  expect(next).toEqual({ ...newJournal(4, 2), hasStreams: true })
  expect(scopeOf(ID, next)).not.toBe(scopeOf(ID, before))
})

describe('the ids of a journal', () => {
  test('of a first life begin with the id of the execution, and those of a later one with its number too', () => {
    expect([scopeIn(ID, 0), scopeIn(ID, 2)]).toEqual([ID, joinName(ID, '2')])
    expect([scopeOf(ID, undefined), scopeOf(ID, newJournal(0, 0)), scopeOf(ID, newJournal(1, 0))]).toEqual([
      ID,
      ID,
      joinName(ID, '1'),
    ])
  })

  test('lead back to what they were made of', () => {
    const scope = scopeIn(ID, 3)
    const waitpointId = waitpointIdIn(scope, 'reply')
    const step = { id: stepIdIn(scope, stepKey('call', 'pay')), kind: 'call', name: 'pay' } as Step
    const signal = { id: signalIdAt(waitpointId, 2, 'k'), round: 2, key: 'k' } as Signal

    expect(scopeOfStep(step)).toBe(scope)
    expect(scopeOfWaitpoint(waitpointId, 'reply')).toBe(scope)
    expect(waitpointOfSignal(signal)).toBe(waitpointId)
  })

  test('tell mailboxes from waitpoints', () => {
    expect(mailboxOf('paid')).toBe('@paid')
    expect([isMailbox('@paid'), isMailbox('paid'), isMailbox('paid@')]).toEqual([true, false, false])
  })
})

test('an execution gets its journal once', () => {
  const execution = unpackRecord('execution', [])
  const first = journalOf(execution)

  expect(first).toEqual(newJournal(0, 0))
  expect(journalOf(execution)).toBe(first)
})

describe('a cut', () => {
  test('is from its first position up to the next one', () => {
    const cut = journal({ cuts: [{ from: 2, to: 4 }] })

    expect([0, 1, 2, 3, 4, 5].filter((position) => isCut(cut, position))).toEqual([2, 3])
    expect(isCut(newJournal(0, 0), 0)).toBe(false)
  })

  test('covers everything recorded from a position on, and shortens those before it', () => {
    const longer = journal({
      nextPosition: 9,
      era: 1,
      cuts: [
        { from: 1, to: 2 },
        { from: 3, to: 6 },
        { from: 5, to: 7 },
      ],
    })
    cutFrom(longer, 5, 0)

    expect(longer.cuts).toEqual([
      { from: 1, to: 2 },
      { from: 3, to: 5 },
      { from: 5, to: 9 },
    ])
    expect(longer.era).toBe(2)
  })

  test('at the end of a journal is none, but begins a new era', () => {
    const whole = journal({ nextPosition: 3 })
    cutFrom(whole, 3, 0)

    expect([whole.cuts, whole.era]).toEqual([[], 1])
  })

  test('from the beginning leaves no completed step', () => {
    const [some, none] = [1, 0].map((position) => {
      const cut = journal({ nextPosition: 2, hasCompletedSteps: true })
      cutFrom(cut, position, 0)
      return cut.hasCompletedSteps
    })

    expect([some, none]).toEqual([true, undefined])
  })

  test('leaves the compensations of kept steps, and that there may be some unless it is from the beginning', () => {
    const cuts: [position: number, kept: number][] = [
      [1, 2],
      [1, 0],
      [0, 1],
    ]
    const counts = cuts.map(([position, kept]) => {
      const cut = journal({ nextPosition: 2, compensationCount: 3 })
      cutFrom(cut, position, kept)
      return cut.compensationCount
    })
    const without = journal({ nextPosition: 2 })
    cutFrom(without, 1, 2)

    expect([...counts, without.compensationCount]).toEqual([2, 0, undefined, undefined])
  })
})

describe('open waitpoints', () => {
  test('are found by their target', () => {
    const two = journal({ open: [open('a'), open('b')] })

    expect(openWaitpointOf(two, 'b')).toBe(two.open[1])
    expect([openWaitpointOf(two, 'c'), openWaitpointOf(undefined, 'a')]).toEqual([undefined, undefined])
    expect(withoutTargets([open('a'), open('b'), open('c')], ['a', 'c'])).toEqual([open('b')])
  })

  test('expire at their time, and without one never', () => {
    expect([4, 5, 6].map((now) => hasExpired(open('a', 5), now))).toEqual([false, true, true])
    expect(hasExpired(open('a'), 5)).toBe(false)
  })

  test('have a first one that expires', () => {
    expect(firstExpiry(journal({ open: [open('a'), open('b', 7), open('c', 5), open('d', 6), open('e')] }))).toBe(5)
    expect(firstExpiry(journal({ open: [open('a')] }))).toBeUndefined()
  })
})

test('a journal is swept while it has cuts or earlier lives', () => {
  expect(needsSweep(newJournal(1, 1))).toBe(false)
  expect(needsSweep(newJournal(1, 0))).toBe(true)
  expect(needsSweep(journal({ cuts: [{ from: 0, to: 1 }] }))).toBe(true)
})
