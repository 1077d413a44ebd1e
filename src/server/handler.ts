/** The HTTP API as one function from a request to a response. It mounts under any path of any server that speaks fetch. */
import { EngineError } from '../kernel/engine-error.ts'
import type { AnyTask, Client } from '../client/index.ts'
import type { Engine } from '../engine/engine.ts'
import type { Fabric } from '../fabric/index.ts'
import { invalidConfiguration, show } from '../options/invalid-input.ts'
import { boolean, shape, unchecked } from '../options/shape.ts'
import type { Check } from '../options/shape.ts'
import { errorFields, packageVersion } from '../runtime/index.ts'
import { PORT_TYPE } from '../stores/remote/wire.ts'
import { Authenticator } from './auth/authenticator.ts'
import type { Authenticate } from './auth/authenticator.ts'
import { AuditTrail } from './auth/audit-trail.ts'
import type { Audit, AuditEntry } from './auth/audit.ts'
import { TooManyFailures } from './auth/failures.ts'
import {
  namespaceOf,
  refuseUnlessPermitted,
  refuseUnlessReadable,
  refuseUnlessServed,
  seesValues,
} from './auth/principal.ts'
import type { Caller } from './auth/principal.ts'
import { readForm, readJson, readOctets } from './http/body.ts'
import { addSecurityHeaders, givenRequestId } from './http/headers.ts'
import { checkIdempotencyKey } from './http/idempotency.ts'
import {
  addCorsHeaders,
  checkOrigins,
  isPreflight,
  preflightResponse,
  refuseForeignHost,
  refuseForeignOrigin,
} from './http/origin.ts'
import { problemResponse, publicError } from './http/problem.ts'
import { parseQuery } from './http/query.ts'
import { validated } from './http/validate.ts'
import { STREAM_LIMITS, Streams } from './live/streams.ts'
import { UNKNOWN_PATH, methodLabel, requestSeconds, requestsTotal } from './metrics/http-metrics.ts'
import { StoreGauges } from './metrics/store-gauges.ts'
import { OperationPort } from './operations/port.ts'
import { openApiDocument } from './openapi/document.ts'
import { api } from './resources/api.ts'
import { BODY_BYTES } from './routes/route.ts'
import type { AnyRoute, RouteCall } from './routes/route.ts'
import { MethodNotAllowed, Router } from './routes/router.ts'
import type { Match } from './routes/router.ts'
import type { ServerParts } from './server-parts.ts'
import { UiFiles } from './ui/ui-files.ts'
import { isUiPath, uiResponse } from './ui/ui-response.ts'

export interface HandlerOptions {
  /** The path that the handler is mounted at, such as `/fabric`. */
  readonly basePath?: string
  /** Returns the sender of a request, or undefined to refuse it. Without it, every request may do everything. */
  readonly authenticate?: Authenticate
  /** The origins whose pages may call the API from a browser, such as `https://app.example.com`. None unless given. */
  readonly cors?: readonly string[]
  /** The names that the server answers to; any unless given. For a server without authentication on a machine with browsers. */
  readonly hosts?: readonly string[]
  /**
   * Whether viewers get no values of users: inputs, results, values of steps and signals, frames and summaries. Default: false.
   */
  readonly redact?: boolean
  /**
   * Called for each request of an operator that would change something, before it is answered, besides the trail that the store
   * keeps.
   */
  readonly audit?: Audit
  /** False serves no dashboard under `/ui`. */
  readonly ui?: boolean
  /** The contracts of tasks: the dashboard asks for the values of their signals field by field. */
  readonly tasks?: readonly AnyTask[]
  /** The engine that runs in this process, to be shown by `GET /v1/scanners`. */
  readonly engine?: Engine
}

/** What the host knows about a request. */
export interface RequestOrigin {
  /** The address of the caller, for the back-off after invalid credentials. */
  readonly address?: string | undefined
  /** Set if what has arrived is no request of the Fetch standard: the refusal that answers it. */
  readonly refused?: EngineError | undefined
}

export interface HttpHandler extends AsyncDisposable {
  (request: Request, origin?: RequestOrigin): Promise<Response>
  /** Ends waits and streams. Requests that change something are completed. The fabric stays open. */
  close(): Promise<void>
}

const BODY_MS = 30_000

