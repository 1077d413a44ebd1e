import { describe, expect, test } from 'vitest'
import type { ChildCancels, Journal } from '../model/journal-schema.ts'
import { mergeCancels, oweAllCancels, oweLoserCancels } from './child-cancels.ts'
import { newJournal } from './journal-ids.ts'

const NOW = 50

function journal(fields: Partial<Journal>): Journal {
  return { ...newJournal(0, 0), nextPosition: 4, ...fields }
}

function search(fields: Partial<ChildCancels>): ChildCancels {
  return { from: 0, allTo: 0, to: 0, at: 0, ...fields }
}

describe('cancels of all children', () => {
  test('search the whole journal', () => {
    const parent = journal({ childCount: 1 })
    oweAllCancels(parent, NOW)

    expect(parent.childCancels).toEqual({ from: 0, allTo: 4, to: 4, at: NOW })
  })

  test('are pending since the first of them', () => {
    const parent = journal({ childCount: 1, childCancels: search({ from: 3, at: 20 }) })
    oweAllCancels(parent, NOW)

    expect(parent.childCancels).toEqual({ from: 0, allTo: 4, to: 4, at: 20 })
  })

  test('need a child', () => {
    const [none, without] = [journal({ childCount: 0 }), journal({})]
    for (const parent of [none, without, undefined]) oweAllCancels(parent, NOW)

    expect([none.childCancels, without.childCancels]).toEqual([undefined, undefined])
  })
})

describe('cancels of losers', () => {
  test('search the whole journal, and cancel no other child', () => {
    const parent = journal({})
    oweLoserCancels(parent, NOW)

    expect(parent.childCancels).toEqual({ from: 0, allTo: 0, to: 4, at: NOW })
  })

  test('leave pending cancels of all children pending', () => {
    const parent = journal({ childCancels: search({ from: 2, allTo: 3, to: 3, at: 20 }) })
    oweLoserCancels(parent, NOW)

    expect(parent.childCancels).toEqual({ from: 0, allTo: 3, to: 4, at: 20 })
  })
})

describe('two searches', () => {
  const early = search({ from: 1, allTo: 2, to: 9, at: 30 })
  const late = search({ from: 5, allTo: 6, to: 7, at: 40 })
  const both = { from: 1, allTo: 6, to: 9, at: 30 }

  test('become one that covers both', () => {
    expect(mergeCancels(early, late)).toEqual(both)
    expect(mergeCancels(late, early)).toEqual(both)
  })

  test('are one if there is only one', () => {
    expect([mergeCancels(early, undefined), mergeCancels(undefined, late)]).toEqual([early, late])
    expect(mergeCancels(undefined, undefined)).toBeUndefined()
  })
})
