/** HTTP requests to a FlowFabric server. Connections are kept open. Redirects are not followed, so the token stays with its server. */
import { Agent as HttpAgent, request as httpRequest } from 'node:http'
import type { IncomingMessage, OutgoingHttpHeaders } from 'node:http'
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https'
import { EngineError } from '../../kernel/engine-error.ts'
import { errorCatalogue } from '../../kernel/errors.ts'
import type { ErrorCode } from '../../kernel/errors.ts'
import type { RemoteLocation } from './remote-location.ts'
import type { WireError } from './wire.ts'

/** The token of each request, or a function that returns the present one. */
export type TokenSource = string | (() => string | Promise<string>)

export interface Exchange {
  readonly method: 'GET' | 'POST'
  readonly path: string
  readonly headers?: OutgoingHttpHeaders
  readonly body?: Uint8Array
  readonly signal?: AbortSignal
  /** How long the connection may be silent. */
  readonly silentMs: number
}

/** How many requests may be under way at the same time. */
export const REQUESTS_AT_ONCE = 16
const SOCKET_MAX = REQUESTS_AT_ONCE + 2
/** The largest answer. Batches of operations have far smaller ones. */
const REPLY_BYTES = 67_108_864
const PROBLEM_BYTES = 65_536
const TOKEN = /^[A-Za-z0-9._~+/=-]{1,4096}$/

export class RemoteConnection {
  readonly location: RemoteLocation
  readonly #token: TokenSource | undefined
  readonly #agent: HttpAgent

  constructor(location: RemoteLocation, token: TokenSource | undefined) {
    this.location = location
    this.#token = token
    const settings = { keepAlive: true, maxSockets: SOCKET_MAX }
    this.#agent = location.isTls ? new HttpsAgent(settings) : new HttpAgent(settings)
  }

  /** Returns the body of an answer with status 200. Any other status is thrown as the error that the server describes. */
  async send(exchange: Exchange): Promise<Uint8Array> {
    const response = await this.open(exchange)
    return await bodyOf(response, REPLY_BYTES)
  }

  /** Resolves with the head of an answer with status 200. */
  async open(exchange: Exchange): Promise<IncomingMessage> {
    const response = await this.#request(exchange, await this.#authorization())
    if (response.statusCode === 200) return response
    throw await refusalOf(response)
  }

  close(): void {
    this.#agent.destroy()
  }

  async #authorization(): Promise<OutgoingHttpHeaders> {
    const token = typeof this.#token === 'function' ? await this.#token() : this.#token
    if (token === undefined) return {}
    if (!TOKEN.test(token)) {
      // The token itself stays out of the message.
      const message = 'The token has characters that no token of a server has.'
      throw new EngineError('invalid_configuration', { field: 'token', message })
    }
    return { authorization: `Bearer ${token}` }
  }

  #request({ method, path, headers, body, signal, silentMs }: Exchange, given: OutgoingHttpHeaders) {
    const { isTls, host, port, basePath } = this.location
    const length = body === undefined ? {} : { 'content-length': body.byteLength }
    const options = {
      host,
      port,
      method,
      path: basePath + path,
      headers: { ...headers, ...given, ...length },
      agent: this.#agent,
      timeout: silentMs,
      ...(signal === undefined ? {} : { signal }),
    }
    return new Promise<IncomingMessage>((resolve, reject) => {
      const request = (isTls ? httpsRequest : httpRequest)(options, resolve)
      request.once('timeout', () => request.destroy(new Error(`the server was silent for ${silentMs} ms`)))
      request.once('error', (cause) => reject(unreachable(this.location, cause)))
      request.end(body)
    })
  }
}

function unreachable({ url }: RemoteLocation, cause: unknown): EngineError {
  const reason = cause instanceof Error && 'code' in cause ? String(cause.code) : errorText(cause)
  return new EngineError('store_unavailable', { message: `The server ${url} did not answer: ${reason}.` }, { cause })
}

async function bodyOf(response: IncomingMessage, maximum: number): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  let size = 0
  try {
    for await (const chunk of response as AsyncIterable<Uint8Array>) {
      size += chunk.byteLength
      if (size > maximum) throw new Error(`the answer has more than ${maximum} bytes`)
      chunks.push(chunk)
    }
  } catch (cause) {
    response.destroy()
    throw new EngineError('store_unavailable', { message: `The answer was cut off: ${errorText(cause)}.` }, { cause })
  }
  const [only] = chunks
  return only !== undefined && chunks.length === 1 ? only : Buffer.concat(chunks, size)
}

/** Problems of the server are errors of the catalogue. Answers of proxies are not. */
async function refusalOf(response: IncomingMessage): Promise<EngineError> {
  const status = response.statusCode ?? 0
  const problem = await problemIn(response)
  if (problem !== undefined) return remoteError(problem)
  if (status >= 300 && status < 400) {
    const message = `The server redirects (status ${status}), which is not followed: use the final address.`
    return new EngineError('invalid_configuration', { field: 'location', message })
  }
  if (status === 404) {
    const message = 'The address has no operation port: it is no FlowFabric server, an older one, or the path is wrong.'
    return new EngineError('store_not_found', { field: 'location', message })
  }
  if (status === 401 || status === 403) return new EngineError(status === 401 ? 'unauthorized' : 'forbidden')
  return new EngineError('store_unavailable', { message: `The server answered with status ${status}.` })
}

interface Problem {
  readonly code?: unknown
  readonly detail?: unknown
  readonly field?: string
  readonly context?: object
}

async function problemIn(response: IncomingMessage): Promise<WireError | undefined> {
  const isProblem = response.headers['content-type']?.startsWith('application/problem+json') === true
  try {
    const bytes = await bodyOf(response, PROBLEM_BYTES)
    if (!isProblem) return undefined
    const { code, detail, field, context } = JSON.parse(Buffer.from(bytes).toString()) as Problem
    if (typeof code !== 'string') return undefined
    const isText = isCode(code) && detail === errorCatalogue[code].text
    const message = typeof detail === 'string' && !isText ? detail : undefined
    return { code, detail: { ...context, field, message } }
  } catch {
    return undefined
  }
}

/** The outcome is unknown where a server stops or is overloaded. A call is repeated then as after a lost connection. */
const UNAVAILABLE: readonly string[] = ['server_stopping', 'server_busy', 'request_timeout', 'aborted', 'fabric_closed']

/** Returns an error of the server. A code of a later version has no entry in the catalogue. */
export function remoteError({ code, detail = {} }: WireError): EngineError {
  if (UNAVAILABLE.includes(code)) {
    return new EngineError('store_unavailable', { message: `The server answered with ${code}.` })
  }
  if (isCode(code)) return new EngineError(code, detail)
  return new EngineError('internal_error', { message: `The server answered with ${code}.` })
}

function isCode(code: string): code is ErrorCode {
  return Object.hasOwn(errorCatalogue, code)
}

function errorText(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