const handlerOptions = shape<HandlerOptions>(invalidConfiguration)("{ basePath: '/fabric' }", {
  basePath: checkBasePath,
  authenticate: unchecked<Authenticate>(),
  cors: stringList,
  hosts: stringList,
  redact: boolean,
  audit: unchecked<Audit>(),
  ui: boolean,
  engine: unchecked<Engine>(),
  tasks: unchecked<readonly AnyTask[]>(),
})

/**
 * Returns the HTTP API of a fabric.
 *
 * @example
 * const handler = createHandler(fabric, { authenticate: (request) => principalOf(request) })
 * app.all('/v1/*', (c) => handler(c.req.raw))
 */
export function createHandler(fabric: Fabric, options: HandlerOptions = {}): HttpHandler {
  const server = new HttpApi(fabric, options)
  const handle = (request: Request, origin: RequestOrigin = {}) => server.handle(request, origin)
  const close = () => server.close()
  return Object.assign(handle, { close, [Symbol.asyncDispose]: close })
}

/** A request with what was found out about it so far. */
interface Received {
  readonly request: Request
  readonly url: URL
  readonly requestId: string
  readonly origin: RequestOrigin
  /** A read token in the query, which is no parameter of a route. */
  readonly readToken: string | undefined
  match?: Match
  caller?: Caller
  body?: unknown
  /** The code of the refusal. */
  code?: string
}

class HttpApi {
  readonly #parts: ServerParts
  readonly #router = new Router(api)
  readonly #basePath: string
  readonly #ui: UiFiles | undefined
  readonly #origins: ReadonlySet<string>
  readonly #hosts: ReadonlySet<string> | undefined
  readonly #isRedacting: boolean
  readonly #stopping = new AbortController()
  readonly #open = new Set<Promise<Response>>()

