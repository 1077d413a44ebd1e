/** The events of budgets. */
import type { Account, Budget } from '../../model/budget-schema.ts'
import type { EventSubject } from '../../model/events.ts'
import type { ExecutionId } from '../../model/records.ts'
import type { Tx } from '../../tx.ts'

/** What was done to a budget: the `effect` of its event. */
export type BudgetEffect = 'defined' | 'changed' | 'frozen' | 'opened' | 'raised' | 'reset' | 'deleted'

/** Returns a budget as the subject of an event, with its name in the place of an execution's id and the key in that of a task. */
function budgetSubject({ name }: Budget, key: string): EventSubject {
  return { id: name as ExecutionId, namespace: '', task: key, lane: '', tags: [], member: undefined }
}

export function emitBudgetChanged(
  tx: Tx,
  budget: Budget,
  key: string,
  detail: { readonly effect: BudgetEffect; readonly by?: string | undefined; readonly reason?: string | undefined },
): void {
  tx.emit('budget_changed', budgetSubject(budget, key), detail)
}

/** `category` is the dimension. */
export function emitOverrun(
  tx: Tx,
  type: 'budget_warned' | 'budget_breached',
  budget: Budget,
  account: Account,
  dimension: string,
): void {
  tx.emit(type, budgetSubject(budget, account.key), { category: dimension })
}
