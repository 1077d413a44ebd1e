import { describe, expect, test } from 'vitest'
import { newJournal } from './journal-ids.ts'
import { cancelsLosers, continuesJoin, countEnded, isFinalJoin, joinVerdictOf, newJoin } from './join.ts'
import type { JoinInput } from './join.ts'
import type { Join, JoinPolicy, JoinVerdict, Step, StepState } from '../model/journal-schema.ts'
import type { ExecutionId } from '../model/records.ts'

function join(changes: Partial<Join> = {}, input: Partial<JoinInput> = {}): Join {
  const wanted: JoinInput = { name: 'j', policy: 'all', need: 0, losers: 'let_run', total: 3, ...input }
  return { ...newJoin(wanted, { round: 1, epoch: 5 }), isFilled: true, ...changes }
}

const cases: [JoinPolicy, need: number, total: number, completed: number, failed: number, JoinVerdict][] = [
  ['all', 0, 0, 0, 0, 'satisfied'],
  ['all', 0, 3, 0, 0, 'pending'],
  ['all', 0, 3, 2, 0, 'pending'],
  ['all', 0, 3, 3, 0, 'satisfied'],
  ['all', 0, 3, 0, 1, 'impossible'],
  ['all', 0, 3, 2, 1, 'impossible'],
  ['settled', 0, 0, 0, 0, 'satisfied'],
  ['settled', 0, 3, 1, 1, 'pending'],
  ['settled', 0, 3, 1, 2, 'satisfied'],
  ['settled', 0, 3, 0, 3, 'satisfied'],
  ['quorum', 1, 3, 0, 0, 'pending'],
  ['quorum', 1, 3, 0, 2, 'pending'],
  ['quorum', 1, 3, 1, 0, 'satisfied'],
  ['quorum', 1, 3, 1, 2, 'satisfied'],
  ['quorum', 1, 3, 0, 3, 'impossible'],
  ['quorum', 2, 3, 1, 1, 'pending'],
  ['quorum', 2, 3, 1, 2, 'impossible'],
  ['quorum', 2, 3, 2, 1, 'satisfied'],
]

test.each(cases)(
  '%s of need %d, with %d children, %d completed and %d failed, is %s',
  (policy, need, total, completed, failed, verdict) => {
    expect(joinVerdictOf(join({ completed, failed }, { policy, need, total }))).toBe(verdict)
  },
)

test.each(cases)(
  '%s of need %d, with %d children, %d completed and %d failed, is pending until it is filled',
  (policy, need, total, completed, failed) => {
    expect(joinVerdictOf(join({ completed, failed, isFilled: false }, { policy, need, total }))).toBe('pending')
  },
)

test('a quorum keeps its first winners in the order in which they completed', () => {
  const race = join({}, { policy: 'quorum', need: 2 })

  for (const ordinal of [2, 0, 1]) countEnded(race, ordinal, true)

  expect(race).toMatchObject({ completed: 3, winners: [2, 0], firstFailed: undefined })
})

test('the first child that failed is kept, and other policies keep no winners', () => {
  const all = join()
  countEnded(all, 2, true)
  countEnded(all, 1, false)
  countEnded(all, 0, false)

  expect(all).toMatchObject({ completed: 1, failed: 2, winners: [], firstFailed: 1 })
})

test('a new join is pending, and only a quorum needs a number of children', () => {
  expect(join({}, { policy: 'quorum', need: 2 })).toMatchObject({ verdict: 'pending', need: 2 })
  expect(join({}, { policy: 'settled', need: 2 })).toMatchObject({ verdict: 'pending', need: 0 })
  const input: JoinInput = { name: 'j', policy: 'all', need: 0, losers: 'let_run', total: 3 }
  expect(newJoin(input, { round: 1, epoch: 5 }).isFilled).toBe(false)
})

