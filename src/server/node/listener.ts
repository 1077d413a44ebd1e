/** Serves the handler with `node:http`, and so with Express, Fastify and others that pass on its requests. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { EngineError } from '../../kernel/engine-error.ts'
import type { HttpHandler } from '../handler.ts'
import { problemResponse } from '../http/problem.ts'

/** Methods that the Fetch standard does not know. */
const REFUSED_METHODS = ['CONNECT', 'TRACE', 'TRACK']
const BODILESS = ['GET', 'HEAD']
/** Answers to requests whose body was not read to its end. */
const CLOSING_STATUSES = [408, 413]

/**
 * Returns a listener for `node:http`.
 *
 * @example
 * http.createServer(nodeListener(createHandler(fabric))).listen(9090, '127.0.0.1')
 * express().use('/fabric', nodeListener(createHandler(fabric, { basePath: '/fabric' })))
 */
export function nodeListener(handler: HttpHandler): (request: IncomingMessage, response: ServerResponse) => void {
  return (incoming, outgoing) => {
    const abort = new AbortController()
    outgoing.once('close', () => abort.abort())
    // A socket may break at any time. The close that follows ends everything.
    incoming.on('error', () => undefined)
    outgoing.on('error', () => undefined)
    void answer(handler, incoming, abort.signal).then((response) => send(response, incoming, outgoing))
  }
}

/** Never rejects: the handler answers every request. */
async function answer(handler: HttpHandler, incoming: IncomingMessage, signal: AbortSignal): Promise<Response> {
  const request = requestOf(incoming, signal)
  if (request instanceof EngineError) return problemResponse(request, 'unknown')
  return await handler(request, { address: incoming.socket.remoteAddress })
}

function requestOf(incoming: IncomingMessage, signal: AbortSignal): Request | EngineError {
  const method = incoming.method ?? 'GET'
  if (REFUSED_METHODS.includes(method)) return new EngineError('method_not_allowed')
  try {
    const hasBody = !BODILESS.includes(method)
    return new Request(urlOf(incoming), {
      method,
      headers: headersOf(incoming),
      signal,
      body: hasBody ? (Readable.toWeb(incoming) as ReadableStream) : null,
      ...(hasBody ? { duplex: 'half' } : {}),
    })
  } catch (cause) {
    return new EngineError(
      'invalid_input',
      { field: 'request', message: 'Its path or a header is not valid.' },
      { cause },
    )
  }
}

/** Express removes the path of the mount from `url`. */
function urlOf(incoming: IncomingMessage & { readonly originalUrl?: string }): URL {
  const path = incoming.originalUrl ?? incoming.url ?? '/'
  if (!path.startsWith('/')) throw new TypeError('a path begins with a slash')
  const url = new URL(`http://${incoming.headers.host ?? 'localhost'}`)
  if (url.pathname !== '/' || url.username !== '' || url.search !== '')
    throw new TypeError('a host is a name and a port')
  return new URL(url.origin + path)
}

function headersOf(incoming: IncomingMessage): Headers {
  const headers = new Headers()
  for (let i = 0; i + 1 < incoming.rawHeaders.length; i += 2) {
    headers.append(incoming.rawHeaders[i] ?? '', incoming.rawHeaders[i + 1] ?? '')
  }
  return headers
}

async function send(response: Response, incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
  const reader = response.body?.getReader()
  const cancel = () => void reader?.cancel().catch(() => undefined)
  outgoing.once('close', cancel)
  if (outgoing.destroyed) {
    cancel()
    return
  }
  outgoing.statusCode = response.status
  for (const [name, value] of response.headers) outgoing.setHeader(name, value)
  if (CLOSING_STATUSES.includes(response.status) && !incoming.complete) outgoing.setHeader('connection', 'close')
  try {
    if (reader !== undefined) await pipe(reader, outgoing)
    outgoing.end()
  } catch {
    // The stream of the answer was cut off, so the connection is too.
    outgoing.destroy()
  }
}

/** Reads only as fast as the client takes. */
async function pipe(reader: ReadableStreamDefaultReader<Uint8Array>, outgoing: ServerResponse): Promise<void> {
  for (let next = await reader.read(); !next.done; next = await reader.read()) {
    if (outgoing.destroyed) return
    if (!outgoing.write(next.value)) await drained(outgoing)
  }
}

function drained(outgoing: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      outgoing.off('drain', done)
      outgoing.off('close', done)
      resolve()
    }
    outgoing.on('drain', done)
    outgoing.on('close', done)
  })
}
