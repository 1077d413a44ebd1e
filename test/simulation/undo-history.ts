/** The promises about compensations: each runs to its end once, in reverse order, unless its execution completes. */
import type { Execution, Step } from '../../src/kernel/index.ts'
import { executionsOf } from '../conformance/execution-invariants.ts'
import type { World } from './world.ts'

/** An execution whose worker dies too often ends without its compensations, and its record shows that. */
const WORN_OUT: readonly (string | undefined)[] = ['lease_expired', 'lease_revoked']

export function undoHistoryProblems({ network, witness }: World): string[] {
  const { registrations, repeatedUndos } = witness.journals
  const executions = new Map<string, Execution>(
    network.dumps.flatMap((dump) => executionsOf(dump)).map((execution) => [execution.id, execution]),
  )
  const steps = new Map(
    network.dumps
      .flatMap((dump) => dump.records)
      .filter((record): record is Step => record.type === 'step')
      .map((step) => [undoKey(step.executionId, step.name), step]),
  )
  const problems = repeatedUndos.map(({ executionId, name }) => `the compensation ${name} of ${executionId} ran again`)
  const registered = Map.groupBy(registrations, ({ executionId }) => executionId)
  for (const [id, told] of registered) {
    const execution = executions.get(id)
    if (execution?.state.phase !== 'ended') continue
    // Every run registers them in the same order.
    const names = [...new Set(told.map(({ name }) => name))]
    const undone = names.map((name) => steps.get(undoKey(id, `${name}#undo`)))
    problems.push(...lifeProblems(execution, names, undone))
  }
  return problems
}

function lifeProblems(execution: Execution, names: readonly string[], undone: readonly (Step | undefined)[]): string[] {
  const { id, state, unwinding } = execution
  const outcome = state.phase === 'ended' ? state.outcome : undefined
  if (outcome === 'completed') {
    return undone.some((step) => step !== undefined) ? [`${id} completed although steps were undone`] : []
  }
  if (WORN_OUT.includes(unwinding?.undoFailure?.category)) return []
  const problems = names
    .filter((_, i) => undone[i]?.state.phase !== 'completed')
    .map((name) => `${id} ended as ${outcome ?? ''} without its compensation ${name}`)
  const positions = undone.map((step) => step?.position ?? -1)
  const isReversed = positions.every((position, i) => i === 0 || position < (positions[i - 1] ?? 0))
  return isReversed || problems.length > 0 ? problems : [`${id} ran its compensations in another order`]
}

function undoKey(executionId: string, name: string): string {
  return JSON.stringify([executionId, name])
}
