/** Headers of every response: no sniffing, no framing, no caching, no referrer. The files of the dashboard may be cached. */
const EVERYWHERE: readonly (readonly [string, string])[] = [
  ['x-content-type-options', 'nosniff'],
  ['x-frame-options', 'DENY'],
  ['referrer-policy', 'no-referrer'],
  ['cross-origin-resource-policy', 'same-origin'],
  ['cache-control', 'no-store'],
]

/** Pages have no scripts. Their forms are sent to this server only. */
const CONTENT_POLICY =
  "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

const REQUEST_ID = /^[A-Za-z0-9_.:-]{1,64}$/

export function addSecurityHeaders(headers: Headers): void {
  for (const [name, value] of EVERYWHERE) if (!headers.has(name)) headers.set(name, value)
  // The dashboard has a policy of its own.
  if (!headers.has('content-security-policy')) headers.set('content-security-policy', CONTENT_POLICY)
}

/** Returns the id that the caller gave to its request, if it is fit to be logged. */
export function givenRequestId(request: Request): string | undefined {
  const given = request.headers.get('x-request-id')
  return given !== null && REQUEST_ID.test(given) ? given : undefined
}
