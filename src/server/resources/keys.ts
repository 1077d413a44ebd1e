/** The keys that sign links and read tokens, without their secrets. */
import { z } from 'zod'
import { KEY_GRACE_DEFAULT_MS, parseDuration } from '../../client/index.ts'
import { json, route } from '../routes/route.ts'
import { duration, instant, page, trail, trailOnly } from '../schemas/common.ts'

const signingKey = z
  .object({
    id: z.string(),
    createdAt: instant,
    notAfter: instant.optional().describe('The last moment at which its tokens are valid.'),
    isCurrent: z.boolean().describe('Whether it signs. The others only verify.'),
  })
  .meta({ id: 'SigningKey' })

export const keyRoutes = [
  route({
    name: 'listKeys',
    method: 'GET',
    path: '/v1/keys',
    tag: 'system',
    summary: 'List the signing keys of the server, without their secrets',
    access: 'operator',
    scope: 'store',
    errors: ['signing_keys_stale'],
    answers: { 200: json(page(signingKey), 'All keys, in order of creation; none if the server signs nothing.') },
    handle: ({ client }) => ({ status: 200, body: { items: client.tokens.keys() } }),
  }),
  route({
    name: 'rotateKeys',
    method: 'POST',
    path: '/v1/keys/rotate',
    tag: 'system',
    summary: 'Create a new signing key',
    description:
      'Only for keys in a file that the server may write. Links of the previous key stay valid for the grace period. Each call creates a key.',
    access: 'admin',
    scope: 'store',
    body: z.strictObject({ grace: duration.optional().describe('A day unless given.'), ...trail }).optional(),
    errors: ['signing_keys_missing', 'invalid_keys', 'signing_keys_stale'],
    answers: { 200: json(page(signingKey), 'All keys, with the new one.') },
    handle: async ({ client, body, server }) => {
      const graceMs = body?.grace === undefined ? KEY_GRACE_DEFAULT_MS : parseDuration(body.grace, 'grace')
      return { status: 200, body: { items: await client.tokens.rotate(graceMs, server.runtime) } }
    },
  }),
  route({
    name: 'retireKey',
    method: 'POST',
    path: '/v1/keys/{key}/retire',
    tag: 'system',
    summary: 'Remove a signing key that verifies only: its links and tokens are refused from now on',
    description:
      'Only for keys in a file that the server may write. Other processes read the file within a second. Secrets that were sealed with the key cannot be read any more.',
    access: 'admin',
    scope: 'store',
    body: trailOnly,
    errors: ['signing_keys_missing', 'invalid_keys', 'signing_keys_stale'],
    answers: { 200: json(page(signingKey), 'The keys that are left.') },
    handle: async ({ client, params, server }) => ({
      status: 200,
      body: { items: await client.tokens.retire(params.key, server.runtime) },
    }),
  }),
]
