/**
 * What an execution remembers agrees with its own record: counters with what they count, an open wait with a suspended
 * execution, open waitpoints with their records, and what a wait was satisfied by with what it asked for.
 */
import { OPEN_WAITPOINT_MAX, SENDER_MAX, SENDER_SIGNAL_MAX } from '../../src/kernel/index.ts'
import type { AnyRecord, Execution, Journal, Signal, Step, Wait, Waitpoint } from '../../src/kernel/index.ts'
import type { PartitionDump } from '../../src/stores/store.ts'
import { meets } from './condition-oracle.ts'
import { executionsOf } from './execution-invariants.ts'

const SEPARATOR = '\u001f'

/** What one life of one execution has stored. */
interface Stored {
  readonly steps: readonly Step[]
  readonly waitpoints: readonly Waitpoint[]
  readonly signals: readonly Signal[]
}

type JournalRecord = Step | Waitpoint | Signal

function isOfJournal(record: AnyRecord): record is JournalRecord {
  return record.type === 'step' || record.type === 'waitpoint' || record.type === 'signal'
}

export function journalProblems(dump: PartitionDump): string[] {
  const records = dump.records.filter((record) => isOfJournal(record))
  const byExecution = Map.groupBy(records, (record) => record.executionId)
  const problems: string[] = []
  for (const execution of executionsOf(dump)) {
    const own = byExecution.get(execution.id) ?? []
    byExecution.delete(execution.id)
    problems.push(...problemsOfOne(execution, own).map((rule) => `${execution.id} breaks the rule: ${rule}`))
  }
  for (const id of byExecution.keys()) problems.push(`what ${id} remembered outlives it`)
  return problems
}

/** The id of what belongs to a first life begins with the execution's own; in later lives their number follows it. */
export function lifeOf(record: JournalRecord): number {
  const scope = record.id.slice(0, -[SEPARATOR, ...ownParts(record)].join('').length)
  return Number(scope.split(SEPARATOR)[1] ?? 0)
}

function ownParts(record: JournalRecord): string[] {
  switch (record.type) {
    case 'step':
      return [record.kind, SEPARATOR, record.name]
    case 'waitpoint':
      return [record.target]
    case 'signal':
      return [record.target, SEPARATOR, String(record.round), SEPARATOR, record.key]
  }
}

function problemsOfOne(execution: Execution, records: readonly JournalRecord[]): string[] {
  const journal = execution.journal
  if (journal === undefined) return records.length === 0 ? [] : ['who has no journal remembers nothing']
  const problems: string[] = []
  for (const life of new Set(records.map(lifeOf))) {
    if (life > journal.life || life < journal.firstLife) problems.push(`life ${life} is one of its own`)
  }
  const current = records.filter((record) => lifeOf(record) === journal.life)
  const stored: Stored = {
    steps: current.filter((record) => record.type === 'step'),
    waitpoints: current.filter((record) => record.type === 'waitpoint'),
    signals: current.filter((record) => record.type === 'signal'),
  }
  // Of what is being removed some is gone already.
  if (journal.isRemoving) return problems
  return [
    ...problems,
    ...broken(countRules(journal, stored)),
    ...broken(waitRules(execution, journal, stored)),
    ...broken(openRules(execution, journal, stored)),
    ...stored.waitpoints.flatMap((waitpoint) => waitpointProblems(waitpoint, stored)),
    ...broken(keptRules(execution, stored)),
    ...stored.steps.flatMap((step) => satisfierProblems(step, stored)),
  ]
}

function broken(rules: Record<string, boolean>): string[] {
  return Object.keys(rules).filter((rule) => rules[rule] !== true)
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0)
}

