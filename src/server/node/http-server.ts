/** The server of `flowfabric server`: limits for connections and requests, and an end that completes what has begun. */
import { createServer } from 'node:http'
import type { Server, ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { BlockList, isIPv6 } from 'node:net'
import { once } from 'node:events'
import { EngineError } from '../../kernel/engine-error.ts'
import type { Runtime, Timer } from '../../runtime/index.ts'
import type { HttpHandler } from '../handler.ts'
import { nodeListener } from './listener.ts'

const PORT_DEFAULT = 9_090
export const HOST_DEFAULT = '127.0.0.1'

/** How long requests may take to complete after the server was asked to stop. */
const DRAIN_MS = 30_000

const HEADER_BYTES = 16_384
const HEADER_COUNT = 100
/** How long the headers, and a whole request with its body, may take to arrive. */
const HEADERS_MS = 15_000
const REQUEST_MS = 60_000
/** How often slow requests are looked for. */
const CHECK_EVERY_MS = 5_000
const KEEP_ALIVE_MS = 10_000
const CONNECTION_MAX = 20_000
/** Requests that one connection sends before it is closed, so that load moves to new servers. */
const REQUESTS_PER_CONNECTION = 100_000

export interface ServeOptions {
  readonly handler: HttpHandler
  readonly runtime: Runtime
  readonly host?: string
  /** 0 takes a free port. */
  readonly port?: number
}

export interface HttpServer extends AsyncDisposable {
  readonly host: string
  readonly port: number
  readonly url: string
  /** Accepts no more connections, completes the requests that have begun, and ends waits and streams. */
  close(): Promise<void>
  /** Closes all connections at once. A `close` that has begun need not wait for them. */
  drop(): void
}

/** Starts to listen. Throws `invalid_configuration` if the address cannot be used. */
export async function serve(options: ServeOptions): Promise<HttpServer> {
  const { handler, runtime, host = HOST_DEFAULT, port = PORT_DEFAULT } = options
  const limits = {
    maxHeaderSize: HEADER_BYTES,
    headersTimeout: HEADERS_MS,
    requestTimeout: REQUEST_MS,
    connectionsCheckingInterval: CHECK_EVERY_MS,
    keepAliveTimeout: KEEP_ALIVE_MS,
  }
  const server = createServer(limits, nodeListener(handler))
  server.maxConnections = CONNECTION_MAX
  server.maxHeadersCount = HEADER_COUNT
  server.maxRequestsPerSocket = REQUESTS_PER_CONNECTION
  server.on('clientError', refuseConnection)
  const open = new Set<ServerResponse>()
  server.prependListener('request', (_request, response: ServerResponse) => {
    open.add(response)
    response.once('close', () => open.delete(response))
  })
  server.listen(port, host)
  try {
    await once(server, 'listening')
  } catch (cause) {
    throw addressError(host, port, cause)
  }
  const bound = (server.address() as AddressInfo).port
  const dropped = Promise.withResolvers<undefined>()
  const drop = () => {
    dropped.resolve(undefined)
    server.closeAllConnections()
  }
  let closing: Promise<void> | undefined
  const close = () => (closing ??= end(server, open, handler, { runtime, dropped: dropped.promise }))
  const name = isIPv6(host) ? `[${host}]` : host
  return { host, port: bound, url: `http://${name}:${bound}`, close, drop, [Symbol.asyncDispose]: close }
}

async function end(
  server: Server,
  open: ReadonlySet<ServerResponse>,
  handler: HttpHandler,
  { runtime, dropped }: { readonly runtime: Runtime; readonly dropped: Promise<undefined> },
): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()))
  let timer: Timer | undefined
  const over = new Promise<void>((resolve) => (timer = runtime.after(DRAIN_MS, resolve)))
  const late = Promise.race([over, dropped])
  for (const response of open) {
    // Otherwise the connection would stay open for another request.
    if (!response.headersSent) response.setHeader('connection', 'close')
    response.once('close', () => runtime.soon(() => server.closeIdleConnections()))
  }
  server.closeIdleConnections()
  await Promise.race([handler.close(), late])
  await Promise.race([closed, late])
  timer?.cancel()
  server.closeAllConnections()
  await closed
}

const REFUSALS: Readonly<Record<string, string>> = {
  HPE_HEADER_OVERFLOW: '431 Request Header Fields Too Large',
  ERR_HTTP_REQUEST_TIMEOUT: '408 Request Timeout',
}

/** What is not HTTP gets no more than a status. */
function refuseConnection(error: Error & { readonly code?: string }, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy()
    return
  }
  socket.end(
    `HTTP/1.1 ${REFUSALS[error.code ?? ''] ?? '400 Bad Request'}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`,
  )
}

function addressError(host: string, port: number, cause: unknown): EngineError {
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : String(cause)
  const isTaken = code === 'EADDRINUSE'
  const why = isTaken ? 'another program listens there; choose another port' : code
  const message = `The server cannot listen on ${host}, port ${port}: ${why}.`
  return new EngineError('invalid_configuration', { field: isTaken ? PORT_FIELD : 'host', message }, { cause })
}

const PORT_FIELD = 'port'

export function isPortTaken(error: unknown): boolean {
  return error instanceof EngineError && error.code === 'invalid_configuration' && error.detail.field === PORT_FIELD
}

const loopback = new BlockList()
loopback.addSubnet('127.0.0.0', 8, 'ipv4')
loopback.addAddress('::1', 'ipv6')

/** Whether only programs of this machine can reach an address. */
export function isLoopback(host: string): boolean {
  if (host === 'localhost') return true
  return loopback.check(host, isIPv6(host) ? 'ipv6' : 'ipv4')
}
