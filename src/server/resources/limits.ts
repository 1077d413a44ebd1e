/** Limits: defined, changed live, inspected, held back and deleted. They belong to the store, not to a namespace. */
import { z } from 'zod'
import { LIMIT_PAGE_MAX } from '../../kernel/limits.ts'
import { actorOf } from '../auth/principal.ts'
import { json, route } from '../routes/route.ts'
import { by, duration, page, pageQuery, reason, trail } from '../schemas/common.ts'
import { drop } from '../schemas/drop.ts'
import { keyNamespace, limitBody, limitDescription, limitInfo, limitKey } from '../schemas/limit.ts'

const changed = (kinds: readonly [string, ...string[]], description: string) =>
  json(z.object({ kind: z.enum(kinds) }), description)

export const limitRoutes = [
  route({
    name: 'listLimits',
    method: 'GET',
    path: '/v1/limits',
    tag: 'limits',
    summary: 'List the limits of the store, by name',
    access: 'viewer',
    scope: 'store',
    answers: { 200: json(page(limitInfo), 'All limits.') },
    handle: async ({ client }) => ({ status: 200, body: { items: await client.limits.list() } }),
  }),
  route({
    name: 'describeLimit',
    method: 'GET',
    path: '/v1/limits/{limit}',
    tag: 'limits',
    summary: 'Describe a limit, with the usage of its keys',
    access: 'viewer',
    scope: 'store',
    query: z.strictObject({
      cursor: pageQuery.cursor,
      limit: z.int().min(1).max(LIMIT_PAGE_MAX).optional().describe('Keys of a page at most; 200 unless given.'),
      key: limitKey.optional().describe('Only this key, with the workers that hold its permits. Empty: without a key.'),
      namespace: keyNamespace,
    }),
    errors: ['limit_not_found', 'invalid_cursor'],
    answers: { 200: json(limitDescription, 'The limit.') },
    handle: async ({ client, params, query }) => ({
      status: 200,
      body: await client.limits.describe(params.limit, drop(query)),
    }),
  }),
  route({
    name: 'defineLimit',
    method: 'PUT',
    path: '/v1/limits/{limit}',
    tag: 'limits',
    summary: 'Define a limit, or change it live',
    description:
      'The next admission of every key obeys the change. It needs a rate, a concurrency or both, and takes the place of what was set before.',
    access: 'operator',
    scope: 'store',
    body: limitBody,
    answers: { 200: changed(['defined', 'changed', 'unchanged'], 'What was done.') },
    handle: async ({ client, params, principal, body: { by: who, reason: why, ...terms } }) => {
      const { rate, ...rest } = drop(terms)
      const change = drop({ by: actorOf(principal, who), reason: why })
      const kind = await client.limits.define(params.limit, { ...rest, ...(rate && { rate }) }, change)
      return { status: 200, body: { kind } }
    },
  }),
  route({
    name: 'deleteLimit',
    method: 'DELETE',
    path: '/v1/limits/{limit}',
    tag: 'limits',
    summary: 'Delete a limit: it limits nothing from now on',
    access: 'operator',
    scope: 'store',
    body: z.strictObject({ reason: reason.optional(), by }).optional(),
    errors: ['limit_not_found'],
    answers: { 200: changed(['deleted', 'already_deleted'], 'It is deleted.') },
    handle: async ({ client, params, principal, body }) => {
      const change = drop({ by: actorOf(principal, body?.by), reason: body?.reason })
      return { status: 200, body: { kind: await client.limits.delete(params.limit, change) } }
    },
  }),
  route({
    name: 'holdLimit',
    method: 'POST',
    path: '/v1/limits/{limit}/hold',
    tag: 'limits',
    summary: 'Hold back one key of a limit for all workers',
    access: 'operator',
    scope: 'store',
    body: z.strictObject({
      for: duration.describe('A day at most.'),
      key: limitKey.optional(),
      namespace: keyNamespace,
      reason: reason.optional(),
      by,
    }),
    errors: ['limit_not_found'],
    answers: {
      200: json(
        z.object({ kind: z.enum(['held', 'already_held']), forMs: z.number() }),
        'It is held. `already_held`: it was held for longer.',
      ),
    },
    handle: async ({ client, params, principal, body: { by: who, for: time, ...rest } }) => {
      const options = { ...drop(rest), for: time, by: actorOf(principal, who) }
      return { status: 200, body: await client.limits.hold(params.limit, options) }
    },
  }),
  route({
    name: 'unholdLimit',
    method: 'POST',
    path: '/v1/limits/{limit}/unhold',
    tag: 'limits',
    summary: 'End the hold of a key before its time',
    access: 'operator',
    scope: 'store',
    body: z.strictObject({ key: limitKey.optional(), namespace: keyNamespace, ...trail }).optional(),
    errors: ['limit_not_found'],
    answers: { 200: changed(['lifted', 'not_held'], 'It is not held.') },
    handle: async ({ client, params, body }) => {
      const held = drop({ key: body?.key, namespace: body?.namespace })
      return { status: 200, body: { kind: await client.limits.unhold(params.limit, held) } }
    },
  }),
]