function countRules(journal: Journal, { steps, waitpoints, signals }: Stored): Record<string, boolean> {
  const positions = steps.map((step) => step.position)
  const sequences = signals.map((signal) => signal.sequence).sort((a, b) => a - b)
  return {
    'steps are counted': journal.stepCount === steps.length,
    'children are counted': (journal.childCount ?? 0) === steps.filter(({ kind }) => kind === 'child').length,
    'bytes of steps are counted': journal.stepBytes === sum(steps.map((step) => step.size)),
    'positions are given out once': new Set(positions).size === positions.length,
    'positions lie before the next': positions.every((position) => position >= 0 && position < journal.nextPosition),
    'signals are counted and numbered without a gap':
      journal.signalCount === signals.length && sequences.every((sequence, i) => sequence === i + 1),
    'signals by links are counted':
      (journal.linkSignalCount ?? 0) === signals.filter(({ source }) => source.type === 'token').length,
    'signals that are kept are counted':
      journal.bufferedCount === sum(waitpoints.map((waitpoint) => waitpoint.bufferedCount)),
    'what is set aside lies before the next position, in order': journal.cuts.every(
      (cut, i) => cut.from < cut.to && cut.to <= journal.nextPosition && cut.from >= (journal.cuts[i - 1]?.to ?? 0),
    ),
  }
}

/** An execution waits exactly if one of its steps does. */
function waitRules(execution: Execution, journal: Journal, { steps }: Stored): Record<string, boolean> {
  const { state, lastLease, attempt, next } = execution
  const open = steps.filter(
    ({ kind, name, state: { phase } }) =>
      phase === 'open' && kind !== 'child' && (kind !== 'join' || isIn(state, kind, name)),
  )
  const failedRounds = steps.flatMap((step) => (step.state.phase === 'failed' ? [step.state.round] : []))
  const always = {
    'no step has failed in a round to come': failedRounds.every((round) => round <= journal.round),
    'what waits has what it waits for': steps.every(
      (step) => (step.kind === 'wait' || step.kind === 'sleep') === (step.wait !== undefined),
    ),
  }
  if (state.phase !== 'suspended') return { ...always, 'who does not wait has no open wait': open.length === 0 }
  const step = steps.find(({ kind, name }) => [kind, name].join(SEPARATOR) === state.step)
  const isRetry = step?.state.phase === 'retrying'
  return {
    ...always,
    'who waits, waits in a step': step !== undefined,
    'who waits has one open wait, or a step to be tried again':
      isRetry || (open.length === 1 && open[0]?.id === step?.id),
    'while a step is to be tried again nothing else is waited for': !isRetry || open.length === 0,
    'the wait ends with its step':
      step?.state.phase === 'retrying' ? step.state.until === state.until : step?.wait?.until === state.until,
    'who waits holds no lease and knows how the last one ended': lastLease?.how === 'suspended',
    'a waiting execution continues its attempt': attempt !== undefined && next === 'continue',
  }
}

/** A join that the execution does not wait in may be open: its pages are not complete, or the handler waits elsewhere. */
function isIn(state: Execution['state'], kind: string, name: string): boolean {
  return state.phase === 'suspended' && state.step === [kind, name].join(SEPARATOR)
}

function openRules(execution: Execution, journal: Journal, { waitpoints }: Stored): Record<string, boolean> {
  const targets = journal.open.map((open) => open.target)
  const records = waitpoints.filter((waitpoint) => targets.includes(waitpoint.target))
  const unclosed = waitpoints.filter(({ target, closedAt }) => closedAt === undefined && !target.startsWith('@'))
  const isReplayed = execution.lastReplay !== undefined
  const isStopped = execution.state.phase === 'ended' || execution.unwinding !== undefined
  return {
    'a waitpoint is open once': new Set(targets).size === targets.length,
    'mailboxes are not opened': targets.every((target) => !target.startsWith('@')),
    'what is open has a record that is not closed':
      records.length === targets.length && records.every((waitpoint) => waitpoint.closedAt === undefined),
    'what is not open is closed, unless its execution was stopped over it':
      isStopped || isReplayed || unclosed.length === targets.length,
    'an execution that has ended accepts no signal': execution.state.phase !== 'ended' || targets.length === 0,
    'no more is open than may be': targets.length <= OPEN_WAITPOINT_MAX,
  }
}

