/** Failures of a batch for which one of its operations is to blame, and neither the server nor the way to it. */
import { EngineError } from '../../../kernel/engine-error.ts'
import type { Answer, Call } from '../../store.ts'
import { isRefusedRow, isServerError, refusedRowText } from '../wire/postgres-error.ts'

/** Whether the same would happen again to the same operation, so that others need not suffer from it. */
export function isOwnFault(error: unknown): error is Error {
  return error instanceof Error && (isRefusedRow(error) || !(error instanceof EngineError || isServerError(error)))
}

export function reasonOf(error: Error): string {
  return isRefusedRow(error) ? refusedRowText(error) : error.message
}

/**
 * Runs calls one by one, so that one at fault does not take the others down with it. What has been done before the store
 * fails is answered; the others are sent again and meet the failure.
 */
export async function answerOneByOne(
  calls: readonly Call[],
  run: (call: Call) => Promise<readonly Answer[]>,
): Promise<Answer[]> {
  const answers: Answer[] = []
  for (const call of calls) {
    try {
      answers.push(...(await run(call)))
    } catch (error) {
      if (isOwnFault(error)) {
        answers.push({
          kind: 'fault',
          reason: `${call.operation} failed: ${reasonOf(error)}`,
          recordId: recordIdOf(call),
        })
        continue
      }
      if (answers.length === 0) throw error
      return calls.map((_, i) => answers[i] ?? { kind: 'not_run' })
    }
  }
  return answers
}

function recordIdOf({ operation, input }: Call): string {
  return 'executionId' in input ? input.executionId : operation
}
