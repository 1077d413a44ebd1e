/** Classifies how a run of a handler ended. Pure: decides from the returned value or thrown error and the state of the lease. */
import {
  CategorisedError,
  ChildFailedError,
  ChildrenFailedError,
  ExecutionCancelledError,
  PermanentError,
  PostponeError,
  RetryAfterError,
  StepFailedError,
  StepRefusedError,
} from '../../client/define/errors.ts'
import { encodeValue } from '../../client/checks/payload.ts'
import type { EncodedValue } from '../../client/checks/payload.ts'
import { RESULT_BYTES } from '../../kernel/index.ts'
import type { FailResult, FailureInput } from '../../kernel/index.ts'
import { failureOf, unlessPermanent } from '../error-text.ts'
import type { EngineError } from '../../kernel/engine-error.ts'
import { UnfitInputError } from '../lease/held-value.ts'
import type { Refusal } from '../permits/permit-desk.ts'
import { callAfterDelay } from '../steps/after-delay.ts'
import type { EarlyExit, LeasedExecution } from '../lease/leased-execution.ts'

/** The requester of a stop that no person or program requested. */
const BY_ENGINE = 'engine'

export interface FailOutcome {
  readonly kind: 'fail'
  readonly failure: FailureInput
  readonly retryAfterMs: number | undefined
  /** The run has registered fewer compensations than an earlier one. */
  readonly isIncomplete?: boolean
}

export type HandlerOutcome =
  | { readonly kind: 'complete'; readonly result: EncodedValue | undefined }
  | FailOutcome
  /** `afterwards` is sent once it is delayed. The delay ends also without it. */
  | { readonly kind: 'postpone'; readonly delayMs: number; readonly afterwards?: (() => Promise<void>) | undefined }
  /** `failure` is what went wrong while steps were undone. */
  | { readonly kind: 'cancel'; readonly reason: string; readonly by: string; readonly failure?: FailureInput }
  | { readonly kind: 'release'; readonly reason: string }
  /** The input does not fit the schemas of this worker, so another worker may run the execution. */
  | { readonly kind: 'refuse'; readonly reason: string }
  /** A limit has no permit for it, so the handler has not started. */
  | { readonly kind: 'block'; readonly refusal: Refusal }
  /** The condition of the node is not met, so the handler has not run. */
  | { readonly kind: 'skip' }
  /** The store has already ended the run. */
  | { readonly kind: 'exited_early'; readonly earlyExit: EarlyExit }
  /** The store has received the outcome. */
  | { readonly kind: 'reported'; readonly result: FailResult }
  /** Nothing is reported: the lease is lost, or the attempt timed out and the due pass decides. */
  | { readonly kind: 'leave' }

/**
 * Returns the outcome of a run that must not decide about its execution, whatever its handler returned: its lease is lost, or
 * the handler was aware that the worker stops or that the attempt timed out, so its value may be a fallback.
 */
export function outcomeOfInterruption(leased: LeasedExecution): HandlerOutcome | undefined {
  if (leased.refusal !== undefined) return { kind: 'leave' }
  return leased.isInterruptionDelivered ? handBack(leased) : undefined
}

/** The due pass decides about an attempt that timed out. Any other interruption comes from a stopping worker. */
export function handBack({ isTimedOut }: LeasedExecution): HandlerOutcome {
  return isTimedOut ? { kind: 'leave' } : { kind: 'release', reason: 'the worker is stopping' }
}

/** A returned value completes the execution, even after a cancel request or an interruption that the handler is not aware of. */
export function outcomeOfValue(leased: LeasedExecution, value: unknown): HandlerOutcome {
  if (isAbort(leased, value)) return outcomeOfError(leased, value)
  const cancel = leased.isCancelDelivered ? cancelOf(leased) : undefined
  if (cancel !== undefined) return cancel
  try {
    return { kind: 'complete', result: encodeValue(value, 'result', Math.max(RESULT_BYTES, leased.maxValueBytes ?? 0)) }
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
  if (leased.unfit !== undefined) return refusalOf(leased.unfit)
  const cancel = cancelOf(leased)
  // The store applies a cancel that the handler was not aware of, also to a failure: the handler may still undo its steps.
  if (cancel !== undefined && isCausedByCancel(leased, error)) return cancel
  // The cause of the error may be the interruption, such as a connection that the process has closed.
  if (leased.isInterrupted || leased.isTimedOut) return handBack(leased)
  if (error instanceof PostponeError) return postponementOf(error)
  // From `ctx.flow.wait`, which reads results that arrived after the claim.
  if (error instanceof UnfitInputError) return refusalOf(error)
  const outcome = outcomeOfFailure(error)
  const { shouldRetry } = leased.task.handler.options
  return { ...outcome, failure: unlessPermanent(outcome.failure, error, shouldRetry) }
}

export function postponementOf(error: PostponeError): HandlerOutcome {
  return { kind: 'postpone', delayMs: error.postponeMs, afterwards: callAfterDelay(error) }
}

/** Whether an error may be the reaction to a cancel. Another error of a run that undoes steps is a failure, and may be retried. */
function isCausedByCancel(leased: LeasedExecution, error: unknown): boolean {
  if (error instanceof ExecutionCancelledError) return true
  return leased.pendingCancel !== undefined && (leased.isCancelDelivered || leased.hasGivenSignal)
}

/** The end of a handler that was asked to stop. The store knows the outcome of one that ran to undo its steps. */
export function cancelOf({
  pendingCancel,
  unwinding,
}: LeasedExecution): Extract<HandlerOutcome, { kind: 'cancel' }> | undefined {
  const cancel = pendingCancel ?? unwinding
  return cancel === undefined ? undefined : { kind: 'cancel', reason: cancel.reason, by: cancel.by ?? BY_ENGINE }
}

export function refusalOf(error: EngineError): HandlerOutcome {
  return { kind: 'refuse', reason: failureOf(undefined, error).message }
}

function outcomeOfFailure(error: unknown): Extract<HandlerOutcome, { kind: 'fail' }> {
  if (error instanceof StepFailedError) {
    const { failure, cause } = error
    return { kind: 'fail', failure, retryAfterMs: cause instanceof RetryAfterError ? cause.retryAfterMs : undefined }
  }
  if (error instanceof ChildFailedError || error instanceof ChildrenFailedError)
    return { kind: 'fail', failure: failureOf(error.code, error), retryAfterMs: undefined }
  if (error instanceof PermanentError || error instanceof StepRefusedError)
    return { kind: 'fail', failure: failureOf('permanent', error), retryAfterMs: undefined }
  if (error instanceof RetryAfterError)
    return { kind: 'fail', failure: failureOf('error', error), retryAfterMs: error.retryAfterMs }
  if (error instanceof CategorisedError)
    return { kind: 'fail', failure: failureOf(error.category, error), retryAfterMs: undefined }
  return { kind: 'fail', failure: failureOf('error', error), retryAfterMs: undefined }
}
