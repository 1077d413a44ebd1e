import { PassThrough } from 'node:stream'
import { expect, test } from 'vitest'
import { ExecutionEndedError, invalidInput } from '../../client/index.ts'
import type { ExecutionId } from '../../kernel/index.ts'
import { EngineError } from '../../kernel/engine-error.ts'
import { exitCodes } from './exit-codes.ts'
import { reportFailure } from './failure.ts'
import { Output } from '../text/output.ts'

function report(error: unknown, isJson = false) {
  const stderr = new PassThrough({ encoding: 'utf8' })
  const exitCode = reportFailure(error, new Output(new PassThrough() as never, stderr as never, isJson))
  return { exitCode, text: String(stderr.read() ?? '') }
}

const executionId = '0-00000000-0000-7000-8000-000000000000' as ExecutionId

test('a failure is reported with its code, a message and advice', () => {
  expect(report(invalidInput('--delay', '--delay is "x".'))).toEqual({
    exitCode: exitCodes.invalidInput,
    text: 'invalid_input: The input is not valid. --delay is "x".\nCorrect the field that the message names.\n',
  })
})

test('a refusal names the state of the execution', () => {
  const { text } = report(new EngineError('execution_not_ended', { executionId, state: 'active' }))
  expect(text).toContain('Its state is active.')
})

test('an execution that did not complete is reported with the command that shows it', () => {
  const { text, exitCode } = report(new ExecutionEndedError('failed', { executionId, message: 'no bank' }))
  expect(text).toContain(`flowfabric show ${executionId}`)
  expect(exitCode).toBe(exitCodes.endedOtherwise)
})

test('with --json it is an object', () => {
  const { text } = report(new EngineError('store_busy'), true)
  expect(JSON.parse(text)).toMatchObject({ error: { code: 'store_busy', isRetryable: true, detail: {} } })
})

test('a failure while closing does not hide the failure before it', () => {
  const both = Object.assign(new Error('suppressed'), {
    error: new EngineError('store_unavailable'),
    suppressed: new EngineError('execution_not_found'),
  })
  expect(report(both).exitCode).toBe(exitCodes.notFound)
})

test('a fault of the program shows where it happened', () => {
  const { text, exitCode } = report(new TypeError('x is undefined'))
  expect(exitCode).toBe(exitCodes.internalError)
  expect(text).toMatch(/internal_error: TypeError: x is undefined\n +at /)
})
