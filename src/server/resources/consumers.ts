/** Durable consumers of events: listed with their lag, moved and deleted. Programs consume with the library. */
import { z } from 'zod'
import { json, route } from '../routes/route.ts'
import { instant, page, trail, trailOnly } from '../schemas/common.ts'
import { drop } from '../schemas/drop.ts'
import { storedFilter } from '../schemas/event-filter.ts'

/** A cursor has a position for every partition. */
const CURSOR_MAX = 16_384

const summary = {
  name: z.string(),
  namespace: z.string(),
  filter: storedFilter,
  lagCount: z.int().describe('Events in the log that it has not examined, whether it wants them or not.'),
  waitingSince: instant.optional(),
  memberCount: z.int(),
  handledCount: z.int(),
  skippedCount: z.int(),
  missedCount: z.int(),
  failure: z
    .object({ at: instant, partition: z.int(), sequence: z.int(), tryCount: z.int(), error: z.string() })
    .optional()
    .describe('The event that is being retried.'),
  createdAt: instant,
  changedAt: instant,
}

const consumerSummary = z.object(summary).meta({ id: 'Consumer' })
const consumerDescription = z
  .object({
    ...summary,
    partitions: z.array(
      z.object({ partition: z.int(), position: z.int(), lagCount: z.int(), memberId: z.string().optional() }),
    ),
  })
  .meta({ id: 'ConsumerDescription' })

export const consumerRoutes = [
  route({
    name: 'listConsumers',
    method: 'GET',
    path: '/v1/consumers',
    tag: 'events',
    summary: 'List the durable consumers of events, with their lag',
    access: 'viewer',
    scope: 'namespace',
    errors: ['level_too_low'],
    answers: { 200: json(page(consumerSummary), 'All consumers.') },
    handle: async ({ client }) => ({ status: 200, body: { items: await client.consumers() } }),
  }),
  route({
    name: 'describeConsumer',
    method: 'GET',
    path: '/v1/consumers/{consumer}',
    tag: 'events',
    summary: 'Describe a consumer, with its position in each partition',
    access: 'viewer',
    scope: 'namespace',
    errors: ['consumer_not_found', 'level_too_low'],
    answers: { 200: json(consumerDescription, 'The consumer.') },
    handle: async ({ client, params }) => ({ status: 200, body: await client.consumer(params.consumer).describe() }),
  }),
  route({
    name: 'seekConsumer',
    method: 'POST',
    path: '/v1/consumers/{consumer}/seek',
    tag: 'events',
    summary: 'Move a consumer to another place in the log',
    access: 'operator',
    scope: 'namespace',
    body: z.strictObject({
      cursor: z.string().max(CURSOR_MAX).optional().describe('After the event with this cursor.'),
      fromStart: z.boolean().optional().describe('Before the oldest event that is kept.'),
      toEnd: z.boolean().optional().describe('After the newest event.'),
      ...trail,
    }),
    errors: ['consumer_not_found', 'invalid_cursor', 'level_too_low'],
    answers: { 200: json(z.object({ kind: z.enum(['moved']) }), 'It was moved.') },
    handle: async ({ client, params, body: { cursor, fromStart, toEnd } }) => {
      await client.consumer(params.consumer).seek(drop({ cursor, fromStart, toEnd }))
      return { status: 200, body: { kind: 'moved' as const } }
    },
  }),
  route({
    name: 'deleteConsumer',
    method: 'DELETE',
    path: '/v1/consumers/{consumer}',
    tag: 'events',
    summary: 'Delete a consumer with its position; its processes stop consuming',
    access: 'operator',
    scope: 'namespace',
    body: trailOnly,
    errors: ['consumer_not_found', 'level_too_low'],
    answers: { 200: json(z.object({ kind: z.enum(['deleted']) }), 'It is deleted.') },
    handle: async ({ client, params }) => {
      await client.consumer(params.consumer).delete()
      return { status: 200, body: { kind: 'deleted' as const } }
    },
  }),
]
