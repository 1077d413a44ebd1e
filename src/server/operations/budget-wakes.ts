/**
 * The wakes of budgets. They name executions of all namespaces that share a budget, so a caller of one namespace gets none: the server
 * delivers them in its place.
 */
import { budgetId, isBudgetId } from '../../kernel/index.ts'
import type { BudgetWake, KeyWake, OperationName, ReturnAnswer } from '../../kernel/index.ts'
import type { Batcher } from '../../stores/batcher.ts'
import { deliverWakes } from '../../stores/deliver-wakes.ts'

type Input = Readonly<Record<string, unknown>>

/** Delivers the wakes of budgets in a result, and returns the result without them. The engine delivers those that do not arrive. */
export async function withoutWakes(
  batcher: Batcher,
  operation: OperationName,
  input: Input,
  result: object,
): Promise<object> {
  switch (operation) {
    case 'spendBudget':
    case 'settleReservation':
    case 'releaseReservation':
    case 'raiseBudget': {
      const { wakes } = result as { readonly wakes?: readonly BudgetWake[] }
      if (wakes === undefined || wakes.length === 0) return result
      const root = String(input['root'])
      await deliver(
        batcher,
        Map.groupBy(wakes, ({ name }) => budgetId(root, name)),
      )
      return { ...result, wakes: [] }
    }
    case 'wakeWaiting': {
      const limit = String(input['name'])
      const { wakes } = result as { readonly wakes: readonly KeyWake[] }
      if (!isBudgetId(limit) || wakes.length === 0) return result
      await deliver(batcher, new Map([[limit, wakes]]))
      return { ...result, wakes: [] }
    }
    case 'returnPermits': {
      const { answers } = result as { readonly answers: readonly ReturnAnswer[] }
      const ofBudgets = answers.filter(({ limit, wakes }) => isBudgetId(limit) && wakes.length > 0)
      if (ofBudgets.length === 0) return result
      const byBudget = Map.groupBy(ofBudgets, ({ limit }) => limit)
      await deliver(batcher, new Map([...byBudget].map(([limit, own]) => [limit, own.flatMap(keyWakesOf)])))
      return {
        ...result,
        answers: answers.map((answer) => (isBudgetId(answer.limit) ? { ...answer, wakes: [] } : answer)),
      }
    }
    default:
      return result
  }
}

async function deliver(batcher: Batcher, byBudget: ReadonlyMap<string, readonly KeyWake[]>): Promise<void> {
  await Promise.allSettled([...byBudget].map(([limit, wakes]) => deliverWakes(batcher, limit, wakes)))
}

function keyWakesOf({ key, wakes }: ReturnAnswer): KeyWake[] {
  return wakes.map((wake) => ({ ...wake, key }))
}
