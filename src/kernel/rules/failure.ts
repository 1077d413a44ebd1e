/** Failures as they are stored. */
import type { Failure, FailureInput, Instant } from '../model/records.ts'

export function failureAt({ category, message, stack }: FailureInput, at: Instant): Failure {
  return { category, message, stack, at }
}
