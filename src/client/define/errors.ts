/** Errors that a handler throws to control how its attempt ends, and errors that callers receive. */
import type { ExecutionId } from '../../kernel/model/base-records.ts'
import type { FailureInput, Outcome } from '../../kernel/model/records.ts'
import { EngineError, markError } from '../../kernel/engine-error.ts'
import type { ErrorDetail } from '../../kernel/engine-error.ts'
import { parseDuration } from './duration.ts'
import type { Duration } from './duration.ts'
import { show } from '../checks/names.ts'

/** Thrown by a handler whose work can never succeed: the execution fails without further retries. */
export class PermanentError extends Error {
  override readonly name = 'PermanentError'
}

/** Thrown by a handler to choose the time of the next retry. Counts as a failed attempt. */
export class RetryAfterError extends Error {
  override readonly name = 'RetryAfterError'
  readonly retryAfterMs: number

  constructor(retryAfter: Duration, message = 'The handler asked for a retry.', options?: ErrorOptions) {
    super(message, options)
    this.retryAfterMs = parseDuration(retryAfter, 'retryAfter')
  }
}

/** Thrown by a handler that has nothing to do yet: the same attempt runs again later, and none is used up. */
export class PostponeError extends Error {
  override readonly name: string = 'PostponeError'
  readonly postponeMs: number

  constructor(postpone: Duration, message = 'The handler postponed its work.') {
    super(message)
    this.postponeMs = parseDuration(postpone, 'postpone')
  }
}

/** What a budget had no room for. Limits and raises are summed in `hard`. */
export interface BudgetShortage {
  readonly budget: string
  readonly key: string
  /** What was asked for is more than is left of this dimension. Empty if an operator has frozen the budget. */
  readonly dimension: string
  readonly spent: number
  readonly reserved: number
  readonly hard: number
  readonly asked: number
  /** Until the budget begins anew; absent if it never does. */
  readonly resetsInMs: number | undefined
  readonly isFrozen: boolean
}

/**
 * A budget has no room for a reservation. Catch it to do the work another way, such as with a smaller model. Rethrown, it postpones
 * the execution until the budget may have room: the same attempt runs again, and none is used up.
 */
export class BudgetExceededError extends PostponeError {
  override readonly name = 'BudgetExceededError'
  readonly shortage: BudgetShortage

  constructor(shortage: BudgetShortage, postponeMs: number, message: string) {
    super(postponeMs, message)
    this.shortage = shortage
  }
}

/** An error with an application-defined category, for `retry.onlyCategories` and the attempt history. */
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
 * A step has failed and is not retried. Every run of the handler receives the same error; `cause` exists only in the run
 * that tried the step. Rethrown, it fails the attempt like the original error.
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

export interface ChildFailure extends FailureInput {
  readonly outcome: Exclude<Outcome, 'completed'>
}

/** The child of a `ChildFailedError`. */
export interface FailedChild {
  readonly name: string
  readonly id: ExecutionId
  readonly task: string
}

/**
 * A child ended without completing. Every run of the handler receives the same error. Rethrown, it fails the attempt like the
 * child's own error, and a retry of the parent starts the child anew.
 */
export class ChildFailedError extends Error {
  override readonly name = 'ChildFailedError'
  /** The name of the child in its parent. */
  readonly child: string
  readonly childId: ExecutionId
  readonly task: string
  readonly outcome: Exclude<Outcome, 'completed'>
  readonly failure: FailureInput

  constructor(child: FailedChild, { outcome, ...failure }: ChildFailure, options?: ErrorOptions) {
    super(failure.message, options)
    this.child = child.name
    this.childId = child.id
    this.task = child.task
    this.outcome = outcome
    this.failure = failure
  }

  /** The category of the child's failure. */
  get code(): string {
    return this.failure.category
  }
}

/** So many children have failed that too few can complete. */
export class ChildrenFailedError extends AggregateError {
  override readonly name = 'ChildrenFailedError'
  declare errors: ChildFailedError[]

  /** The category that all failures have in common, else `error`. */
  get code(): string {
    const code = this.errors[0]?.code ?? 'error'
    return this.errors.every((error) => error.code === code) ? code : 'error'
  }
}

/**
 * A step or a wait that can never be recorded: its value is too large, its name is invalid, or a limit is reached.
 * Rethrown, it fails the execution without a retry.
 */
export class StepRefusedError extends EngineError {
  override readonly name = 'StepRefusedError'
}

/** The lease is lost, and another worker may run the execution. Stop the work: nothing more is recorded. */
export class LeaseLostError extends EngineError {
  override readonly name = 'LeaseLostError'
}

/**
 * Thrown once by a durable call of a handler whose execution is about to end: it was cancelled, its deadline is over, or it has
 * failed for good and compensations are left to run. The handler may undo its steps with further steps. Whatever it
 * returns or throws afterwards, the execution ends with `outcome`.
 */
export class ExecutionCancelledError extends EngineError {
  override readonly name = 'ExecutionCancelledError'
  readonly outcome: Exclude<Outcome, 'completed'>

  constructor(outcome: Exclude<Outcome, 'completed'>, detail: ErrorDetail) {
    super(`execution_${outcome}`, detail)
    this.outcome = outcome
  }
}

/** The rejection of `result()` when an execution ends without completing. */
export class ExecutionEndedError extends EngineError {
  override readonly name = 'ExecutionEndedError'
  readonly outcome: Exclude<Outcome, 'completed'>

  constructor(outcome: Exclude<Outcome, 'completed'>, detail: ErrorDetail) {
    super(`execution_${outcome}`, detail)
    this.outcome = outcome
  }
}

const marked = {
  PermanentError,
  RetryAfterError,
  PostponeError,
  BudgetExceededError,
  CategorisedError,
  StepFailedError,
  ChildFailedError,
  ChildrenFailedError,
  StepRefusedError,
  LeaseLostError,
  ExecutionCancelledError,
  ExecutionEndedError,
}
for (const [name, errorClass] of Object.entries(marked)) markError(errorClass, name)
