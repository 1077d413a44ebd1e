/**
 * Decides about requests of browsers. Pages of other origins may not change anything unless their origin is listed, and a
 * server without authentication answers only under the names of its own machine.
 */
import { EngineError } from '../../kernel/engine-error.ts'
import { invalidConfiguration, show } from '../../options/invalid-input.ts'

const SAFE_METHODS = ['GET', 'HEAD', 'OPTIONS']
const ALLOWED_HEADERS = 'authorization, content-type, idempotency-key, last-event-id, x-request-id'
const ALLOWED_METHODS = 'GET, HEAD, POST, PUT, PATCH, DELETE'
const EXPOSED_HEADERS = 'retry-after, x-request-id'
const PREFLIGHT_SECONDS = '600'

/** Throws for an entry that is not an origin. */
export function checkOrigins(origins: readonly string[]): ReadonlySet<string> {
  for (const origin of origins) {
    if (URL.canParse(origin) && new URL(origin).origin === origin) continue
    throw invalidConfiguration(
      'cors',
      `cors has ${show(origin)}, but must list origins such as 'https://app.example.com'.`,
    )
  }
  return new Set(origins)
}

/** Refuses a request that changes something and that a page of another origin has sent. */
export function refuseForeignOrigin(request: Request, url: URL, origins: ReadonlySet<string>): void {
  if (SAFE_METHODS.includes(request.method)) return
  const origin = request.headers.get('origin')
  if (origin === null) {
    if (request.headers.get('sec-fetch-site') !== 'cross-site') return
  } else if (origins.has(origin) || isOwn(origin, request, url)) return
  throw new EngineError('forbidden', {
    field: 'origin',
    message: `Pages of the origin ${show(origin)} may not send this.`,
  })
}

/** Compares hosts only: behind a proxy, the server does not know the scheme of its callers. */
function isOwn(origin: string, request: Request, url: URL): boolean {
  if (!URL.canParse(origin)) return false
  const { host } = new URL(origin)
  return host === (request.headers.get('host') ?? url.host)
}

/** A page that resolves its own name to this machine is still sent under its own name. */
export function refuseForeignHost(request: Request, url: URL, hosts: ReadonlySet<string> | undefined): void {
  if (hosts === undefined) return
  const { hostname } = new URL(`http://${request.headers.get('host') ?? url.host}`)
  if (hosts.has(hostname)) return
  throw new EngineError('forbidden', { field: 'host', message: `The server does not answer as ${show(hostname)}.` })
}

export function addCorsHeaders(headers: Headers, request: Request, origins: ReadonlySet<string>): void {
  const origin = request.headers.get('origin')
  if (origins.size > 0) headers.append('vary', 'Origin')
  if (origin === null || !origins.has(origin)) return
  headers.set('access-control-allow-origin', origin)
  headers.set('access-control-expose-headers', EXPOSED_HEADERS)
  headers.set('cross-origin-resource-policy', 'cross-origin')
}

export function isPreflight(request: Request, origins: ReadonlySet<string>): boolean {
  return request.method === 'OPTIONS' && origins.has(request.headers.get('origin') ?? '')
}

export function preflightResponse(): Response {
  const headers = {
    'access-control-allow-methods': ALLOWED_METHODS,
    'access-control-allow-headers': ALLOWED_HEADERS,
    'access-control-max-age': PREFLIGHT_SECONDS,
  }
  return new Response(null, { status: 204, headers })
}
