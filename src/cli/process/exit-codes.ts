/** The exit codes of all commands. `--help` and docs/cli.md list them. */
import { errorCatalogue } from '../../kernel/index.ts'
import type { ErrorCode } from '../../kernel/index.ts'
import { ExecutionEndedError } from '../../client/index.ts'
import { EngineError } from '../../kernel/engine-error.ts'

export const exitCodes = {
  ok: 0,
  failed: 1,
  invalidInput: 2,
  notFound: 3,
  storeUnavailable: 4,
  endedOtherwise: 5,
  internalError: 70,
  interrupted: 130,
  terminated: 143,
} as const

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes]

export const exitCodeTexts: readonly { readonly code: ExitCode; readonly text: string }[] = [
  { code: exitCodes.ok, text: 'success' },
  { code: exitCodes.failed, text: 'refused or failed; doctor found a problem' },
  { code: exitCodes.invalidInput, text: 'wrong usage or invalid input; nothing was changed' },
  { code: exitCodes.notFound, text: 'nothing has this id, key or name' },
  {
    code: exitCodes.storeUnavailable,
    text: 'the store is missing, unreachable, busy, full, damaged or of another version',
  },
  { code: exitCodes.endedOtherwise, text: 'submit --wait: the execution ended without completing' },
  { code: exitCodes.internalError, text: 'a bug in flowfabric' },
  { code: exitCodes.interrupted, text: 'interrupted by ctrl-c (SIGINT)' },
  { code: exitCodes.terminated, text: 'ended by SIGTERM' },
]

/** Configuration errors. The catalogue gives them a server status, but the user of a command can correct them. */
const CONFIGURATION_CODES: readonly ErrorCode[] = ['invalid_configuration', 'signing_keys_missing', 'invalid_keys']

/** Derives the exit code from the HTTP status of the error code. */
export function exitCodeOf(error: unknown): ExitCode {
  if (!(error instanceof EngineError)) return exitCodes.internalError
  if (error instanceof ExecutionEndedError) return exitCodes.endedOtherwise
  if (CONFIGURATION_CODES.includes(error.code)) return exitCodes.invalidInput
  if (error.code === 'aborted') return exitCodes.interrupted
  // Retryable, but because of the flow, not because of the store.
  if (error.code === 'flow_busy' || error.code === 'flow_not_settled') return exitCodes.failed
  const { status } = errorCatalogue[error.code]
  if (status === 404) return exitCodes.notFound
  if (status === 409) return exitCodes.failed
  return status < 500 ? exitCodes.invalidInput : exitCodes.storeUnavailable
}