test('losers are cancelled on request, once there is a verdict and some have not ended', () => {
  const race = { policy: 'quorum', need: 1, losers: 'cancel' } as const

  expect(cancelsLosers(join({ verdict: 'satisfied', completed: 1 }, race))).toBe(true)
  expect(cancelsLosers(join({ verdict: 'pending', completed: 1 }, race))).toBe(false)
  expect(cancelsLosers(join({ verdict: 'satisfied', completed: 1, failed: 2 }, race))).toBe(false)
  expect(cancelsLosers(join({ verdict: 'satisfied', completed: 1 }, { ...race, losers: 'let_run' }))).toBe(false)
})

const closed: StepState = { phase: 'closed', at: 1, how: 'satisfied', by: undefined, reason: undefined }

function stepOf(of: Join, state: StepState = closed): Step {
  const executionId = '0-1' as ExecutionId
  const known = {
    type: 'step',
    id: 's',
    executionId,
    kind: 'join',
    name: 'j',
    wait: undefined,
    child: undefined,
    compensationsBefore: undefined,
  } as const
  return { ...known, position: 4, createdAt: 1, attemptCount: 1, size: 0, state, join: of }
}

describe('the verdict of a join', () => {
  const round = (number: number) => ({ ...newJournal(0, 0), round: number })
  const finals: [what: string, Join, journalRound: number, boolean][] = [
    ['of all, satisfied', join({ verdict: 'satisfied', completed: 3 }), 2, true],
    ['of all, impossible, in its round', join({ verdict: 'impossible', failed: 1 }), 1, true],
    ['of all, impossible, in a later round', join({ verdict: 'impossible', failed: 1 }), 2, false],
    ['of settled, without failures', join({ verdict: 'satisfied', completed: 3 }, { policy: 'settled' }), 2, true],
    [
      'of settled, with failures, in its round',
      join({ verdict: 'satisfied', failed: 3 }, { policy: 'settled' }),
      1,
      true,
    ],
    ['of settled, with failures, later', join({ verdict: 'satisfied', failed: 3 }, { policy: 'settled' }), 2, false],
    ['of a quorum, with failures', join({ verdict: 'satisfied', failed: 1 }, { policy: 'quorum', need: 1 }), 2, true],
    [
      'of a quorum, impossible, in a later round',
      join({ verdict: 'impossible', failed: 3 }, { policy: 'quorum', need: 1 }),
      2,
      false,
    ],
    ['that is pending', join(), 1, false],
  ]

  test.each(finals)('%s is kept or not', (_what, of, journalRound, expected) => {
    expect(isFinalJoin(stepOf(of), of, round(journalRound))).toBe(expected)
  })

  test('is not kept once a replay has cut it, or if an end closed its step', () => {
    const done = join({ verdict: 'satisfied', completed: 3 })
    const cut = { ...round(1), cuts: [{ from: 0, to: 5 }] }

    expect(isFinalJoin(stepOf(done), done, cut)).toBe(false)
    expect(isFinalJoin(stepOf(done, { phase: 'open', since: 1 }), done, round(1))).toBe(false)
  })

  test('is extended by pages of the same lease for the same children only', () => {
    const open: StepState = { phase: 'open', since: 1 }
    const filling = join({ isFilled: false })
    const journal = round(1)

    expect(continuesJoin(stepOf(filling, open), filling, join(), journal)).toBe(true)
    expect(continuesJoin(stepOf(filling, open), filling, join({ epoch: 6 }), journal)).toBe(false)
    expect(continuesJoin(stepOf(filling, open), filling, join({ round: 2 }), journal)).toBe(false)
    expect(continuesJoin(stepOf(filling, open), filling, join({ total: 4 }), journal)).toBe(false)
    expect(continuesJoin(stepOf(filling, open), filling, join({ need: 2 }), journal)).toBe(false)
    expect(continuesJoin(stepOf(filling, open), filling, join({ losers: 'cancel' }), journal)).toBe(false)
    expect(continuesJoin(stepOf(filling, open), filling, join(), { ...journal, cuts: [{ from: 4, to: 5 }] })).toBe(
      false,
    )
    expect(continuesJoin(stepOf(filling, open), filling, join({ policy: 'settled' }), journal)).toBe(false)
    expect(continuesJoin(stepOf(filling, closed), filling, join(), journal)).toBe(false)
    expect(continuesJoin(stepOf(join(), open), join(), join(), journal)).toBe(false)
  })
})
