/** Webhooks: endpoints to which events are sent. A secret is in an answer once, when it is made. */
import { z } from 'zod'
import type { WebhookSummary } from '../../client/index.ts'
import { actorOf } from '../auth/principal.ts'
import type { Principal } from '../auth/principal.ts'
import { json, route } from '../routes/route.ts'
import { by, duration, instant, page, pageQuery, reason, trail, trailOnly } from '../schemas/common.ts'
import { drop } from '../schemas/drop.ts'
import { filterBody, storedFilter, tagBody } from '../schemas/event-filter.ts'
import { stateQuery } from '../schemas/execution.ts'

const URL_MAX = 2_048

const webhook = {
  name: z.string(),
  namespace: z.string(),
  url: z.string().describe('Only its origin, unless the caller has the role `admin`.'),
  filter: storedFilter,
  state: z.enum(['active', 'failing', 'disabled']).describe('`failing`: every try since `failingSince` has failed.'),
  disabled: z.object({ at: instant, by: z.string(), reason: z.string().optional() }).optional(),
  failingSince: instant.optional(),
  error: z.string().optional(),
  secrets: z
    .array(z.object({ createdAt: instant, until: instant.optional() }))
    .describe('How many secrets sign, and when the earlier ones stop.'),
  lagCount: z.int(),
  missedCount: z.int(),
  memberCount: z.int(),
  createdAt: instant,
  changedAt: instant,
}
const webhookSummary = z.object(webhook).meta({ id: 'Webhook' })
const definedWebhook = z
  .object({ ...webhook, secret: z.string().optional().describe('Only of a new webhook, and never shown again.') })
  .meta({ id: 'DefinedWebhook' })
const delivery = z
  .object({
    id: z.string(),
    eventId: z.string().describe('The header `webhook-id`.'),
    eventType: z.string(),
    state: stateQuery,
    attempt: z.int(),
    createdAt: instant,
    endedAt: instant.optional(),
    retryAt: instant.optional(),
    error: z.string().optional(),
  })
  .meta({ id: 'Delivery' })

const keyErrors = ['signing_keys_missing', 'signing_keys_stale', 'invalid_keys', 'level_too_low'] as const
const errors = ['webhook_not_found', 'level_too_low'] as const

/** Paths and queries of URLs may contain credentials, so only those who define webhooks see them. */
function seenBy({ role }: Principal, webhook: WebhookSummary): WebhookSummary {
  return role === 'admin' ? webhook : { ...webhook, url: new URL(webhook.url).origin }
}

