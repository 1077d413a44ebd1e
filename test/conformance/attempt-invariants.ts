/** History: every attempt that ended is kept, up to a limit, numbered without a gap, each under a later lease. */
import { ATTEMPT_HISTORY_MAX } from '../../src/kernel/index.ts'
import type { Attempt, Execution } from '../../src/kernel/index.ts'
import type { PartitionDump } from '../../src/stores/store.ts'
import { executionsOf } from './execution-invariants.ts'

export function attemptProblems(dump: PartitionDump): string[] {
  const attempts: Attempt[] = dump.records.filter((record) => record.type === 'attempt')
  const byExecution = Map.groupBy(attempts, (attempt) => attempt.executionId)
  const problems: string[] = []
  for (const execution of executionsOf(dump)) {
    const history = (byExecution.get(execution.id) ?? []).sort((a, b) => a.number - b.number)
    byExecution.delete(execution.id)
    problems.push(...historyProblems(execution, history))
  }
  for (const executionId of byExecution.keys()) problems.push(`attempts of ${executionId} outlive their execution`)
  return problems
}

function historyProblems(execution: Execution, history: readonly Attempt[]): string[] {
  const problems: string[] = []
  const numbers = history.map((attempt) => attempt.number)
  const expected = expectedNumbers(execution)
  if (numbers.join() !== expected.join()) {
    problems.push(`${execution.id} keeps the attempts ${numbers.join()}, not ${expected.join()}`)
  }
  history.forEach((attempt, i) => {
    const previous = history[i - 1]
    if (previous !== undefined && previous.epoch >= attempt.epoch) {
      problems.push(`attempt ${attempt.number} of ${execution.id} has no later lease than the one before`)
    }
    if (previous !== undefined && previous.endedAt > attempt.startedAt) {
      problems.push(`attempt ${attempt.number} of ${execution.id} began before the one before had ended`)
    }
    if (attempt.endedAt < attempt.startedAt) {
      problems.push(`attempt ${attempt.number} of ${execution.id} ended before it began`)
    }
    if (attempt.epoch > execution.epoch) problems.push(`attempt ${attempt.number} of ${execution.id} is of the future`)
  })
  return problems
}

/** All that ended, except one that completed last: the execution's own record holds it. */
function expectedNumbers(execution: Execution): number[] {
  const { attempt, state, next } = execution
  if (attempt === undefined || execution.removed !== undefined) return []
  const isOpen =
    state.phase === 'active' || state.phase === 'suspended' || (state.phase !== 'ended' && next === 'continue')
  const toldByTheRecord = state.phase === 'ended' && state.outcome === 'completed'
  const last = isOpen || toldByTheRecord ? attempt.number - 1 : attempt.number
  const first = Math.max(1, last - ATTEMPT_HISTORY_MAX + 1)
  return Array.from({ length: Math.max(0, last - first + 1) }, (_, i) => first + i)
}
