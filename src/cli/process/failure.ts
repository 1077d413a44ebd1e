/** Reports every failure in one form: its code, a message and advice. */
import { ExecutionEndedError } from '../../client/index.ts'
import { EngineError } from '../../kernel/engine-error.ts'
import { errorFields } from '../../runtime/index.ts'
import { exitCodeOf } from './exit-codes.ts'
import type { ExitCode } from './exit-codes.ts'
import { printable, printableLines } from '../text/printable.ts'
import type { Output } from '../text/output.ts'

const INTERNAL_ADVICE = 'This is a bug in flowfabric. Please report it with the lines above.'

/** Prints the failure and returns the exit code. */
export function reportFailure(thrown: unknown, output: Output): ExitCode {
  const error = firstOf(thrown)
  output.problem(output.isJson ? JSON.stringify(failureDocument(error)) : failureText(error, output))
  return exitCodeOf(error)
}

/** If closing failed too, the earlier failure is the one to report. */
function firstOf(error: unknown): unknown {
  return error instanceof Error && 'suppressed' in error ? firstOf(error.suppressed) : error
}

function failureDocument(error: unknown): unknown {
  if (!(error instanceof EngineError)) {
    const { error: message, stack } = errorFields(error)
    return { error: { code: 'internal_error', message, stack, advice: INTERNAL_ADVICE, isRetryable: false } }
  }
  const { code, message, advice, isRetryable, detail } = error
  const { message: _message, ...rest } = detail
  return { error: { code, message, advice, isRetryable, detail: rest } }
}

function failureText(error: unknown, output: Output): string {
  if (!(error instanceof EngineError)) {
    const { error: text, stack } = errorFields(error)
    return `${output.styleProblem('red', 'internal_error')}: ${printableLines(stack ?? text)}\n${INTERNAL_ADVICE}`
  }
  const lines = [`${output.styleProblem('red', error.code)}: ${printable(error.message)}`]
  const { state, executionId } = error.detail
  if (error instanceof ExecutionEndedError) {
    lines.push(error.advice, `flowfabric show ${executionId ?? '<id>'}`)
  } else {
    if (state !== undefined) lines.push(`Its state is ${state}.`)
    lines.push(error.advice)
  }
  return lines.join('\n')
}
