/** What one operation may do to what executions remember: a result, an answer or a signal that was recorded stays as it is. */
import type { AnyRecord, Execution, Signal, Step as StepRecord, Waitpoint } from '../../src/kernel/index.ts'
import type { PartitionDump } from '../../src/stores/store.ts'
import { executionsOf } from '../conformance/execution-invariants.ts'
import { textOfRecord } from './record-text.ts'
import { idsWithEvent } from './step-rules.ts'
import type { Step } from './step-rules.ts'

/** Operations that remove what is no longer read. */
const SWEEPERS: readonly string[] = ['runDue', 'claimForWorker', 'completeExecution', 'purgeExecutions']

type JournalRecord = StepRecord | Waitpoint | Signal

export function journalStepProblems(step: Step): string[] {
  const executions = new Map(executionsOf(step.after).map((execution) => [execution.id as string, execution]))
  const after = new Map(journalRecordsOf(step.after).map((record) => [keyOf(record), record]))
  const problems: string[] = []
  for (const record of journalRecordsOf(step.before)) {
    const kept = after.get(keyOf(record))
    if (kept === undefined) problems.push(...lossProblems(step, record, executions.get(record.executionId)))
    else if (textOfRecord(record) !== textOfRecord(kept)) {
      problems.push(...changeProblems(record, kept, executions.get(record.executionId)))
    }
  }
  return [...problems, ...counterProblems(step, executions)]
}

function journalRecordsOf(dump: PartitionDump): JournalRecord[] {
  return dump.records.filter(isJournalRecord)
}

function isJournalRecord(record: AnyRecord): record is JournalRecord {
  return record.type === 'step' || record.type === 'waitpoint' || record.type === 'signal'
}

function keyOf({ type, id }: JournalRecord): string {
  return `${type} ${id}`
}

function lossProblems(step: Step, record: JournalRecord, execution: Execution | undefined): string[] {
  const { call } = step
  const problem = `${keyOf(record)} is lost`
  // The members of a flow that is replaced go with all that they remember.
  const isReplaced = call.operation === 'submitFlow' && execution === undefined
  if (!SWEEPERS.includes(call.operation) && !isReplaced) return [problem]
  const journal = execution?.journal
  // With its execution everything goes; else only what a replay or a successor has left behind.
  if (execution === undefined || execution.state.phase === 'ended') return []
  // What has its id now is a member of the next run of its flow.
  if (call.operation === 'runDue' && idsWithEvent(step, 'execution_purged').includes(execution.id)) return []
  const isOfEarlierLife = journal !== undefined && journal.life > 0
  return record.type === 'step' || isOfEarlierLife ? [] : [problem]
}

function changeProblems(before: JournalRecord, after: JournalRecord, execution: Execution | undefined): string[] {
  const problem = `${keyOf(before)} was recorded and has changed`
  if (before.type === 'signal' && after.type === 'signal') {
    const taken = { ...before, isWaiting: false }
    return before.isWaiting && textOfRecord(taken) === textOfRecord(after) ? [] : [problem]
  }
  if (before.type === 'waitpoint' && after.type === 'waitpoint') {
    const fell =
      after.round < before.round ||
      after.generation < before.generation ||
      after.signalCount < before.signalCount ||
      after.openedAfter < before.openedAfter
    if (fell) return [`${keyOf(before)} counts backwards`]
    const isSameOpening = after.openedAfter === before.openedAfter && after.createdAt === before.createdAt
    return after.round > before.round || isSameOpening ? [] : [`${keyOf(before)} was opened again as if it were not`]
  }
  if (before.type !== 'step' || after.type !== 'step') return [problem]
  // Under a new position it is a step that was done anew because a replay had set it aside.
  if (after.position !== before.position) {
    return after.position > before.position && (execution?.journal?.era ?? 0) > 0 ? [] : [problem]
  }
  return isAnswer(before) ? [problem] : []
}

/** What a handler that runs again is answered with, whatever else happens. A waitpoint may be opened once more. */
function isAnswer({ kind, state }: StepRecord): boolean {
  if (kind === 'waitpoint') return false
  return state.phase === 'completed' || (state.phase === 'closed' && state.how !== 'ended')
}

/** Numbers that are given out once only rise, as long as one life of an execution lasts. */
function counterProblems(step: Step, executions: ReadonlyMap<string, Execution>): string[] {
  return executionsOf(step.before).flatMap(({ id, journal: before }) => {
    const after = executions.get(id)?.journal
    if (before === undefined || after === undefined || after.life !== before.life) return []
    const fell =
      after.nextPosition < before.nextPosition ||
      after.signalCount < before.signalCount ||
      after.round < before.round ||
      after.era < before.era
    return fell ? [`the journal of ${id} counts backwards`] : []
  })
}
