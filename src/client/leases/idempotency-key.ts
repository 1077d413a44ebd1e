/** The keys of one execution, the same for all its attempts: what a handler passes to services, and what it spends under. */
import type { Claimed } from '../../kernel/index.ts'

/**
 * Includes the creation time and the number of the run, because an execution that replaces an ended one has the same id, and may be
 * created in the same millisecond.
 */
export function idempotencyKeyOf({
  executionId,
  createdAt,
  run,
}: Pick<Claimed, 'executionId' | 'createdAt' | 'run'>): string {
  const key = `${executionId}-${createdAt.toString(36)}`
  return run === 0 ? key : `${key}-${run}`
}

/** What the keys of all calls to budgets begin with, before a colon. A replay has others, because it spends anew. */
export function spendingPrefixOf(execution: Parameters<typeof idempotencyKeyOf>[0], era = 0): string {
  return `${idempotencyKeyOf(execution)}.${era}`
}
