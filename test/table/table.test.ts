import { readdirSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { entriesOf, isReadOperation, operations } from '../../src/kernel/index.ts'
import type { EventType, OperationName, OperationResult, RefusalDetail } from '../../src/kernel/index.ts'
import { publicState } from '../../src/kernel/model/public-state.ts'
import { places, transitions } from '../../src/kernel/transition-table.ts'
import type { Place, Transition } from '../../src/kernel/transition-table.ts'
import { storedEntries, storedRecord, storedRecords } from './trials/memory.ts'
import { runTrial, situationsOf, trialName, trials } from './trials/table.ts'
import type { Outcome, Saying } from './trials/table.ts'
import { executionId } from './trials/world.ts'
import { goldenText } from './golden-text.ts'

const rows = trials.map((trial) => situationsOf(trial).map((situation) => runTrial(trial, situation)))
const outcomes = rows.flat()
const operationNames = Object.keys(operations) as OperationName[]

const UPDATE_ADVICE =
  'If the change is intended, run `npx vitest run --project table -u` and review each line of the diff of test/table/golden.'

/** Operations whose every saying is a new one: the later counts. */
const overwriting: OperationName[] = [
  'renewLease',
  'updateProgress',
  'reissueWaitpoint',
  'registerWorker',
  'heartbeatWorker',
  'renewPermits',
  'renewReservations',
  'reserveBudget',
  'holdLimit',
  'renewDuties',
  'renewConsumer',
  'seekConsumer',
]

/** What time does to an execution besides moving it: a claim handles one thing at a time, and the next when it is repeated. */
const asides: EventType[] = ['waitpoint_closed', 'wait_reminded']

const ONLY_ID = 'ended, only its id is kept'

/** Whether a repetition continues work that the first call left, or is the progress of a longer submission. */
function goesOn({ first: { said }, again }: Outcome): boolean {
  if (said.kind === 'fault') return false
  const result = said.result as OperationResult<OperationName>
  if (result.kind === 'claimed')
    return again.events.length > 0 && again.events.every(({ type }) => asides.includes(type))
  return result.kind === 'accepted' || (result.kind === 'due' && result.next !== undefined)
}

function label({ trial, situation }: Outcome): string {
  return `${trialName(trial)} × ${situation.name}`
}

function refusalOf({ said }: Saying): { code: string; detail: RefusalDetail } | undefined {
  if (said.kind === 'fault' || said.result.kind !== 'refused') return undefined
  return said.result as unknown as { code: string; detail: RefusalDetail }
}

/** Where an operation led and with which codes it was refused, for each place from which it was tried. */
function observed(name: OperationName): Record<string, { to: string[]; refused: string[] }> {
  const seen = new Map<Place, { to: Set<string>; refused: Set<string> }>()
  const look = (from: Place, saying: Saying, after: Place): void => {
    const cell = seen.get(from) ?? { to: new Set(), refused: new Set() }
    seen.set(from, cell)
    const refusal = refusalOf(saying)
    if (refusal === undefined) cell.to.add(after)
    else cell.refused.add(refusal.code)
  }
  for (const outcome of outcomes.filter(({ trial }) => trial.operation === name)) {
    look(outcome.phaseBefore, outcome.first, outcome.phaseBetween)
    look(outcome.phaseBetween, outcome.again, outcome.phaseAfter)
  }
  return Object.fromEntries(
    [...seen].map(([place, cell]) => [place, { to: [...cell.to].sort(), refused: [...cell.refused].sort() }]),
  )
}

describe('the table of operations and phases', () => {
  test('tries every operation in every phase and on an execution that does not exist', () => {
    expect(new Set(trials.map((trial) => trial.operation))).toEqual(new Set(operationNames))
    expect(new Set(outcomes.map((outcome) => outcome.phaseBefore))).toEqual(new Set(places))
  })

  test.each(operationNames)('%s answers and writes as in its golden file', async (name) => {
    const text = goldenText(rows.filter((row) => row.some(({ trial }) => trial.operation === name)))

    await expect(text, UPDATE_ADVICE).toMatchFileSnapshot(`golden/${name}.txt`)
  })

  test('has no golden file of an operation that is gone', () => {
    const files = readdirSync(new URL('golden/', import.meta.url))

    expect(files.filter((file) => !operationNames.some((name) => file === `${name}.txt`))).toEqual([])
  })

  test.each(operationNames)('%s leads to and is refused with what its transitions declare', (name) => {
    const declared = places.map((place) => {
      const { to, refused }: Transition = transitions[name][place]
      return [place, { to: [...to].sort(), refused: [...refused].sort() }]
    })

    expect(observed(name)).toEqual(Object.fromEntries(declared))
  })

  test('never meets an impossible state', () => {
    const faults = outcomes.filter(({ first, again }) => first.said.kind === 'fault' || again.said.kind === 'fault')

    expect(faults.map(label)).toEqual([])
  })

  test('a refusal writes nothing', () => {
    const wrote = outcomes.filter(
      ({ storedBefore, first, again }) =>
        (refusalOf(first) !== undefined && (first.stored !== storedBefore || first.events.length > 0)) ||
        (refusalOf(again) !== undefined && (again.stored !== first.stored || again.events.length > 0)),
    )

    expect(wrote.map(label)).toEqual([])
  })

  test('a refusal carries the state of the execution', () => {
    for (const outcome of outcomes) {
      const refusal = refusalOf(outcome.again)
      if (refusal === undefined) continue
      const execution = storedRecord(outcome.memory, 'execution', executionId)
      const { phase, state, epoch, attempt } = refusal.detail

      // What is refused because of the flow, or of another member, speaks of that.
      if (outcome.trial.about === 'registry') continue
      if (outcome.trial.about !== 'flow' && refusal.detail.flowId === undefined && refusal.detail.name === undefined) {
        expect(refusal.detail.executionId, label(outcome)).toBe(executionId)
      }
      if (execution === undefined || phase === undefined || refusal.detail.executionId !== executionId) continue
      expect([phase, state, epoch, attempt], label(outcome)).toEqual([
        execution.state.phase,
        publicState(execution.state),
        execution.epoch,
        execution.attempt?.number,
      ])
    }
  })

  test('a repeated call is done once', () => {
    const doneTwice = outcomes.filter(
      (outcome) =>
        !overwriting.includes(outcome.trial.operation) &&
        !goesOn(outcome) &&
        (outcome.again.stored !== outcome.first.stored || outcome.again.events.length > 0),
    )

    expect(doneTwice.map(label)).toEqual([])
  })

  test('a read changes nothing', () => {
    const looks = (name: OperationName): boolean => isReadOperation(name) || name === 'reconcileIndexes'
    const changed = outcomes.filter(
      ({ trial, storedBefore, again }) => looks(trial.operation) && again.stored !== storedBefore,
    )

    expect(changed.map(label)).toEqual([])
  })

  test('records and indexes agree after every operation', () => {
    const place = (entry: { index: string; score: number; id: string }): string =>
      [entry.index, entry.score, entry.id].join(' ')
    for (const { memory, ...outcome } of outcomes) {
      const derived = storedRecords(memory).flatMap((record) => entriesOf(record).map(place))

      expect(storedEntries(memory).map(place).sort(), label({ memory, ...outcome })).toEqual(derived.sort())
    }
  })

  test('an execution stands in its queue or in one index of its lane, never in two', () => {
    for (const outcome of outcomes) {
      const standings = storedEntries(outcome.memory).filter(
        ({ index, id }) => id === executionId && (index.startsWith('ready') || index.startsWith('lane')),
      )

      const isKept = storedRecord(outcome.memory, 'execution', executionId)?.removed === undefined
      expect(standings, label(outcome)).toHaveLength(outcome.phaseAfter !== 'absent' && isKept ? 1 : 0)
    }
  })

  test('an epoch never falls while its execution exists', () => {
    for (const outcome of outcomes) {
      const after = storedRecord(outcome.memory, 'execution', executionId)
      // An execution that takes the id of one that was removed is a new one.
      const isNew = outcome.situation.name === ONLY_ID || outcome.phaseBetween === 'absent'
      if (after === undefined || isNew) continue

      expect(after.epoch, label(outcome)).toBeGreaterThanOrEqual(outcome.epochBefore)
    }
  })
})