  constructor(fabric: Fabric, options: HandlerOptions) {
    const {
      basePath = '',
      authenticate,
      cors = [],
      hosts,
      redact = false,
      audit,
      ui = true,
      engine,
      tasks = [],
    } = handlerOptions(options)
    const { runtime, log } = fabric
    this.#basePath = basePath
    this.#origins = checkOrigins(cors)
    this.#hosts = hosts && new Set(hosts)
    this.#isRedacting = redact
    const verifyReadToken = (token: string) => fabric.verifyReadToken(token)
    this.#ui = ui ? new UiFiles() : undefined
    let document: string | undefined
    this.#parts = {
      fabric,
      runtime,
      log,
      engine,
      tasks: new Map(tasks.map((task) => [task.name, task])),
      authenticator: new Authenticator({ authenticate, verifyReadToken, runtime, log }),
      basePath,
      limits: STREAM_LIMITS,
      trail: new AuditTrail(fabric, audit),
      port: new OperationPort(fabric),
      streams: new Streams(runtime, log, STREAM_LIMITS),
      gauges: new StoreGauges(fabric, runtime),
      stopping: this.#stopping.signal,
      document: () => (document ??= JSON.stringify(openApiDocument(api, { version: packageVersion(), basePath }))),
    }
  }

  /** Answers every request, whatever goes wrong. */
  async handle(request: Request, given: RequestOrigin): Promise<Response> {
    const url = new URL(request.url)
    // A host may pass something else as a second argument, such as itself.
    const { address, refused } = given
    const origin = { address: typeof address === 'string' ? address : undefined, refused }
    const readToken = takeReadToken(url)
    const requestId = givenRequestId(request) ?? this.#parts.runtime.uuid()
    const received: Received = { request, url, origin, requestId, readToken }
    const answer = this.#answer(received)
    this.#open.add(answer)
    try {
      return this.#finished(received, await answer)
    } finally {
      this.#open.delete(answer)
    }
  }

  async close(): Promise<void> {
    this.#stopping.abort()
    await Promise.allSettled([...this.#open])
  }

  async #answer(received: Received): Promise<Response> {
    const startedAt = this.#parts.runtime.monotonic()
    let response: Response
    try {
      if (received.origin.refused !== undefined) throw received.origin.refused
      if (isPreflight(received.request, this.#origins)) return preflightResponse()
      refuseForeignHost(received.request, received.url, this.#hosts)
      const path = this.#pathOf(received.url)
      if (this.#ui !== undefined && isUiPath(path)) {
        response = await uiResponse(received.request, path, this.#basePath, this.#ui)
      } else {
        const match = this.#router.find(received.request.method, path)
        received.match = match
        await this.#admit(received, match)
        response = await this.#call(received, match)
      }
    } catch (thrown) {
      response = this.#refusal(received, thrown)
    }
    const ms = this.#parts.runtime.monotonic() - startedAt
    this.#measure(received, received.match?.ready.route, response.status, ms)
    await this.#report(received, response.status, Math.round(ms))
    return response
  }

  /** Finds out who calls a route that needs credentials. Refuses what the caller may not do. */
  async #admit(received: Received, { ready: { route } }: Match): Promise<void> {
    const { request, url, origin, readToken } = received
    if (route.access !== 'token') refuseForeignOrigin(request, url, this.#origins)
    if (route.access === 'public' || route.access === 'token') return
    received.caller = await this.#parts.authenticator.principalOf(request, origin.address, readToken)
    refuseUnlessPermitted(received.caller, route.access, route.scope)
  }

  async #call(received: Received, { ready, params }: Match): Promise<Response> {
    const { request, url, requestId, origin, caller } = received
    const { route, querySchema, queryKinds } = ready
    const asked = validated(querySchema, parseQuery(url.searchParams, queryKinds), 'query')
    const { namespace: wanted, ...query } = asked as { readonly namespace?: string }
    const key = request.headers.get('idempotency-key')
    const idempotencyKey = key === null ? undefined : checkIdempotencyKey(key)
    const client = this.#clientOf(route, caller, wanted)
    if (caller?.execution !== undefined) {
      const asked = params['id']
      refuseUnlessReadable(caller, route.isReadable === true, asked && client.try.resolve(asked))
    }
    received.body = await this.#bodyOf(route, request)
    const call: RouteCall = {
      client,
      params,
      query,
      body: received.body,
      principal: caller ?? PUBLIC,
      seesValues: !this.#isRedacting || caller === undefined || seesValues(caller),
      address: origin.address,
      idempotencyKey,
      request,
      requestId,
      signal: AbortSignal.any([request.signal, this.#stopping.signal]),
      server: this.#parts,
    }
    const reply = await this.#inSpan(route, request, async () => await route.handle(call))
    if (reply instanceof Response) return reply
    return new Response(JSON.stringify(reply.body), { status: reply.status, headers: JSON_HEADERS })
  }

  #clientOf({ scope }: AnyRoute, caller: Caller | undefined, wanted: string | undefined): Client {
    const { fabric } = this.#parts
    if (caller === undefined || scope === 'caller') return fabric
    refuseUnlessServed(caller, fabric)
    const namespace = namespaceOf(caller, wanted)
    return namespace === undefined ? fabric : fabric.forNamespace(namespace)
  }

  /** The request is a span of its caller's trace, and what it submits belongs to it. */
  async #inSpan<Reply>(route: AnyRoute, { method, headers }: Request, work: () => Promise<Reply>): Promise<Reply> {
    const attributes = { 'http.request.method': method, 'http.route': route.path }
    const parent = headers.get('traceparent') ?? undefined
    const span = { name: `${method} ${route.path}`, kind: 'server', attributes, parent } as const
    return await this.#parts.fabric.batcher.tracing.span(() => span, work)
  }

  async #bodyOf(route: AnyRoute, request: Request): Promise<unknown> {
    if (route.method === 'GET') return undefined
    const limits = { bytes: route.bodyBytes ?? BODY_BYTES, ms: BODY_MS, stopping: this.#stopping.signal }
    const { runtime } = this.#parts
    if (route.bodyKind === 'operations') return await readOctets(request, runtime, limits, PORT_TYPE)
    const given = await (route.bodyKind === 'form' ? readForm : readJson)(request, runtime, limits)
    if (route.body === undefined) {
      if (given === undefined || isEmptyObject(given)) return undefined
      throw new EngineError('invalid_input', { field: 'body', message: 'The route takes no body.' })
    }
    return validated(route.body, given, 'body')
  }

  /** Returns the path without the base path. */
  #pathOf({ pathname }: URL): string {
    const basePath = this.#basePath
    if (basePath === '') return pathname
    if (pathname.startsWith(`${basePath}/`)) return pathname.slice(basePath.length)
    throw new EngineError('route_not_found')
  }

  #refusal(received: Received, thrown: unknown): Response {
    const { requestId } = received
    // A wait that ends because the server stops was not aborted by its caller.
    const isStopped = thrown instanceof EngineError && thrown.code === 'aborted' && this.#stopping.signal.aborted
    const error = isStopped ? new EngineError('server_stopping', {}, { cause: thrown }) : publicError(thrown)
    const response = problemResponse(error, requestId)
    received.code = error.code
    if (error instanceof MethodNotAllowed) response.headers.set('allow', error.allowed.join(', '))
    if (error instanceof TooManyFailures) response.headers.set('retry-after', String(error.retryAfterSeconds))
    if (response.status < 500) return response
    const fields = { requestId, code: error.code, ...errorFields(error.cause ?? error) }
    if (error.isRetryable && error.code !== 'internal_error') {
      this.#parts.log.warn(fields, 'a request could not be answered')
    } else {
      this.#parts.log.error(fields, 'a request failed')
    }
    return response
  }

  #measure({ request }: Received, route: AnyRoute | undefined, status: number, ms: number): void {
    const { metrics } = this.#parts.fabric
    const labels = { method: methodLabel(request.method), path: route?.path ?? UNKNOWN_PATH }
    metrics.add(requestsTotal, { ...labels, status: String(status) })
    metrics.observe(requestSeconds, labels, ms / 1_000)
  }

  /** Changes are logged with who asked for them. Paths may contain keys of users, so the log has templates. */
  async #report(received: Received, status: number, ms: number): Promise<void> {
    const { request, requestId, match, caller } = received
    const route = match?.ready.route
    const fields = { requestId, method: request.method, route: route?.path, by: caller?.name, status, ms }
    if (match === undefined || caller === undefined || !isAct(match.ready.route)) {
      this.#parts.log.debug(fields, 'answered a request')
      return
    }
    this.#parts.log.info({ ...fields, action: route?.name }, 'an operator changed something over HTTP')
    await this.#parts.trail.record(this.#entryOf(received, match, caller, status))
  }

  #entryOf(received: Received, { ready, params }: Match, caller: Caller, status: number): AuditEntry {
    const { url, origin, requestId, body, code } = received
    const {
      action,
      by,
      reason = action?.reason,
    } = (body ?? {}) as {
      readonly by?: unknown
      readonly reason?: unknown
      readonly action?: { readonly reason?: unknown }
    }
    const { fabric } = this.#parts
    const wanted = ready.route.scope === 'store' ? null : url.searchParams.get('namespace')
    const own = caller.namespace ?? (fabric.isBound ? fabric.namespace : undefined)
    return {
      at: this.#parts.runtime.now(),
      requestId,
      credential: caller.name,
      role: caller.role,
      by: typeof by === 'string' ? by : undefined,
      // A caller of one namespace leaves no traces in the trail of another, by requests that are refused.
      namespace: own ?? wanted ?? undefined,
      address: origin.address,
      action: ready.route.name,
      target: params,
      reason: typeof reason === 'string' ? reason : undefined,
      status,
      code,
    }
  }

  #finished({ request, requestId }: Received, response: Response): Response {
    const { headers } = response
    addSecurityHeaders(headers)
    addCorsHeaders(headers, request, this.#origins)
    headers.set('x-request-id', requestId)
    if (request.method !== 'HEAD') return response
    void response.body?.cancel()
    return new Response(null, { status: response.status, headers })
  }
}

