/**
 * Votes on the questions of budgets. A credential of the role worker runs the work that asks, so it answers none of them: without a link
 * that was given to a person, a vote needs the role operator.
 */
import { EngineError } from '../../kernel/engine-error.ts'
import { budgetsOf, nameInBudgetId } from '../../kernel/index.ts'
import type { ExecutionId } from '../../kernel/index.ts'
import { partitionOf } from '../../client/index.ts'
import type { Batcher } from '../../stores/batcher.ts'
import { isAtLeast } from '../auth/principal.ts'
import type { Principal } from '../auth/principal.ts'

const QUESTION = 'budget '

/** Whether a wait asks for a budget. Later questions have numbers. */
export function asksFor(step: string, budget: string): boolean {
  const name = QUESTION + budget
  return step === name || (step.startsWith(name) && /^[ #]\d+$/.test(step.slice(name.length)))
}

/** Throws `forbidden` if the target of a signal is the question of a budget that its execution spends, and the caller is no operator. */
export async function refuseOwnVote(
  batcher: Batcher,
  principal: Principal,
  executionId: ExecutionId,
  target: string | undefined,
): Promise<void> {
  if (isAtLeast(principal.role, 'operator') || target?.startsWith(QUESTION) !== true) return
  const { result } = await batcher.run(partitionOf(executionId), 'describeExecution', { executionId })
  if (result.kind === 'refused') return
  if (!budgetsOf(result.execution).some(({ limit }) => asksFor(target, nameInBudgetId(limit)))) return
  throw new EngineError('forbidden', {
    message: `The question of a budget is answered by its link or with the role operator, and '${principal.name}' has the role ${principal.role}.`,
  })
}
