/** The result of an answer with a token. Reveals whether the token is still valid, and nothing of the execution's state. */
import { refused } from '../../kernel/index.ts'
import type { DeliverSignalResult, ErrorCode, Refused } from '../../kernel/index.ts'

const TOKEN_CODES = ['missing_token', 'invalid_token', 'token_expired'] as const satisfies readonly ErrorCode[]

/** Refusals that concern the token itself. */
export type TokenCode = (typeof TOKEN_CODES)[number]

export type AnswerResult =
  | Exclude<DeliverSignalResult, Refused>
  | Refused<TokenCode | 'waitpoint_closed' | 'signal_limit_exceeded' | 'signal_buffer_full'>

export function isTokenCode(code: ErrorCode): code is TokenCode {
  return (TOKEN_CODES as readonly ErrorCode[]).includes(code)
}

/** Maps a result to what the holder of a token may learn. Refusals carry no detail. */
export function resultForHolder(result: DeliverSignalResult): AnswerResult {
  if (result.kind !== 'refused') return result
  switch (result.code) {
    case 'execution_not_found':
    case 'waitpoint_not_found':
      return refused('invalid_token', {})
    case 'execution_ended':
    case 'waitpoint_closed':
      return refused('waitpoint_closed', {})
    case 'token_expired':
      return refused('token_expired', {})
    case 'signal_limit_exceeded':
      return refused('signal_limit_exceeded', {})
    case 'signal_buffer_full':
      return refused('signal_buffer_full', {})
  }
}
