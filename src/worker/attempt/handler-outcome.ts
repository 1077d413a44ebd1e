/** How an attempt ends: decided from what its handler returned or threw and from what befell it, without touching anything. */
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
import type { Departure, HeldExecution } from '../lease/leased-execution.ts'

export type Verdict =
  | { readonly kind: 'complete'; readonly result: EncodedValue | undefined }
  | { readonly kind: 'fail'; readonly failure: FailureInput; readonly retryAfterMs: number | undefined }
  | { readonly kind: 'postpone'; readonly delayMs: number }
  | { readonly kind: 'cancel'; readonly reason: string; readonly by: string }
  | { readonly kind: 'release'; readonly reason: string }
  /** The handler has departed, so the store knows already. */
  | { readonly kind: 'departed'; readonly departure: Departure }
  /** Nothing is said to the store: the lease is lost, or the due pass decides what follows a timeout. */
  | { readonly kind: 'leave' }

/** Work that is done counts, even if somebody wanted it stopped; only a lost lease takes that away. */
export function verdictOfValue(held: HeldExecution, value: unknown): Verdict {
  if (held.refusal !== undefined) return { kind: 'leave' }
  if (isAbort(held, value)) return verdictOfError(held, value)
  try {
    return { kind: 'complete', result: encodeValue(value, 'result', RESULT_BYTES) }
  } catch (error) {
    return { kind: 'fail', failure: failureOf('permanent', error), retryAfterMs: undefined }
  }
}

/** Whether a handler gave back the reason of its signal instead of throwing it. */
export function isAbort(held: HeldExecution, value: unknown): boolean {
  return value !== undefined && value === held.abortReason
}

export function verdictOfError(held: HeldExecution, error: unknown): Verdict {
  if (held.refusal !== undefined) return { kind: 'leave' }
  const { cancelWish } = held
  if (cancelWish !== undefined) return { kind: 'cancel', reason: cancelWish.reason, by: cancelWish.by }
  if (held.isTimedOut) return { kind: 'leave' }
  if (error instanceof PostponeError) return { kind: 'postpone', delayMs: error.postponeMs }
  const verdict = verdictOfFailure(error)
  if (verdict !== undefined) return verdict
  // Only a stopping worker aborts a signal for any other reason: the handler obeyed, and another worker goes on.
  if (held.abortReason !== undefined) return { kind: 'release', reason: 'the worker is stopping' }
  return { kind: 'fail', failure: failureOf('error', error), retryAfterMs: undefined }
}

/** Failures that say themselves what they are. */
function verdictOfFailure(error: unknown): Verdict | undefined {
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
