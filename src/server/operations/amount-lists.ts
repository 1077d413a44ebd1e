/**
 * Checks lists of amounts before the kernel computes with them: it expects each dimension once, in the order of the names. A list with a
 * dimension twice would pass the limits and make the sums wrong.
 */
import { checkSpending } from '../../client/index.ts'
import type { Amounts, OperationName } from '../../kernel/index.ts'
import { BUDGET_AMOUNT_MAX } from '../../kernel/limits.ts'
import { invalidInput } from '../../options/invalid-input.ts'

const FIELDS = ['amounts', 'hard', 'soft', 'asks'] as const
/** Reports of what one call takes. Other lists may be sums. */
const REPORTS: readonly OperationName[] = ['spendBudget', 'reserveBudget', 'settleReservation']

export function checkAmountLists(operation: OperationName, input: Readonly<Record<string, unknown>>): void {
  for (const field of FIELDS) {
    const list = input[field]
    if (Array.isArray(list) && list.length > 0) checkAmounts(list as Amounts, field, REPORTS.includes(operation))
  }
}

function checkAmounts(amounts: Amounts, field: string, isReport: boolean): void {
  for (const [i, { dimension }] of amounts.entries()) {
    const before = amounts[i - 1]?.dimension
    if (before !== undefined && before >= dimension)
      throw invalidInput(field, `${field} must have each dimension once, in the order of the names.`)
  }
  const boundOf = (value: number) => (isReport ? value : Math.min(value, BUDGET_AMOUNT_MAX))
  checkSpending(Object.fromEntries(amounts.map(({ dimension, value }) => [dimension, boundOf(value)])), field)
}
