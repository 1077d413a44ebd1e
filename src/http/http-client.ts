/** A client of the HTTP API for browsers, edge runtimes and other programs without a connection to the store. It needs fetch alone. */
import { ExecutionEndedError } from '../client/define/errors.ts'
import type { Method } from '../server/routes/route.ts'
import { readEvents } from './event-source.ts'
import type { EventMessage, FollowOptions } from './event-source.ts'
import { Transport } from './transport.ts'
import type { ConnectOptions } from './transport.ts'
import type { AnswerOf, AskedOf, EventOf, PathOf, StreamPath } from './types.ts'

type Submitted = AnswerOf<'POST', '/v1/executions'>
type SubmitOptions = Omit<NonNullable<AskedOf<'POST', '/v1/executions'>['body']>, 'task' | 'input' | 'inputBytes'>
type Ended = Extract<AnswerOf<'GET', '/v1/executions/{id}/result'>, { readonly outcome: unknown }>

/** How long one request waits for an end. */
const WAIT = '30s'

export class HttpClient {
  readonly #transport: Transport

  constructor(url: string, options: ConnectOptions) {
    this.#transport = new Transport(url, options)
  }

  get<Path extends PathOf<'GET'>>(path: Path, asked: AskedOf<'GET', Path>): Promise<AnswerOf<'GET', Path>> {
    return this.#call('GET', path, asked)
  }

  post<Path extends PathOf<'POST'>>(path: Path, asked: AskedOf<'POST', Path>): Promise<AnswerOf<'POST', Path>> {
    return this.#call('POST', path, asked)
  }

  put<Path extends PathOf<'PUT'>>(path: Path, asked: AskedOf<'PUT', Path>): Promise<AnswerOf<'PUT', Path>> {
    return this.#call('PUT', path, asked)
  }

  patch<Path extends PathOf<'PATCH'>>(path: Path, asked: AskedOf<'PATCH', Path>): Promise<AnswerOf<'PATCH', Path>> {
    return this.#call('PATCH', path, asked)
  }

  delete<Path extends PathOf<'DELETE'>>(path: Path, asked: AskedOf<'DELETE', Path>): Promise<AnswerOf<'DELETE', Path>> {
    return this.#call('DELETE', path, asked)
  }

  /**
   * Yields the messages of a stream. A broken connection is made again, and continues without a gap.
   *
   * @example
   * for await (const { data } of api.events('/v1/executions/{id}/frames/live', { params: { id } })) show(data)
   */
  events<Path extends StreamPath & PathOf<'GET'>>(
    path: Path,
    asked: AskedOf<'GET', Path> & FollowOptions,
  ): AsyncGenerator<EventMessage<EventOf<Path>>, void, undefined> {
    const { params, query, namespace, signal } = asked as Asked
    const request = { method: 'GET', path, params, query: { ...query, namespace }, signal }
    return readEvents(this.#transport, request, asked) as AsyncGenerator<EventMessage<EventOf<Path>>, void, undefined>
  }

  /** Submits an execution. With an `id`, a repetition joins the execution that the first submit has created. */
  submit(task: string, input?: unknown, options: SubmitOptions = {}): Promise<Submitted> {
    return this.post('/v1/executions', { body: { ...options, task, input } })
  }

  /** Waits until an execution ends, with any outcome. */
  async wait(id: string, { signal }: { readonly signal?: AbortSignal } = {}): Promise<Ended> {
    for (;;) {
      const asked = { params: { id }, query: { wait: WAIT }, ...(signal && { signal }) } as const
      const answer = await this.get('/v1/executions/{id}/result', asked)
      if ('outcome' in answer) return answer
    }
  }

  /** Waits for the result of an execution. Throws an `ExecutionEndedError` if it ends in another way. Bytes are a `Uint8Array`. */
  async result(id: string, options: { readonly signal?: AbortSignal } = {}): Promise<unknown> {
    const { outcome, result, resultBytes, failure, reason } = await this.wait(id, options)
    if (outcome !== 'completed') {
      throw new ExecutionEndedError(outcome, { message: failure === undefined ? reason : failure.message })
    }
    return resultBytes === undefined ? result : bytesOf(resultBytes)
  }

  async #call<Answer>(method: Method, path: string, asked: Asked): Promise<Answer> {
    const { params, query, namespace, body, idempotencyKey, signal } = asked
    const headers = idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey }
    const request = { method, path, params, query: { ...query, namespace }, body, headers, signal }
    return (await (await this.#transport.send(request)).json()) as Answer
  }
}

interface Asked {
  readonly params?: Readonly<Record<string, string>> | undefined
  readonly query?: Readonly<Record<string, unknown>> | undefined
  readonly namespace?: string
  readonly body?: unknown
  readonly idempotencyKey?: string
  readonly signal?: AbortSignal
}

function bytesOf(base64: string): Uint8Array {
  return Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0))
}

/**
 * Returns a client of a server. Sends nothing yet.
 *
 * @example
 * const api = connect('https://fabric.example.com', { token })
 * const { id } = await api.submit('greet', { name: 'Ada' }, { id: 'greet:ada' })
 * console.log(await api.result(id))
 */
export function connect(url: string, options: ConnectOptions = {}): HttpClient {
  return new HttpClient(url, options)
}