function waitpointProblems(waitpoint: Waitpoint, { signals }: Stored): string[] {
  const { target, round, openedAfter, closedAt, senders } = waitpoint
  const sent = signals.filter((signal) => signal.target === target)
  const present = sent.filter((signal) => signal.round === round)
  const kept = present.filter((signal) => signal.isWaiting)
  const isMailbox = target.startsWith('@')
  return broken({
    [`signals to ${target} are counted`]: waitpoint.signalCount === sent.length,
    [`signals that are kept at ${target} are counted`]:
      waitpoint.bufferedCount === (closedAt === undefined ? kept.length : 0),
    [`signals by links that are kept at ${target} are counted`]:
      (waitpoint.linkBufferedCount ?? 0) ===
      (closedAt === undefined ? kept.filter(({ source }) => source.type === 'token').length : 0),
    [`${target} knows what came before it was opened`]: sent.every(
      (signal) => signal.sequence > openedAfter === (signal.round === round),
    ),
    [`senders at ${target} are counted, each once`]:
      senders.length <= SENDER_MAX && new Set(senders.map(({ identity }) => identity)).size === senders.length,
    [`senders at ${target} have sent what is counted, and no more than they may`]: senders.every(
      ({ identity, count }) =>
        count >= 1 &&
        count <= SENDER_SIGNAL_MAX &&
        count <= present.filter((signal) => signal.source.identity === identity).length,
    ),
    [`${target} was opened before it received anything`]: sent.every((signal) => signal.round <= round),
    [`${target} is a mailbox and is not closed`]: !isMailbox || closedAt === undefined,
    [`tokens of ${target} are of an opening`]: waitpoint.generation >= round,
  })
}

/** A signal is kept until a wait has counted it, and then it is that wait's. */
function keptRules(execution: Execution, { steps, signals }: Stored): Record<string, boolean> {
  const counted = new Set(steps.flatMap((step) => step.wait?.satisfiers ?? []))
  const taken = signals.filter((signal) => signal.effect === 'buffered' && !signal.isWaiting && signal.isTaken !== true)
  return {
    'only what came early is kept': signals.every((signal) => !signal.isWaiting || signal.effect === 'buffered'),
    'what a handler has taken is not kept, and has not counted': signals.every(
      (signal) => signal.isTaken !== true || (!signal.isWaiting && !counted.has(signal.sequence)),
    ),
    'what has counted is not kept': signals.every((signal) => !signal.isWaiting || !counted.has(signal.sequence)),
    // A replay has other waits, or the same ones anew; so has a handler that undoes its steps.
    'what came early and is not kept has counted':
      execution.lastReplay !== undefined ||
      execution.unwinding !== undefined ||
      taken.every((signal) => counted.has(signal.sequence)),
  }
}

/** Satisfiers alone meet the condition of a wait that was satisfied, and do not of one that was not. */
function satisfierProblems(step: Step, { signals }: Stored): string[] {
  const wait = step.wait
  if (wait === undefined) return []
  const satisfiers = wait.satisfiers.flatMap((sequence) => signals.filter((signal) => signal.sequence === sequence))
  const isSatisfied = step.state.phase === 'closed' && step.state.how === 'satisfied'
  // A timeout is recorded like any other signal, but it is no answer.
  const byTime = satisfiers.filter((signal) => signal.source.type === 'engine')
  const answers = satisfiers.filter((signal) => !byTime.includes(signal))
  return broken({
    [`satisfiers of ${step.name} exist, each once`]:
      satisfiers.length === wait.satisfiers.length && new Set(wait.satisfiers).size === wait.satisfiers.length,
    [`satisfiers of ${step.name} were sent where it listens`]: answers.every((signal) =>
      wait.targets.includes(signal.target),
    ),
    [`${step.name} is satisfied exactly if its satisfiers meet it`]: meets(wait.nodes, answers) === isSatisfied,
    [`${step.name} knows what closed it`]: closerIsRight(step, wait, isSatisfied || byTime.length > 0),
  })
}

function closerIsRight(step: Step, wait: Wait, isClosedBySignal: boolean): boolean {
  if (step.state.phase === 'open') return wait.closer === undefined
  return isClosedBySignal ? wait.closer === wait.satisfiers.at(-1) : wait.closer === undefined
}
