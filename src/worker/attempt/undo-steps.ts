/**
 * Runs the compensations of a handler that has ended without a result. The decision that the execution does not complete is
 * stored before the first of them runs: by the cancel request, by the stop that this run was claimed for, or by the failure that
 * is reported here. So no later run can complete an execution some of whose steps were undone.
 */
import { PostponeError } from '../../client/define/errors.ts'
import type { FailureInput } from '../../kernel/index.ts'
import { errorFields } from '../../runtime/index.ts'
import type { HandlerContext } from '../context/handler-context.ts'
import { failureOf } from '../error-text.ts'
import type { LeasedExecution } from '../lease/leased-execution.ts'
import { mayRunIncomplete } from '../steps/compensations.ts'
import type { FailedUndo } from '../steps/compensations.ts'
import { cancelOf, handBack, postponementOf } from './handler-outcome.ts'
import type { FailOutcome, HandlerOutcome } from './handler-outcome.ts'
import { sendFailure } from './report-outcome.ts'

export interface EndedHandler {
  readonly outcome: HandlerOutcome
  /** Branches of the handler had calls pending when it ended. */
  readonly hadPendingCalls: boolean
}

/** Returns the outcome to report of a handler that has ended without a result, unless compensations have changed it. */
export async function undoSteps(
  leased: LeasedExecution,
  context: HandlerContext,
  { outcome, hadPendingCalls }: EndedHandler,
): Promise<HandlerOutcome> {
  // A branch whose step has just been recorded may register its compensation now.
  if (hadPendingCalls) await new Promise<void>((resolve) => context.services.runtime.soon(resolve))
  if (!context.hasCompensations) return outcome
  await unlessLost(leased, () => context.compensations.storeCount())
  if (leased.refusal !== undefined) return { kind: 'leave' }
  const isComplete = missingCount(leased, context) === 0
  if (outcome.kind === 'fail') return await failThenUndo(leased, context, { ...outcome, isIncomplete: !isComplete })
  if (isComplete || mayRunIncomplete(leased)) return await runAll(leased, context)
  const failure = failureOf('compensation_incomplete', { message: missingText(leased, context) })
  return await failThenUndo(leased, context, { kind: 'fail', failure, retryAfterMs: undefined, isIncomplete: true })
}

/** Whether the handler has ended, and the execution may end without a result. */
export function endsWithoutResult({ unwinding }: LeasedExecution, { kind }: HandlerOutcome): boolean {
  return kind === 'fail' || kind === 'cancel' || (kind === 'complete' && unwinding !== undefined)
}

/** Makes a call. Resolves with undefined if the lease is lost, or the worker has stopped, before the call is answered. */
async function unlessLost<T>(leased: LeasedExecution, call: () => Promise<T>): Promise<T | undefined> {
  try {
    return await call()
  } catch (error) {
    if (leased.refusal === undefined) throw error
    return undefined
  }
}

/** How many compensations earlier runs have registered and this one has not. */
function missingCount(leased: LeasedExecution, { compensations }: HandlerContext): number {
  return Math.max(0, (leased.claimed.journal?.compensationCount ?? 0) - compensations.count)
}

function missingText(leased: LeasedExecution, context: HandlerContext): string {
  const { count } = context.compensations
  return `the handler registered ${count} of ${count + missingCount(leased, context)} compensations`
}

/** Reports a failure, and runs the compensations if the store answers that the failure is final. */
async function failThenUndo(
  leased: LeasedExecution,
  context: HandlerContext,
  outcome: FailOutcome,
): Promise<HandlerOutcome> {
  const { services } = context
  leased.isSettling = true
  const result = await unlessLost(leased, () => sendFailure(services, leased, outcome))
  if (result === undefined) return { kind: 'leave' }
  if (result.kind !== 'unwinding' && result.kind !== 'already_unwinding') return { kind: 'reported', result }
  leased.isSettling = false
  services.keeper.unwind(leased, result.unwinding)
  return await runAll(leased, context)
}

async function runAll(leased: LeasedExecution, context: HandlerContext): Promise<HandlerOutcome> {
  leased.isCancelDelivered = true
  let failed: readonly FailedUndo[] = []
  try {
    await leased.raceEarlyExit(
      context.compensations.run().then((failures) => {
        failed = failures
      }),
    )
  } catch (error) {
    return outcomeOfInterrupted(leased, error)
  }
  if (leased.earlyExit !== undefined) return { kind: 'exited_early', earlyExit: leased.earlyExit }
  if (leased.refusal !== undefined) return { kind: 'leave' }
  for (const { name, error } of failed) {
    context.log.error(
      { compensation: name, ...errorFields(error) },
      'compensation failed; the execution ends without it',
    )
  }
  const cancel = cancelOf(leased)
  // Unexpected: a handler is asked to stop before its steps are undone.
  if (cancel === undefined) throw new Error('An execution that is not stopped has undone its steps.')
  const failure = undoFailure(leased, context, failed)
  return failure === undefined ? cancel : { ...cancel, failure }
}

/** A later run continues where this one was interrupted. */
function outcomeOfInterrupted(leased: LeasedExecution, error: unknown): HandlerOutcome {
  if (leased.refusal !== undefined) return { kind: 'leave' }
  if (leased.isInterrupted || leased.isTimedOut) return handBack(leased)
  if (error instanceof PostponeError) return postponementOf(error)
  throw error
}

function undoFailure(
  leased: LeasedExecution,
  context: HandlerContext,
  failed: readonly FailedUndo[],
): FailureInput | undefined {
  const parts = failed.map(({ name, error }) => `compensation '${name}' failed: ${error.message}`)
  if (missingCount(leased, context) > 0) parts.unshift(missingText(leased, context))
  if (parts.length === 0) return undefined
  return failureOf('compensation_failed', { message: parts.join('; '), stack: failed[0]?.error.stack })
}