export const webhookRoutes = [
  route({
    name: 'listWebhooks',
    method: 'GET',
    path: '/v1/webhooks',
    tag: 'events',
    summary: 'List the webhooks, without their secrets',
    access: 'viewer',
    scope: 'namespace',
    errors: ['level_too_low'],
    answers: { 200: json(page(webhookSummary), 'All webhooks.') },
    handle: async ({ client, principal }) => ({
      status: 200,
      body: { items: (await client.webhooks.list()).map((webhook) => seenBy(principal, webhook)) },
    }),
  }),
  route({
    name: 'describeWebhook',
    method: 'GET',
    path: '/v1/webhooks/{webhook}',
    tag: 'events',
    summary: 'Describe a webhook, without its secrets',
    access: 'viewer',
    scope: 'namespace',
    errors,
    answers: { 200: json(webhookSummary, 'The webhook.') },
    handle: async ({ client, params, principal }) => ({
      status: 200,
      body: seenBy(principal, await client.webhooks.describe(params.webhook)),
    }),
  }),
  route({
    name: 'defineWebhook',
    method: 'PUT',
    path: '/v1/webhooks/{webhook}',
    tag: 'events',
    summary: 'Send the events that match to a URL, from now on, or change where or which',
    access: 'admin',
    scope: 'namespace',
    body: z.strictObject({
      ...filterBody,
      tag: tagBody,
      url: z.string().max(URL_MAX).describe('https, and a public host.'),
      disableAfter: duration.optional().describe('How long every try may fail before it is disabled; 3 days.'),
      ...trail,
    }),
    errors: ['unsafe_target', ...keyErrors],
    answers: { 200: json(definedWebhook, 'The webhook.') },
    handle: async ({ client, params, body }) => {
      const { url, by: _by, reason: _reason, ...options } = body
      return { status: 200, body: await client.webhooks.define(params.webhook, { url, ...drop(options) }) }
    },
  }),
  route({
    name: 'rotateWebhook',
    method: 'POST',
    path: '/v1/webhooks/{webhook}/rotate',
    tag: 'events',
    summary: 'Make a new secret; earlier ones sign beside it for a while',
    access: 'admin',
    scope: 'namespace',
    body: z.strictObject({ grace: duration.optional().describe('A day unless given.'), ...trail }).optional(),
    errors: ['webhook_not_found', ...keyErrors],
    answers: { 200: json(z.object({ secret: z.string() }), 'The new secret. It is never shown again.') },
    handle: async ({ client, params, body }) => ({
      status: 200,
      body: await client.webhooks.rotate(params.webhook, drop({ grace: body?.grace })),
    }),
  }),
  route({
    name: 'disableWebhook',
    method: 'POST',
    path: '/v1/webhooks/{webhook}/disable',
    tag: 'events',
    summary: 'Stop deliveries; events wait in the log',
    access: 'operator',
    scope: 'namespace',
    body: z.strictObject({ reason: reason.optional(), by }).optional(),
    errors,
    answers: { 200: json(webhookSummary, 'The webhook.') },
    handle: async ({ client, params, principal, body }) => {
      const options = drop({ reason: body?.reason, by: actorOf(principal, body?.by) })
      return { status: 200, body: seenBy(principal, await client.webhooks.disable(params.webhook, options)) }
    },
  }),
  route({
    name: 'enableWebhook',
    method: 'POST',
    path: '/v1/webhooks/{webhook}/enable',
    tag: 'events',
    summary: 'Resume deliveries',
    access: 'operator',
    scope: 'namespace',
    body: trailOnly,
    errors,
    answers: { 200: json(webhookSummary, 'The webhook.') },
    handle: async ({ client, params, principal }) => ({
      status: 200,
      body: seenBy(principal, await client.webhooks.enable(params.webhook)),
    }),
  }),
  route({
    name: 'deleteWebhook',
    method: 'DELETE',
    path: '/v1/webhooks/{webhook}',
    tag: 'events',
    summary: 'Delete a webhook with its secrets and its position',
    access: 'admin',
    scope: 'namespace',
    body: trailOnly,
    errors,
    answers: { 200: json(z.object({ kind: z.enum(['deleted']) }), 'It is deleted.') },
    handle: async ({ client, params }) => {
      await client.webhooks.delete(params.webhook)
      return { status: 200, body: { kind: 'deleted' as const } }
    },
  }),
  route({
    name: 'listDeliveries',
    method: 'GET',
    path: '/v1/webhooks/{webhook}/deliveries',
    tag: 'events',
    summary: 'List the deliveries of a webhook, newest first',
    access: 'viewer',
    scope: 'namespace',
    query: z.strictObject({ ...pageQuery, state: stateQuery.optional() }),
    errors: ['invalid_cursor', 'level_too_low'],
    answers: { 200: json(page(delivery), 'A page of deliveries.') },
    handle: async ({ client, params, query }) => ({
      status: 200,
      body: await client.webhooks.deliveries(params.webhook, drop(query)),
    }),
  }),
  route({
    name: 'redeliver',
    method: 'POST',
    path: '/v1/webhooks/{webhook}/deliveries/{id}/redeliver',
    tag: 'events',
    summary: 'Deliver an event again, with the same id and body',
    access: 'operator',
    scope: 'namespace',
    body: trailOnly,
    errors: ['execution_not_found', 'execution_not_ended', 'replays_exhausted', 'retention_over', 'level_too_low'],
    answers: { 200: json(z.object({ kind: z.enum(['redelivered']) }), 'It is delivered again.') },
    handle: async ({ client, params, principal, body }) => {
      const options = drop({ by: actorOf(principal, body?.by) })
      await client.webhooks.redeliver(params.webhook, params.id, options)
      return { status: 200, body: { kind: 'redelivered' as const } }
    },
  }),
]
