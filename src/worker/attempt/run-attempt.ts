/** Runs a handler once, from decoding its input to its outcome. Errors of the handler become outcomes. */
import { validate } from '../../client/define/validation.ts'
import { EngineError } from '../../kernel/engine-error.ts'
import { failureOf } from '../error-text.ts'
import { parseInput } from '../context/unfit-input.ts'
import { UnfitInputError, decodeHeld } from '../lease/held-value.ts'
import type { HandlerContext } from '../context/handler-context.ts'
import type { LeasedExecution } from '../lease/leased-execution.ts'
import { isAbort, outcomeOfError, outcomeOfInterruption, outcomeOfValue, refusalOf } from './handler-outcome.ts'
import type { HandlerOutcome } from './handler-outcome.ts'
import { endsWithoutResult, undoSteps } from './undo-steps.ts'

export async function runAttempt(leased: LeasedExecution, context: HandlerContext): Promise<HandlerOutcome> {
  const returned = await runHandler(leased, context)
  // Pending calls, such as progress reports and added members, are stored before the outcome.
  const calls = context.finishCalls()
  if (calls !== undefined) await calls
  const outcome = unlessUnstored(returned, context)
  const { earlyExit } = leased
  if (earlyExit !== undefined) {
    await context.runParkCallbacks()
    return { kind: 'exited_early', earlyExit }
  }
  if (leased.refusal !== undefined) return { kind: 'leave' }
  if (!endsWithoutResult(leased, outcome)) return outcome
  return await undoSteps(leased, context, { outcome, hadPendingCalls: calls !== undefined })
}

/** A handler whose frames could not be stored has not completed: readers would miss them for ever. */
function unlessUnstored(outcome: HandlerOutcome, { streamFailure }: HandlerContext): HandlerOutcome {
  if (outcome.kind !== 'complete' || streamFailure === undefined) return outcome
  return { kind: 'fail', failure: failureOf('error', streamFailure), retryAfterMs: undefined }
}

async function runHandler(leased: LeasedExecution, context: HandlerContext): Promise<HandlerOutcome> {
  const { inputSchema, outputSchema } = leased.task.handler.task
  let input: unknown
  try {
    input = decodeInput(leased)
    if (inputSchema !== undefined) input = await parseInput(inputSchema, input, 'input')
    const loading = context.hasInputs ? context.loadInputs() : undefined
    if (loading !== undefined) await loading
  } catch (error) {
    if (error instanceof UnfitInputError) return refusalOf(error)
    // Not retryable: the same input fails in the same way.
    return { kind: 'fail', failure: failureOf('permanent', error), retryAfterMs: undefined }
  }
  try {
    const condition = context.meetsCondition()
    if (condition !== undefined && !(await condition)) return { kind: 'skip' }
  } catch (error) {
    return outcomeOfThrown(leased, error)
  }
  let value: unknown
  try {
    value = await leased.raceEarlyExit(leased.task.run(input, context))
  } catch (error) {
    return outcomeOfThrown(leased, error)
  }
  if (leased.earlyExit !== undefined) return { kind: 'leave' }
  if (leased.unfit !== undefined) return refusalOf(leased.unfit)
  const interruption = outcomeOfInterruption(leased)
  if (interruption !== undefined) return interruption
  if (outputSchema === undefined || leased.isCancelDelivered || isAbort(leased, value))
    return outcomeOfValue(leased, value)
  try {
    await validate(outputSchema, value, 'invalid_output', 'result')
    return outcomeOfValue(leased, value)
  } catch (error) {
    return { kind: 'fail', failure: failureOf('invalid_output', error), retryAfterMs: undefined }
  }
}

/** Reading a thrown value may throw, as with a revoked proxy. */
function outcomeOfThrown(leased: LeasedExecution, error: unknown): HandlerOutcome {
  try {
    return outcomeOfError(leased, error)
  } catch {
    return { kind: 'fail', failure: failureOf('error', undefined), retryAfterMs: undefined }
  }
}

function decodeInput(leased: LeasedExecution): unknown {
  try {
    return decodeHeld(leased, leased.claimed.payload, leased.payload)
  } catch (cause) {
    if (cause instanceof UnfitInputError) throw cause
    throw new EngineError(
      'invalid_payload',
      { field: 'input', message: 'The stored bytes are not valid JSON.' },
      { cause },
    )
  }
}
