import { describe, expect, test } from 'vitest'
import { ExecutionEndedError } from '../../client/index.ts'
import { errorCatalogue } from '../../kernel/index.ts'
import type { ErrorCode } from '../../kernel/index.ts'
import { EngineError } from '../../kernel/engine-error.ts'
import { exitCodeOf, exitCodeTexts, exitCodes } from './exit-codes.ts'

describe('the exit code of an error', () => {
  test.each<[ErrorCode, number]>([
    ['invalid_input', exitCodes.invalidInput],
    ['invalid_cursor', exitCodes.invalidInput],
    ['payload_too_large', exitCodes.invalidInput],
    ['invalid_configuration', exitCodes.invalidInput],
    ['signing_keys_missing', exitCodes.invalidInput],
    ['invalid_keys', exitCodes.invalidInput],
    ['execution_not_found', exitCodes.notFound],
    ['execution_exists', exitCodes.failed],
    ['execution_not_ended', exitCodes.failed],
    ['replays_exhausted', exitCodes.failed],
    ['flow_not_found', exitCodes.notFound],
    ['flow_ended', exitCodes.failed],
    ['flow_busy', exitCodes.failed],
    ['flow_not_settled', exitCodes.failed],
    ['store_not_found', exitCodes.storeUnavailable],
    ['store_in_use', exitCodes.failed],
    ['store_busy', exitCodes.storeUnavailable],
    ['newer_schema', exitCodes.storeUnavailable],
    ['older_schema', exitCodes.storeUnavailable],
    ['corruption', exitCodes.storeUnavailable],
    ['aborted', exitCodes.interrupted],
  ])('%s exits with %i', (code, exitCode) => {
    expect(exitCodeOf(new EngineError(code))).toBe(exitCode)
  })

  test('an execution that was waited for and ended badly has a code of its own', () => {
    expect(exitCodeOf(new ExecutionEndedError('failed', {}))).toBe(exitCodes.endedOtherwise)
  })

  test('what is no error of the catalogue is a fault of the program', () => {
    expect(exitCodeOf(new TypeError('x is undefined'))).toBe(exitCodes.internalError)
  })

  test('no code of the catalogue ends with success or is left to chance', () => {
    for (const code of Object.keys(errorCatalogue) as ErrorCode[]) {
      expect([1, 2, 3, 4, 130]).toContain(exitCodeOf(new EngineError(code)))
    }
  })
})

test('every exit code is explained', () => {
  expect(exitCodeTexts.map(({ code }) => code)).toEqual(Object.values(exitCodes))
})
