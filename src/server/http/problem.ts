/** Errors as `application/problem+json`: the catalogue's status, code and advice, and what exactly was wrong. */
import { errorCatalogue } from '../../kernel/errors.ts'
import type { ErrorCode } from '../../kernel/errors.ts'
import { EngineError } from '../../kernel/engine-error.ts'
import type { Problem } from '../schemas/problem.ts'

const PROBLEM_TYPE = 'application/problem+json'

/** How long a caller should wait before it repeats a retryable request. */
const RETRY_AFTER_SECONDS = 1
const BUSY_STATUSES = [429, 503]

/** Returns the error that a caller gets for anything that was thrown. A closed fabric means a stopping server. */
export function publicError(thrown: unknown): EngineError {
  if (!(thrown instanceof EngineError)) return new EngineError('internal_error', {}, { cause: thrown })
  return thrown.code === 'fabric_closed' ? new EngineError('server_stopping', {}, { cause: thrown }) : thrown
}

/** Failures of the server and its store are described by their code alone: their messages may name hosts and files. */
export function problemOf(error: EngineError, requestId: string): Problem {
  const { status, text, advice } = errorCatalogue[error.code]
  const { message, field, issues, ...detail } = status < 500 ? error.detail : {}
  return {
    type: `urn:flowfabric:error:${error.code}`,
    title: text,
    status,
    code: error.code,
    retryable: error.isRetryable,
    detail: message ?? text,
    advice,
    requestId,
    field,
    issues,
    context: Object.values(detail).every((value) => value === undefined) ? undefined : detail,
  }
}

export function problemResponse(error: EngineError, requestId: string): Response {
  const problem = problemOf(error, requestId)
  const headers = new Headers({ 'content-type': PROBLEM_TYPE })
  if (problem.retryable && BUSY_STATUSES.includes(problem.status)) {
    headers.set('retry-after', String(RETRY_AFTER_SECONDS))
  }
  if (error.code === 'unauthorized') headers.set('www-authenticate', 'Bearer')
  return new Response(JSON.stringify(problem), { status: problem.status, headers })
}

export function statusOf(code: ErrorCode): number {
  return errorCatalogue[code === 'fabric_closed' ? 'server_stopping' : code].status
}
