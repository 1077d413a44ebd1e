/** Errors that a handler throws to say how its attempt shall end, and those that waiting callers meet. */
import type { FailureInput, Outcome } from '../../kernel/model/records.ts'
import { EngineError } from '../../kernel/engine-error.ts'
import type { ErrorDetail } from '../../kernel/engine-error.ts'
import { parseDuration } from './duration.ts'
import type { Duration } from './duration.ts'
import { show } from '../checks/names.ts'

/** Thrown by a handler whose work can never succeed: the execution fails now, whatever retries remain. */
export class PermanentError extends Error {
  override readonly name = 'PermanentError'
}

/** Thrown by a handler that knows when a retry makes sense. It counts as a failed attempt. */
export class RetryAfterError extends Error {
  override readonly name = 'RetryAfterError'
  readonly retryAfterMs: number

  constructor(retryAfter: Duration, message = 'The handler asked for a retry.', options?: ErrorOptions) {
    super(message, options)
    this.retryAfterMs = parseDuration(retryAfter, 'retryAfter')
  }
}

/** Thrown by a handler that finds it has nothing to do yet: the same attempt runs again later, and no attempt is burnt. */
export class PostponeError extends Error {
  override readonly name = 'PostponeError'
  readonly postponeMs: number

  constructor(postpone: Duration, message = 'The handler postponed its work.') {
    super(message)
    this.postponeMs = parseDuration(postpone, 'postpone')
  }
}

/** An error with a category of the application's own, for `retry.onlyCategories` and for the attempt's history. */
export class CategorisedError extends Error {
  override readonly name = 'CategorisedError'
  readonly category: string

  constructor(category: string, message: string, options?: ErrorOptions) {
    const given: unknown = category
    if (typeof given !== 'string' || given === '') {
      throw new TypeError(`The category of an error is a text such as 'rate_limit', not ${show(given)}.`)
    }
    super(message, options)
    this.category = category
  }
}

/**
 * A step has failed for good. It is the same whenever the handler runs again, which only the `cause` is not: that is there
 * in the run that tried it. Thrown on, it fails the attempt as what the step threw would have.
 */
export class StepFailedError extends Error {
  override readonly name = 'StepFailedError'
  readonly step: string
  readonly failure: FailureInput

  constructor(step: string, failure: FailureInput, options?: ErrorOptions) {
    super(failure.message, options)
    this.step = step
    this.failure = failure
    if (failure.stack !== undefined) this.stack = failure.stack
  }

  get category(): string {
    return this.failure.category
  }
}

/**
 * A step or a wait that cannot be recorded, and could not be the next time either: its value is too large, its name cannot
 * be used, a limit is reached. Thrown on, it fails the execution for good.
 */
export class StepRefusedError extends EngineError {
  override readonly name = 'StepRefusedError'
}

/** The lease is gone: another worker may have the execution already. Stop the work; nothing more is recorded of it. */
export class LeaseLostError extends EngineError {
  override readonly name = 'LeaseLostError'
}

/** What `result()` rejects with when an execution ends other than by completing. */
export class ExecutionEndedError extends EngineError {
  override readonly name = 'ExecutionEndedError'
  readonly outcome: Exclude<Outcome, 'completed'>

  constructor(outcome: Exclude<Outcome, 'completed'>, detail: ErrorDetail) {
    super(`execution_${outcome}`, detail)
    this.outcome = outcome
  }
}
