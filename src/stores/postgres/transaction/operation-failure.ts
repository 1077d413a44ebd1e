/** Failures of a batch that are caused by one of its operations, not by the server or the connection. */
import { EngineError } from '../../../kernel/engine-error.ts'
import { faultIn } from '../../sql/run-one-by-one.ts'
import type { Answer, Call } from '../../store.ts'
import { isRefusedRow, isServerError, refusedRowText } from '../wire/postgres-error.ts'

/** Whether a retry of the same operation would fail again. */
export function isOperationFailure(error: unknown): error is Error {
  return error instanceof Error && (isRefusedRow(error) || !(error instanceof EngineError || isServerError(error)))
}

export function reasonOf(error: Error): string {
  return isRefusedRow(error) ? refusedRowText(error) : error.message
}

export function faultOf(call: Call, error: unknown): Answer | undefined {
  return isOperationFailure(error) ? faultIn(call, reasonOf(error)) : undefined
}
