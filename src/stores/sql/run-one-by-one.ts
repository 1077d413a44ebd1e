/** Runs the operations of a failed batch one by one, so that an operation that cannot succeed fails alone. */
import type { Answer, Call } from '../store.ts'

/**
 * Returns a fault for each operation whose error `faultOf` recognizes. Any other error is a failure of the store: the
 * completed operations keep their answers and the others are returned as `not_run`. Throws if there is no answer to keep.
 */
export async function runOneByOne(
  calls: readonly Call[],
  run: (call: Call) => Promise<readonly Answer[]>,
  faultOf: (call: Call, error: unknown) => Answer | undefined,
): Promise<Answer[]> {
  const answers: Answer[] = []
  for (const call of calls) {
    try {
      answers.push(...(await run(call)))
    } catch (error) {
      const fault = faultOf(call, error)
      if (fault === undefined && answers.length === 0) throw error
      if (fault === undefined) return calls.map((_, i) => answers[i] ?? { kind: 'not_run' })
      answers.push(fault)
    }
  }
  return answers
}

export function faultIn({ operation, input }: Call, reason: string): Answer {
  const recordId = 'executionId' in input ? input.executionId : operation
  return { kind: 'fault', reason: `${operation} failed: ${reason}`, recordId }
}
