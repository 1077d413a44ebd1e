/** Serves the handler with `node:http`, and so with Express, Fastify and others that pass on its requests. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { EngineError } from '../../kernel/engine-error.ts'
import type { HttpHandler } from '../handler.ts'

/** Methods that the Fetch standard does not know. */
const REFUSED_METHODS = ['CONNECT', 'TRACE', 'TRACK']
const BODILESS = ['GET', 'HEAD']
const PARSED_BEFORE =
  'The body was read before it reached the handler. Mount the handler before the body parser, or without one.'
const PLAIN_TEXT = /^[\x21-\x7e]+$/
/** Answers to requests whose body was not read to its end. */
const EVENT_STREAM = 'text/event-stream'
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
    // An abort makes an error with its stack, which a request that was answered does not need.
    outgoing.once('close', () => {
      if (!outgoing.writableFinished) abort.abort()
    })
    // A socket may break at any time. The close that follows ends everything.
    incoming.on('error', () => undefined)
    outgoing.on('error', () => undefined)
    void answer(handler, incoming, abort.signal).then((response) => send(response, incoming, outgoing))
  }
}

/** Never rejects: the handler answers every request. */
async function answer(handler: HttpHandler, incoming: IncomingMessage, signal: AbortSignal): Promise<Response> {
  const request = requestOf(incoming, signal)
  const { remoteAddress: address } = incoming.socket
  if (request instanceof EngineError) return await handler(standIn(incoming), { address, refused: request })
  return await handler(request, { address })
}

/** A request in the place of one that is refused. It keeps the id that the caller has given. */
function standIn({ headers }: IncomingMessage): Request {
  const id = headers['x-request-id']
  const given = typeof id === 'string' && PLAIN_TEXT.test(id) ? { 'x-request-id': id } : {}
  return new Request('http://localhost/', { method: 'UNKNOWN', headers: given })
}

function requestOf(incoming: IncomingMessage, signal: AbortSignal): Request | EngineError {
  const method = incoming.method ?? 'GET'
  if (REFUSED_METHODS.includes(method)) return new EngineError('method_not_allowed')
  const hasBody = !BODILESS.includes(method)
  if (hasBody && incoming.readableDidRead) return new EngineError('invalid_configuration', { message: PARSED_BEFORE })
  try {
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
    if (reader === undefined) outgoing.end()
    else if (response.headers.get('content-type') === EVENT_STREAM) await pipe(reader, outgoing)
    else outgoing.end(await wholeOf(reader))
  } catch {
    // The stream of the answer was cut off, so the connection is too.
    outgoing.destroy()
  }
}

/** An answer in one piece needs one write, with its length. */
async function wholeOf(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  for (let next = await reader.read(); !next.done; next = await reader.read()) chunks.push(next.value)
  return chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks)
}

/** Reads only as fast as the client takes. */
async function pipe(reader: ReadableStreamDefaultReader<Uint8Array>, outgoing: ServerResponse): Promise<void> {
  for (let next = await reader.read(); !next.done; next = await reader.read()) {
    if (outgoing.destroyed) return
    if (!outgoing.write(next.value)) await drained(outgoing)
  }
  outgoing.end()
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
