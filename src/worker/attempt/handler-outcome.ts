/** Classifies how a run of a handler ended. Pure: decides from the returned value or thrown error and the state of the lease. */
import {
  CategorisedError,
  PermanentError,
  PostponeError,
  RetryAfterError,
  StepFailedError,
  StepRefusedError,
} from '../../client/define/errors.ts'
import { encodeValue } from '../../client/checks/payload.ts'
import type { EncodedValue } from '../../client/checks/payload.ts'
import { RESULT_BYTES } from '../../kernel/index.ts'
import type { FailureInput } from '../../kernel/index.ts'
import { failureOf } from '../error-text.ts'
import type { EarlyExit, LeasedExecution } from '../lease/leased-execution.ts'

export type HandlerOutcome =
  | { readonly kind: 'complete'; readonly result: EncodedValue | undefined }
  | { readonly kind: 'fail'; readonly failure: FailureInput; readonly retryAfterMs: number | undefined }
  | { readonly kind: 'postpone'; readonly delayMs: number }
  | { readonly kind: 'cancel'; readonly reason: string; readonly by: string }
  | { readonly kind: 'release'; readonly reason: string }
  /** The store has already ended the run. */
  | { readonly kind: 'exited_early'; readonly earlyExit: EarlyExit }
  /** Nothing is reported: the lease is lost, or the attempt timed out and the due pass decides. */
  | { readonly kind: 'leave' }

/** A returned value completes the execution, even after a cancel request or a timeout. Only a lost lease prevents that. */
export function outcomeOfValue(leased: LeasedExecution, value: unknown): HandlerOutcome {
  if (leased.refusal !== undefined) return { kind: 'leave' }
  if (isAbort(leased, value)) return outcomeOfError(leased, value)
  try {
    return { kind: 'complete', result: encodeValue(value, 'result', RESULT_BYTES) }
  } catch (error) {
    return { kind: 'fail', failure: failureOf('permanent', error), retryAfterMs: undefined }
  }
}

/** Whether a handler returned the abort reason of its signal instead of throwing it. */
export function isAbort(leased: LeasedExecution, value: unknown): boolean {
  return value !== undefined && value === leased.abortReason
}

export function outcomeOfError(leased: LeasedExecution, error: unknown): HandlerOutcome {
  if (leased.refusal !== undefined) return { kind: 'leave' }
  const { pendingCancel } = leased
  if (pendingCancel !== undefined) return { kind: 'cancel', reason: pendingCancel.reason, by: pendingCancel.by }
  if (leased.isTimedOut) return { kind: 'leave' }
  if (error instanceof PostponeError) return { kind: 'postpone', delayMs: error.postponeMs }
  const outcome = outcomeOfFailure(error)
  if (outcome !== undefined) return outcome
  // The remaining abort reason is a stopping worker: the handler has stopped, and another worker continues.
  if (leased.abortReason !== undefined) return { kind: 'release', reason: 'the worker is stopping' }
  return { kind: 'fail', failure: failureOf('error', error), retryAfterMs: undefined }
}

/** Classifies errors that name their own category. */
function outcomeOfFailure(error: unknown): HandlerOutcome | undefined {
  if (error instanceof StepFailedError) {
    const { failure, cause } = error
    return { kind: 'fail', failure, retryAfterMs: cause instanceof RetryAfterError ? cause.retryAfterMs : undefined }
  }
  if (error instanceof PermanentError || error instanceof StepRefusedError)
    return { kind: 'fail', failure: failureOf('permanent', error), retryAfterMs: undefined }
  if (error instanceof RetryAfterError)
    return { kind: 'fail', failure: failureOf('error', error), retryAfterMs: error.retryAfterMs }
  if (error instanceof CategorisedError)
    return { kind: 'fail', failure: failureOf(error.category, error), retryAfterMs: undefined }
  return undefined
}
