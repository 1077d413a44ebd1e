/**
 * The cookie of the dashboard, which has the token of a person who has signed in. Scripts cannot read it, browsers send it with
 * requests of this server's own pages only, and no server stores it.
 */

const NAME = 'flowfabric_token'
const COOKIE = new RegExp(`(?:^|;\\s*)${NAME}=([A-Za-z0-9._~+/=-]{1,4096})(?:;|$)`)
/** A working day. */
const MAX_AGE_SECONDS = 43_200

/** Returns the request with the token of its cookie as its credential, unless it has a credential of its own. */
export function withSessionToken(request: Request): Request {
  if (request.headers.has('authorization')) return request
  const token = sessionToken(request)
  return token === undefined ? request : withToken(request, token)
}

export function sessionToken(request: Request): string | undefined {
  return COOKIE.exec(request.headers.get('cookie') ?? '')?.[1]
}

/** A request with the same method, address and headers, and no body: what decides about credentials reads none. */
export function withToken(request: Request, token: string): Request {
  const headers = new Headers(request.headers)
  headers.set('authorization', `Bearer ${token}`)
  return new Request(request.url, { method: request.method, headers, signal: request.signal })
}

/** Behind a proxy the server does not know that its pages are encrypted, but browsers name the origin of the page. */
export function sessionCookie(request: Request, basePath: string, token: string | undefined): string {
  const isEncrypted = request.url.startsWith('https:') || request.headers.get('origin')?.startsWith('https:') === true
  const parts = [
    `${NAME}=${token ?? ''}`,
    `Path=${basePath}/`,
    `Max-Age=${token === undefined ? 0 : MAX_AGE_SECONDS}`,
    'HttpOnly',
    'SameSite=Strict',
    ...(isEncrypted ? ['Secure'] : []),
  ]
  return parts.join('; ')
}
