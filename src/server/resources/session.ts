/** Who sends the requests of a browser: the dashboard signs in with a token, which a cookie keeps. */
import { z } from 'zod'
import { roles } from '../auth/principal.ts'
import type { Principal } from '../auth/principal.ts'
import { sessionCookie, sessionToken } from '../auth/session-cookie.ts'
import { json, route } from '../routes/route.ts'

const session = z
  .object({
    name: z.string(),
    role: z.enum(roles),
    namespace: z.string().optional().describe('The only namespace that it reaches; all unless given.'),
    canSignOut: z.boolean().describe('Whether a cookie of this server signs the requests.'),
  })
  .meta({ id: 'Session' })

function sessionOf({ name, role, namespace }: Principal, canSignOut: boolean) {
  return { name, role, ...(namespace === undefined ? {} : { namespace }), canSignOut }
}

function withCookie(body: unknown, cookie: string): Response {
  return new Response(JSON.stringify(body), {
    headers: { 'content-type': 'application/json; charset=utf-8', 'set-cookie': cookie },
  })
}

export const sessionRoutes = [
  route({
    name: 'getSession',
    method: 'GET',
    path: '/v1/session',
    tag: 'system',
    summary: 'Who the sender of the request is, and what it may do',
    access: 'viewer',
    scope: 'caller',
    answers: { 200: json(session, 'The principal of the request.') },
    handle: ({ principal, request }) => ({
      status: 200,
      body: sessionOf(principal, sessionToken(request) !== undefined),
    }),
  }),
  route({
    name: 'signIn',
    method: 'POST',
    path: '/v1/session',
    tag: 'system',
    summary: 'Sign a browser in: a cookie that scripts cannot read keeps the token',
    access: 'public',
    scope: 'store',
    body: z.strictObject({ token: z.string().regex(/^[A-Za-z0-9._~+/=-]{1,4096}$/) }),
    errors: ['unauthorized', 'too_many_failures'],
    answers: { 200: json(session, 'The token is valid.') },
    handle: async ({ request, server, address, body: { token } }) => {
      const principal = await server.authenticator.principalOfToken(request, token, address)
      return withCookie(sessionOf(principal, true), sessionCookie(request, server.basePath, token))
    },
  }),
  route({
    name: 'signOut',
    method: 'DELETE',
    path: '/v1/session',
    tag: 'system',
    summary: 'Sign a browser out',
    access: 'public',
    scope: 'store',
    answers: { 200: json(z.object({ kind: z.literal('signed_out') }), 'The cookie is removed.') },
    handle: ({ request, server }) =>
      withCookie({ kind: 'signed_out' }, sessionCookie(request, server.basePath, undefined)),
  }),
]
