/** The promises about steps, waits and signals, held against what handlers, senders and the store saw. */
import { isDeepStrictEqual } from 'node:util'
import type { Signal, Step } from '../../src/kernel/index.ts'
import type { StoredEvent } from '../../src/stores/store.ts'
import { executionsOf } from '../conformance/execution-invariants.ts'
import { ITEM_COUNT } from './journal-kinds.ts'
import type { StepAnswer } from './journal-notes.ts'
import { undoHistoryProblems } from './undo-history.ts'
import type { World } from './world.ts'

export function journalHistoryProblems(world: World): string[] {
  const { journals } = world.witness
  const events = world.network.dumps.flatMap((dump) => dump.events)
  return [
    ...keyProblems(world),
    ...answerProblems(journals.answers),
    ...originProblems(world),
    ...rerunProblems(world, events),
    ...signalProblems(world),
    ...itemProblems(world),
    ...voteProblems(journals.answers),
    ...restProblems(world),
    ...undoProblems(world),
    ...undoHistoryProblems(world),
  ]
}

/** What a cancelled execution has done, it undoes before it ends. */
function undoProblems({ network }: World): string[] {
  const records = network.dumps.flatMap((dump) => dump.records)
  const done = new Set(
    records
      .filter((record): record is Step => record.type === 'step')
      .filter(({ state }) => state.phase === 'completed')
      .map(({ executionId, name }) => JSON.stringify([executionId, name])),
  )
  const has = (id: string, name: string) => done.has(JSON.stringify([id, name]))
  return network.dumps
    .flatMap((dump) => executionsOf(dump))
    .filter(({ task, state }) => task === 'dismissed' && state.phase === 'ended' && state.outcome === 'cancelled')
    .filter(({ id }) => has(id, 'before') && !has(id, 'undo'))
    .map(({ id }) => `${id} was cancelled, and its step was not undone`)
}

/** However often a step runs, it asks for the same thing. */
function keyProblems({ witness }: World): string[] {
  const runs = Map.groupBy(witness.journals.runs, ({ executionId, step }) => `${step} of ${executionId}`)
  return [...runs]
    .filter(([, told]) => new Set(told.map(({ idempotencyKey }) => idempotencyKey)).size > 1)
    .map(([step]) => `the step ${step} was given several idempotency keys`)
}

/** A step or a wait that was answered once is answered so for ever. */
function answerProblems(answers: readonly StepAnswer[]): string[] {
  const told = Map.groupBy(answers, ({ executionId, kind, name }) => `${kind} ${name} of ${executionId}`)
  return [...told]
    .filter(([, [first, ...others]]) => others.some(({ value }) => !isDeepStrictEqual(value, first?.value)))
    .map(([what]) => `the ${what} was answered in different ways`)
}

/** What a step is answered with was made by a run of it. */
function originProblems({ witness }: World): string[] {
  const { runs, answers } = witness.journals
  const made = new Set(runs.map(({ executionId, step, value }) => JSON.stringify([executionId, step, value])))
  return answers
    .filter(({ kind }) => kind === 'step')
    .filter(({ executionId, name, value }) => !made.has(JSON.stringify([executionId, name, value])))
    .map(({ executionId, name }) => `the step ${name} of ${executionId} was answered with what no run of it gave`)
}

/** What takes an execution from its worker in the middle of something. */
const INTERRUPTIONS: readonly string[] = [
  'lease_expired',
  'lease_revoked',
  'attempt_failed',
  'execution_released',
  'execution_unwinding',
]

/** A step runs again only if its worker was interrupted, or if it failed. */
function rerunProblems({ witness }: World, events: readonly StoredEvent[]): string[] {
  const reasons = new Map<string, number>()
  for (const { type, executionId, effect, reason } of events) {
    const hasFailed = type === 'step_recorded' ? effect === 'retry' : reason === 'step_retry'
    if (INTERRUPTIONS.includes(type) || hasFailed) reasons.set(executionId, (reasons.get(executionId) ?? 0) + 1)
  }
  const runs = Map.groupBy(witness.journals.runs, ({ executionId, step }) => JSON.stringify([executionId, step]))
  return [...runs].flatMap(([key, told]) => {
    const [executionId = '', step = ''] = JSON.parse(key) as string[]
    const allowed = 1 + (reasons.get(executionId) ?? 0)
    return told.length <= allowed
      ? []
      : [`the step ${step} of ${executionId} ran ${told.length} times, for ${allowed} reasons`]
  })
}

/** An acknowledged signal is stored once, with the effect in its answer. A repeated signal is not refused as late. */
function signalProblems({ witness, network }: World): string[] {
  const dumps = network.dumps
  const executions = new Set<string>(dumps.flatMap((dump) => executionsOf(dump)).map(({ id }) => id))
  const kept = dumps.flatMap((dump) => dump.records).filter((record): record is Signal => record.type === 'signal')
  return witness.journals.sent.flatMap(({ executionId, target, key, told }) => {
    if (!executions.has(executionId)) return []
    // Whom a token was made for stands before the sender's own key.
    const signal = kept.find((one) => one.executionId === executionId && one.target === target && one.key.endsWith(key))
    if (told === 'refused') {
      return signal === undefined
        ? []
        : [`the signal ${key} to ${executionId} was taken, and refused when it was repeated`]
    }
    const isSame = signal?.sequence === told.sequence && signal.effect === told.effect
    return isSame
      ? []
      : [`the signal ${key} to ${executionId} was taken and is ${signal === undefined ? 'lost' : 'another'}`]
  })
}

/** Every item is consumed once, in any order. */
function itemProblems({ witness, network }: World): string[] {
  const completed = network.dumps
    .flatMap((dump) => executionsOf(dump))
    .filter(({ task, state }) => task === 'collecting' && state.phase === 'ended' && state.outcome === 'completed')
  return completed.flatMap(({ id }) => {
    const heard = new Map<string, unknown>()
    for (const { executionId, kind, name, value } of witness.journals.answers) {
      if (executionId === id && kind === 'wait') heard.set(name, (value as { readonly value?: unknown }).value)
    }
    return new Set(heard.values()).size === ITEM_COUNT ? [] : [`${id} did not consume every item once`]
  })
}

/** No sender counts twice, and no sender counts that was not asked. */
function voteProblems(answers: readonly StepAnswer[]): string[] {
  return answers
    .filter(({ name }) => name === 'review')
    .flatMap(({ executionId, value }) => {
      const { ok, votes = [] } = value as {
        readonly ok: boolean
        readonly votes?: readonly { readonly by: { readonly identity: string } }[]
      }
      const voters = votes.map(({ by }) => by.identity)
      const isFair = new Set(voters).size === voters.length && !voters.includes('stranger')
      return ok && voters.length === 2 && isFair ? [] : [`${executionId} was approved by ${voters.join(', ')}`]
    })
}

/** No sleep ends early. A clock that goes back makes naps look shorter than they were. */
function restProblems({ witness, hasClockGoneBack }: World): string[] {
  if (hasClockGoneBack) return []
  return witness.journals.rests
    .filter(({ ms, askedMs }) => ms < askedMs)
    .map(({ executionId, ms, askedMs }) => `${executionId} slept ${ms} ms instead of ${askedMs}`)
}
