/** The key that a handler passes to services, the same for all attempts of one execution. */
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
