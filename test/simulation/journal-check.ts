/** What must hold of steps, waits and signals after every batch of calls that has changed something. */
import type { Execution, Step, Waitpoint } from '../../src/kernel/index.ts'
import type { PartitionDump } from '../../src/stores/store.ts'
import { executionsOf } from '../conformance/execution-invariants.ts'
import { lifeOf } from '../conformance/journal-invariants.ts'
import { textOfRecord } from '../properties/record-text.ts'
import type { Effect } from './network.ts'

export function journalEffectProblems({ before, after }: Effect): string[] {
  return [...unheardProblems(after), ...recordProblems(before, after)]
}

function recordsOf<T extends 'step' | 'waitpoint'>(dump: PartitionDump, type: T) {
  return dump.records.filter((record): record is Extract<Step | Waitpoint, { type: T }> => record.type === type)
}

/** A wait has looked at everything that had come to where it waits. */
function unheardProblems(dump: PartitionDump): string[] {
  const waitpoints = new Map(recordsOf(dump, 'waitpoint').map((one) => [`${one.executionId} ${one.target}`, one]))
  return recordsOf(dump, 'step')
    .filter(({ state }) => state.phase === 'open')
    .flatMap(({ executionId, name, wait }) =>
      (wait?.targets ?? [])
        .filter((target) => (waitpoints.get(`${executionId} ${target}`)?.bufferedCount ?? 0) > 0)
        .map((target) => `the wait ${name} of ${executionId} has not looked at what came to ${target}`),
    )
}

/** Who completed or was answered stays so, unless a replay sets it aside. */
function recordProblems(before: PartitionDump, after: PartitionDump): string[] {
  const is = new Map(recordsOf(after, 'step').map((step) => [step.id, step]))
  const alive = new Map<string, Execution>(executionsOf(after).map((execution) => [execution.id, execution]))
  return recordsOf(before, 'step').flatMap((step) => {
    const { id, executionId, name, kind, state } = step
    // A waitpoint may be opened once more.
    if (kind === 'waitpoint') return []
    const isKept = state.phase === 'completed' || (state.phase === 'closed' && state.how !== 'ended')
    const execution = alive.get(executionId)
    if (!isKept || execution === undefined || (execution.journal?.era ?? 0) > 0) return []
    // What an earlier run has recorded is removed in the background.
    if (lifeOf(step) < (execution.journal?.life ?? 0)) return []
    const now = is.get(id)
    if (now !== undefined && textOfRecord(unmarked(now)) === textOfRecord(unmarked(step))) return []
    return [`the step ${name} of ${executionId} was recorded and is ${now === undefined ? 'lost' : 'another'}`]
  })
}

/** A join may mark a child that has ended, and a later round takes it over. */
function unmarked(step: Step): Step {
  return step.child === undefined ? step : { ...step, child: { ...step.child, mark: undefined, round: 0 } }
}
