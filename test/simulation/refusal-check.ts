/** Refusals of an input are counted one by one. */
import type { Execution } from '../../src/kernel/index.ts'
import type { StoredEvent } from '../../src/stores/store.ts'

export const REFUSED = 'input_refused'

/** What happens to an execution between two refusals, if no handler runs. */
const BETWEEN_REFUSALS: readonly string[] = ['attempt_started', 'execution_delayed', 'execution_promoted']

export function refusalProblems(before: Execution, after: Execution, events: readonly StoredEvent[]): string[] {
  const told = events.filter(({ category }) => category === REFUSED).length
  const was = before.refusals?.count ?? 0
  const is = after.refusals?.count ?? 0
  if (is > was + told) return [`${after.id} counts ${is - was} more refusals, but had ${told}`]
  const isCounting = told > 0 && events.every(({ type }) => BETWEEN_REFUSALS.includes(type))
  return isCounting && is < was + told ? [`${after.id} forgets that its input was refused`] : []
}
