/** One run of a handler, from the payload to the verdict. Nothing escapes it: every exit is a verdict. */
import { decodeValue } from '../../client/checks/payload.ts'
import { validate } from '../../client/define/validation.ts'
import { EngineError } from '../../kernel/engine-error.ts'
import { failureOf } from '../error-text.ts'
import type { HandlerContext } from '../context/handler-context.ts'
import type { HeldExecution } from '../lease/leased-execution.ts'
import { isAbort, verdictOfError, verdictOfValue } from './handler-outcome.ts'
import type { Verdict } from './handler-outcome.ts'

export async function runAttempt(held: HeldExecution, context: HandlerContext): Promise<Verdict> {
  const verdict = await reachVerdict(held, context)
  // Progress that was reported before the end is stored before the end, and so is what was added to a flow.
  const calls = context.settleCalls()
  if (calls !== undefined) await calls
  const { departure } = held
  if (departure !== undefined) {
    await context.cleanUp()
    return { kind: 'departed', departure }
  }
  return held.refusal === undefined ? verdict : { kind: 'leave' }
}

async function reachVerdict(held: HeldExecution, context: HandlerContext): Promise<Verdict> {
  const { inputSchema, outputSchema } = held.task.handler.task
  let input: unknown
  try {
    input = decodeInput(held)
    if (inputSchema !== undefined) input = await validate(inputSchema, input, 'invalid_payload', 'input')
    const loading = context.hasInputs ? context.loadInputs() : undefined
    if (loading !== undefined) await loading
  } catch (error) {
    // The same bytes will not fit the next time either.
    return { kind: 'fail', failure: failureOf('permanent', error), retryAfterMs: undefined }
  }
  let value: unknown
  try {
    value = await held.outcomeOf(held.task.run(input, context))
  } catch (error) {
    return verdictOfThrown(held, error)
  }
  if (held.departure !== undefined) return { kind: 'leave' }
  if (outputSchema === undefined || isAbort(held, value)) return verdictOfValue(held, value)
  try {
    await validate(outputSchema, value, 'invalid_output', 'result')
    return verdictOfValue(held, value)
  } catch (error) {
    return { kind: 'fail', failure: failureOf('invalid_output', error), retryAfterMs: undefined }
  }
}

/** What was thrown may even refuse to be looked at, as a revoked proxy does. */
function verdictOfThrown(held: HeldExecution, error: unknown): Verdict {
  try {
    return verdictOfError(held, error)
  } catch {
    return { kind: 'fail', failure: failureOf('error', undefined), retryAfterMs: undefined }
  }
}

function decodeInput(held: HeldExecution): unknown {
  try {
    return decodeValue(held.claimed.payload, held.payload)
  } catch (cause) {
    throw new EngineError('invalid_payload', { field: 'input', message: 'Its bytes are not JSON.' }, { cause })
  }
}
