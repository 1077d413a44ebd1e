/** Where the value of a step is stored. */
import { resultKey, stepValueKey } from '../model/blob-keys.ts'
import type { Step } from '../model/journal-schema.ts'

/** The value of a child is the result of its execution, and is not copied. */
export function valueKeyOf(step: Step): string {
  return step.child === undefined ? stepValueKey(step.id) : resultKey(step.child.executionId)
}
