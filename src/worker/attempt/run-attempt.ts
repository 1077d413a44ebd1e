/** One run of a handler, from the payload to the outcome. Nothing escapes it: every exit is an outcome. */
import { decodeValue } from '../../client/checks/payload.ts'
import { validate } from '../../client/define/validation.ts'
import { EngineError } from '../../kernel/engine-error.ts'
import { failureOf } from '../error-text.ts'
import type { HandlerContext } from '../context/handler-context.ts'
import type { LeasedExecution } from '../lease/leased-execution.ts'
import { isAbort, outcomeOfError, outcomeOfValue } from './handler-outcome.ts'
import type { HandlerOutcome } from './handler-outcome.ts'

export async function runAttempt(leased: LeasedExecution, context: HandlerContext): Promise<HandlerOutcome> {
  const outcome = await runHandler(leased, context)
  // Progress that was reported before the end is stored before the end, and so is what was added to a flow.
  const calls = context.finishCalls()
  if (calls !== undefined) await calls
  const { earlyExit } = leased
  if (earlyExit !== undefined) {
    await context.runParkCallbacks()
    return { kind: 'exited_early', earlyExit }
  }
  return leased.refusal === undefined ? outcome : { kind: 'leave' }
}

async function runHandler(leased: LeasedExecution, context: HandlerContext): Promise<HandlerOutcome> {
  const { inputSchema, outputSchema } = leased.task.handler.task
  let input: unknown
  try {
    input = decodeInput(leased)
    if (inputSchema !== undefined) input = await validate(inputSchema, input, 'invalid_payload', 'input')
    const loading = context.hasInputs ? context.loadInputs() : undefined
    if (loading !== undefined) await loading
  } catch (error) {
    // The same bytes will not fit the next time either.
    return { kind: 'fail', failure: failureOf('permanent', error), retryAfterMs: undefined }
  }
  let value: unknown
  try {
    value = await leased.raceEarlyExit(leased.task.run(input, context))
  } catch (error) {
    return outcomeOfThrown(leased, error)
  }
  if (leased.earlyExit !== undefined) return { kind: 'leave' }
  if (outputSchema === undefined || isAbort(leased, value)) return outcomeOfValue(leased, value)
  try {
    await validate(outputSchema, value, 'invalid_output', 'result')
    return outcomeOfValue(leased, value)
  } catch (error) {
    return { kind: 'fail', failure: failureOf('invalid_output', error), retryAfterMs: undefined }
  }
}

/** What was thrown may even refuse to be looked at, as a revoked proxy does. */
function outcomeOfThrown(leased: LeasedExecution, error: unknown): HandlerOutcome {
  try {
    return outcomeOfError(leased, error)
  } catch {
    return { kind: 'fail', failure: failureOf('error', undefined), retryAfterMs: undefined }
  }
}

function decodeInput(leased: LeasedExecution): unknown {
  try {
    return decodeValue(leased.claimed.payload, leased.payload)
  } catch (cause) {
    throw new EngineError('invalid_payload', { field: 'input', message: 'Its bytes are not JSON.' }, { cause })
  }
}
