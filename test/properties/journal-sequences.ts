/** Random lives of executions that remember and wait: a few that are in each other's way, and one that remembers a great deal. */
import fc from 'fast-check'
import { BATCH_OPERATION_LIMIT } from '../../src/kernel/index.ts'
import { anyOf, commandsOver, jumpMs, stepMs, weights } from './commands.ts'
import type { Batch, Command, Weights } from './commands.ts'
import { anyJournalCommand, journalCommandsOver } from './journal-commands.ts'
import type { JournalScale } from './journal-commands.ts'

const FEW: JournalScale = { executions: 2, reach: 4, names: 3, targets: 0, keys: 6, bytes: 4 }
const lives = commandsOver({ executions: FEW.executions, claimCount: 3, reach: FEW.reach, isAlive: true })
const journals = journalCommandsOver(FEW)
const beside: Weights = { ...weights, create: 2, claim: 14, complete: 2, fail: 3, replay: 1, cancel: 2, broken: 0 }

/** An execution that will wait lives long enough for it. */
const begin = lives.create.map((one) => ({
  ...one,
  delayMs: undefined,
  totalTimeoutMs: undefined,
  retentionMs: 60_000 as const,
}))
const claim = lives.claim.map((one) => ({ ...one, lanes: ['a', 'b'] as const, count: 3, isRepeated: false }))

type Holding = { readonly lease: number }
/** As the newest holder, if its lease may be alive. */
const newest = <T extends Holding>(one: fc.Arbitrary<T>): fc.Arbitrary<T> =>
  one.map((command) => ({ ...command, lease: -1 }))
/** As the newest holder, or the one before, whatever has become of the lease. */
const late = <T extends Holding>(one: fc.Arbitrary<T>): fc.Arbitrary<T> =>
  fc.tuple(one, fc.nat({ max: 1 })).map(([command, lease]) => ({ ...command, lease }))
const anyOfJournals = anyJournalCommand(journals)
const held = fc.oneof(journals.record_step, journals.retry_step, journals.suspend, journals.open_waitpoint)
const closeHeld = journals.close_waitpoint.map((one) => ({ ...one, lease: 0 }))
const close = journals.close_waitpoint.map((one) => ({ ...one, lease: undefined }))
const askToStop = lives.cancel.map((one) => ({ ...one, force: false, graceMs: 5_000 as const }))
const signals = fc.array(fc.oneof(journals.signal, journals.signal_by_token), { minLength: 1, maxLength: 3 })

/** What seldom comes together by chance: a step, a wait and its answer; a waitpoint, an early signal and its wait; a replay. */
const anyStretch: fc.Arbitrary<Command[]> = fc.oneof(
  { weight: 4, arbitrary: anyOf(lives, beside).map((one) => [one]) },
  { weight: 8, arbitrary: anyOfJournals.map((one) => [one]) },
  {
    weight: 3,
    arbitrary: fc.tuple(claim, newest(journals.suspend), signals).map(([taken, wait, sent]) => [taken, wait, ...sent]),
  },
  {
    weight: 2,
    arbitrary: fc
      .tuple(claim, newest(journals.open_waitpoint), signals, newest(journals.suspend))
      .map(([taken, opened, sent, wait]) => [taken, opened, ...sent, wait]),
  },
  { weight: 2, arbitrary: fc.tuple(claim, newest(journals.record_step), newest(journals.record_step)) },
  { weight: 2, arbitrary: fc.tuple(claim, newest(journals.suspend), fc.oneof(close, journals.resume)) },
  {
    weight: 2,
    arbitrary: fc.tuple(claim, newest(journals.open_waitpoint), fc.oneof(close, journals.reissue_waitpoint)),
  },
  { weight: 2, arbitrary: fc.tuple(claim, askToStop, newest(fc.oneof(journals.suspend, journals.retry_step))) },
  { weight: 2, arbitrary: fc.tuple(claim, lives.revoke, late(fc.oneof(held, closeHeld))) },
  {
    weight: 1,
    arbitrary: late(fc.oneof(held, closeHeld)).map((one) => [one]),
  },
  { weight: 1, arbitrary: fc.tuple(claim, newest(journals.retry_step), lives.due) },
  { weight: 1, arbitrary: fc.tuple(claim, newest(journals.fail_step), newest(lives.fail)) },
  { weight: 1, arbitrary: fc.tuple(claim, newest(journals.record_step), newest(lives.complete), journals.replay_from) },
)

export const anyJournalSequence: fc.Arbitrary<Command[]> = fc
  .tuple(
    fc.array(begin, { minLength: 1, maxLength: FEW.executions, size: 'max' }),
    fc.array(anyStretch, { maxLength: 60, size: 'max' }),
  )
  .map(([creates, others]) => [...creates, ...others.flat()])

