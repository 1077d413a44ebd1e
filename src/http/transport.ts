/** Sends requests with fetch. Answers with an error are thrown as the `EngineError` that the server has described. */
import { EngineError } from '../kernel/engine-error.ts'
import { errorCatalogue } from '../kernel/errors.ts'
import type { ErrorCode } from '../kernel/errors.ts'
import type { RefusalDetail } from '../kernel/results.ts'

export interface ConnectOptions {
  /** The token of each request, or a function that returns the present one. */
  readonly token?: string | (() => string | Promise<string>)
  /** Sends the requests. The global one unless given. */
  readonly fetch?: typeof fetch
}

export interface RawRequest {
  readonly method: string
  readonly path: string
  readonly params?: Readonly<Record<string, string>> | undefined
  readonly query?: Readonly<Record<string, unknown>> | undefined
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>> | undefined
  readonly signal?: AbortSignal | undefined
}

export class Transport {
  readonly #url: string
  readonly #options: ConnectOptions

  constructor(url: string, options: ConnectOptions) {
    this.#url = url.replace(/\/+$/, '')
    this.#options = options
  }

  /** Returns any answer that is no error. */
  async send({ method, path, params = {}, query = {}, body, headers, signal }: RawRequest): Promise<Response> {
    const { fetch: send = fetch } = this.#options
    const url = this.#url + pathOf(path, params) + queryOf(query)
    const token = await this.#token()
    let response: Response
    try {
      response = await send(url, {
        method,
        signal: signal ?? null,
        headers: {
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
          ...headers,
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      })
    } catch (cause) {
      if (signal?.aborted === true) throw new EngineError('aborted', {}, { cause })
      throw new EngineError('store_unavailable', { message: 'The server cannot be reached.' }, { cause })
    }
    if (response.ok) return response
    throw await problemOf(response)
  }

  async #token(): Promise<string | undefined> {
    const { token } = this.#options
    return typeof token === 'function' ? await token() : token
  }
}

function pathOf(path: string, params: Readonly<Record<string, string>>): string {
  return path.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = params[name] ?? ''
    // Such a segment is resolved, also when it is encoded, so the request would go to another route.
    if (value !== '.' && value !== '..') return encodeURIComponent(value)
    throw new EngineError('invalid_input', { field: name, message: `${name} is '${value}', which no URL can name.` })
  })
}

function queryOf(query: Readonly<Record<string, unknown>>): string {
  const given = Object.entries(query).filter(([, value]) => value !== undefined)
  const search = new URLSearchParams(given.map(([name, value]) => [name, String(value)] as [string, string])).toString()
  return search === '' ? '' : `?${search}`
}

async function problemOf(response: Response): Promise<EngineError> {
  const status = response.status
  try {
    return errorOf((await response.json()) as Problem, status)
  } catch {
    return errorOf({}, status)
  }
}

interface Problem {
  readonly code?: unknown
  readonly detail?: unknown
  readonly field?: string
  readonly context?: RefusalDetail
}

/** A code of a later server, or an answer of a proxy, is an internal error with its text. */
export function errorOf({ code, detail, field, context }: Problem, status: number): EngineError {
  const text = typeof detail === 'string' ? detail : `The server has answered with status ${status}.`
  if (typeof code !== 'string' || !isCode(code)) {
    return new EngineError(
      status === 502 || status === 503 || status === 504 ? 'store_unavailable' : 'internal_error',
      {
        message: text,
      },
    )
  }
  const message = text === errorCatalogue[code].text ? undefined : text
  return new EngineError(code, { ...context, message, field })
}

function isCode(code: string): code is ErrorCode {
  return Object.hasOwn(errorCatalogue, code)
}
