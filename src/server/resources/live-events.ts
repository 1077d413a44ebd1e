/** Events as they happen, as Server-Sent Events. */
import { z } from 'zod'
import { eventFamilyNames } from '../../client/index.ts'
import type { Client, SubscribeOptions } from '../../client/index.ts'
import { eventTypes } from '../../kernel/index.ts'
import { LANE_BYTES, NAME_BYTES } from '../../kernel/limits.ts'
import { messagesOf } from '../live/event-messages.ts'
import type { StreamMessage } from '../live/streams.ts'
import { events, route } from '../routes/route.ts'
import type { RouteCall } from '../routes/route.ts'
import { parseTagQuery, tagQuery } from '../schemas/common.ts'
import { drop } from '../schemas/drop.ts'
import { storedEvent } from '../schemas/execution.ts'

/** A cursor has a position for every partition. */
const CURSOR_MAX = 16_384

const position = {
  cursor: z
    .string()
    .max(CURSOR_MAX)
    .optional()
    .describe('Where an earlier stream stopped. The header `Last-Event-ID` has precedence.'),
  fromStart: z.boolean().optional().describe('Starts with the oldest event that is kept; only without a cursor.'),
}

const families = z
  .array(z.enum(eventFamilyNames))
  .optional()
  .describe('Only events of these families, besides `types`.')
const types = z.array(z.enum(eventTypes)).optional().describe('Only events of these types.')

type PositionQuery = { readonly cursor?: string | undefined; readonly fromStart?: boolean | undefined }
type Position = Pick<SubscribeOptions, 'cursor' | 'fromStart'>

export const eventRoutes = [
  route({
    name: 'followExecution',
    method: 'GET',
    path: '/v1/executions/{id}/events',
    tag: 'events',
    summary: 'Follow the events of an execution until its end',
    description: 'The last message has the event `end`. A client that connects again after it gets status 204.',
    access: 'viewer',
    scope: 'namespace',
    isReadable: true,
    query: z.strictObject(position),
    errors: ['execution_not_found', 'invalid_cursor', 'server_busy'],
    answers: {
      200: events(storedEvent, 'The events. The id of each message is a cursor.'),
      204: { html: true, description: 'It has ended, and its last event was received before.' },
    },
    handle: async (call) => {
      prepare(call)
      const { client, params } = call
      const { outcome, id } = await client.describe(params.id, {})
      const from = await positionOf(client, call)
      if (outcome !== undefined && from.cursor !== undefined && (await isOver(client, id, from))) {
        return new Response(null, { status: 204 })
      }
      return start(call, from, (signal) => messagesOf(client.execution(id).events({ ...from, signal })))
    },
  }),
  route({
    name: 'followFlow',
    method: 'GET',
    path: '/v1/flows/{id}/events',
    tag: 'events',
    summary: 'Follow the events of a flow and of its members',
    access: 'viewer',
    scope: 'namespace',
    query: z.strictObject({ ...position, types }),
    errors: ['flow_not_found', 'invalid_cursor', 'server_busy'],
    answers: { 200: events(storedEvent, 'The events. The id of each message is a cursor.') },
    handle: async (call) => {
      prepare(call)
      const { client, params, query } = call
      const { id } = await client.describeFlow(params.id)
      const from = await positionOf(client, call)
      const options = drop({ ...from, types: query.types, flowId: id })
      return start(call, from, (signal) => messagesOf(client.subscribe({ ...options, signal })))
    },
  }),
  route({
    name: 'followEvents',
    method: 'GET',
    path: '/v1/events',
    tag: 'events',
    summary: 'Follow the event log',
    access: 'viewer',
    scope: 'namespace',
    query: z.strictObject({
      ...position,
      types,
      families,
      task: z.string().max(NAME_BYTES).optional().describe('Only events of executions of this task.'),
      lane: z.string().max(LANE_BYTES).optional().describe('Only events of executions in this lane.'),
      tag: tagQuery,
    }),
    errors: ['invalid_cursor', 'server_busy'],
    answers: { 200: events(storedEvent, 'The events. The id of each message is a cursor.') },
    handle: async (call) => {
      prepare(call)
      const { client, query } = call
      const from = await positionOf(client, call)
      const { types, families, task, lane } = query
      const options = drop({ ...from, types, families, task, lane, tag: parseTagQuery(query.tag) })
      return start(call, from, (signal) => messagesOf(client.subscribe({ ...options, signal })))
    },
  }),
]

/** Refuses before anything is read. */
function prepare({ server }: RouteCall): void {
  server.streams.refuseIfFull()
}

/** Starts at the present end of the log unless the request says otherwise, so that a broken connection can continue there. */
async function positionOf(client: Client, { request, query }: RouteCall<string, PositionQuery>): Promise<Position> {
  const cursor = request.headers.get('last-event-id') ?? query.cursor
  if (cursor !== undefined && cursor !== '') return { cursor: client.checkCursor(cursor) }
  return query.fromStart === true ? { fromStart: true } : { cursor: await client.currentCursor() }
}

/** Whether an execution that has ended has no events after a cursor. */
async function isOver(client: Client, id: string, from: Position): Promise<boolean> {
  const items = client.execution(id).events(from)
  try {
    return (await items.next()).done === true
  } finally {
    await items.return()
  }
}

function start(
  { signal, requestId, server }: RouteCall,
  { cursor }: Position,
  source: (signal: AbortSignal) => AsyncGenerator<StreamMessage, void, undefined>,
): Response {
  return server.streams.start(source, { signal, requestId, cursor })
}