/** The same in batches. */
function anyJournalBatchesOver(steps: fc.Arbitrary<number>): fc.Arbitrary<Batch[]> {
  const batch = fc.record({ commands: fc.array(anyStretch, { minLength: 1, maxLength: 5 }), stepMs: steps })
  return fc
    .tuple(
      fc.array(begin, { minLength: 1, maxLength: FEW.executions, size: 'max' }),
      fc.array(batch, { maxLength: 25, size: 'max' }),
    )
    .map(([creates, others]) => [
      { commands: creates, stepMs: 0 },
      ...others.map(({ commands, stepMs: ms }) => ({ commands: commands.flat(), stepMs: ms })),
    ])
}

export const anyJournalBatches = anyJournalBatchesOver(stepMs)
export const anyJournalBatchesInJumpingTime = anyJournalBatchesOver(jumpMs)

/** One execution with more steps, waitpoints and signals than one call can read or remove. */
const DEEP: JournalScale = { executions: 1, reach: 1, names: 120, targets: 90, keys: 20_000, bytes: 40_000 }
const deepLives = commandsOver({ executions: 1, claimCount: 1, reach: 1, isAlive: true })
const deep = journalCommandsOver(DEEP)
const BRIEF = 3

/** A call of one kind, as full as calls get. */
function callOf(commands: fc.Arbitrary<Command>, minLength: number): fc.Arbitrary<Command[]> {
  return fc.array(commands, { minLength, maxLength: BATCH_OPERATION_LIMIT, size: 'max' })
}

function callsOf(commands: fc.Arbitrary<Command>, count: number): fc.Arbitrary<Command[][]> {
  return fc.array(callOf(commands, BATCH_OPERATION_LIMIT), { minLength: count, maxLength: count })
}

/** Without bytes most of the time: the number is what counts. */
const light = <T extends { readonly bytes: Uint8Array | undefined }>(one: fc.Arbitrary<T>): fc.Arbitrary<T> =>
  fc.tuple(one, fc.nat({ max: 9 })).map(([command, n]) => (n === 0 ? command : { ...command, bytes: undefined }))
const deepSignal = light(deep.signal.map((one) => ({ ...one, target: '@go' as const, name: 'go' as const })))
const deepDue = deepLives.due.map((one) => ({ ...one, limit: 200 as const, filter: undefined, isContinued: false }))
const deepPurge = deepLives.purge.map((one) => ({ ...one, filter: undefined, isContinued: false }))
const deepReplay = fc.oneof(
  deep.replay_from,
  deepLives.create.map((one) => ({ ...one, ifExists: 'replace' as const })),
)

const anyDeepStretch: fc.Arbitrary<Command[]> = fc.oneof(
  { weight: 3, arbitrary: callOf(newest(light(deep.record_step)), 20) },
  { weight: 2, arbitrary: callOf(newest(deep.open_waitpoint), 30) },
  { weight: 4, arbitrary: callOf(deepSignal, 40) },
  {
    weight: 2,
    arbitrary: fc.tuple(
      claim,
      newest(deep.suspend),
      deep.resume.map((one) => ({ ...one, name: undefined })),
    ),
  },
  { weight: 2, arbitrary: fc.tuple(claim, newest(deepLives.complete), deepPurge, deepReplay, claim) },
  { weight: 2, arbitrary: fc.array(deepDue, { minLength: 1, maxLength: BRIEF }) },
  { weight: 1, arbitrary: fc.array(deepPurge, { minLength: 1, maxLength: BRIEF }) },
  { weight: 2, arbitrary: fc.array(fc.oneof(deep.read_steps, deep.read_signals), { minLength: 1, maxLength: BRIEF }) },
  {
    weight: 1,
    arbitrary: fc.array(fc.oneof(deep.list_waitpoints, deep.list_open_waitpoints), { minLength: 1, maxLength: BRIEF }),
  },
)

/** Straight to a bound: more waitpoints than may be open, or more signals than may wait to be looked at. */
const OPENING_CALLS = 4
const SIGNAL_CALLS = 22
const anyPrelude: fc.Arbitrary<Command[][]> = fc.oneof(
  { weight: 3, arbitrary: fc.constant<Command[][]>([]) },
  { weight: 2, arbitrary: callsOf(newest(deep.open_waitpoint), OPENING_CALLS) },
  { weight: 1, arbitrary: callsOf(deepSignal, SIGNAL_CALLS) },
)

export const anyDeepJournalBatches: fc.Arbitrary<Batch[]> = fc
  .tuple(
    fc.tuple(
      begin.map((one) => ({ ...one, execution: 0, retentionMs: 0 as const, attemptTimeoutMs: undefined })),
      claim,
    ),
    anyPrelude,
    fc.array(anyDeepStretch, { minLength: 6, maxLength: 25, size: 'max' }),
    fc.constantFrom(0, 1, 200),
  )
  .map(([beginning, prelude, others, ms]) =>
    [beginning, ...prelude, ...others].map((commands) => ({ commands, stepMs: ms })),
  )