/** Whether a request is one of an operator that would change something. */
export function isAct({ method, access, changesNothing }: AnyRoute): boolean {
  return method !== 'GET' && changesNothing === undefined && (access === 'operator' || access === 'admin')
}

/** Removes the token from the URL: routes refuse parameters that they do not have. */
function takeReadToken(url: URL): string | undefined {
  const token = url.searchParams.get(READ_TOKEN_PARAMETER) ?? undefined
  if (token !== undefined) url.searchParams.delete(READ_TOKEN_PARAMETER)
  return token
}

/** For `EventSource`, which sends no headers. */
const READ_TOKEN_PARAMETER = 'access_token'

const JSON_HEADERS = { 'content-type': 'application/json; charset=utf-8' }

/** The caller of a route without credentials. */
const PUBLIC: Caller = { name: 'http', role: 'viewer' }

function isEmptyObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Object.keys(value).length === 0
}

function checkBasePath(value: unknown, field: string): string {
  if (typeof value === 'string' && /^(\/[A-Za-z0-9._~-]+)*$/.test(value)) return value
  throw invalidConfiguration(
    field,
    `${field} is ${show(value)}, but must be a path such as '/fabric', without a slash at its end.`,
  )
}

function stringList(...[value, field]: Parameters<Check>): readonly string[] {
  if (Array.isArray(value) && value.every((each) => typeof each === 'string')) return value
  throw invalidConfiguration(field, `${field} is ${show(value)}, but must be a list of texts.`)
}
