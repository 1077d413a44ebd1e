/** Frames and the summary of one execution, at once or as they are written. */
import { z } from 'zod'
import { logLevels } from '../../client/index.ts'
import type { FrameItem, LogItem, Summary } from '../../client/index.ts'
import { FRAME_NAME_BYTES, LIST_PAGE_MAX } from '../../kernel/limits.ts'
import type { StreamMessage } from '../live/streams.ts'
import { events, json, route } from '../routes/route.ts'
import type { RouteCall } from '../routes/route.ts'
import { page, pageQuery } from '../schemas/common.ts'
import { drop } from '../schemas/drop.ts'
import { frameItem, logItem, summary } from '../schemas/stream.ts'
import { refuseUnlessSeen, valueFields } from '../schemas/value.ts'

const FRAME_LIMIT = 50
const LOG_LIMIT = 100

const name = z.string().min(1).max(FRAME_NAME_BYTES).optional().describe('Only frames of this name.')
const level = z.enum(logLevels).optional().describe('Only lines of this level, or of a more important one.')
const cursor = z
  .string()
  .max(256)
  .optional()
  .describe('The cursor of the last item that was seen. The header `Last-Event-ID` has precedence.')

const over = { html: true, description: 'It has ended, and its last message was received before.' } as const

export const streamRoutes = [
  route({
    name: 'listFrames',
    method: 'GET',
    path: '/v1/executions/{id}/frames',
    tag: 'executions',
    summary: 'List the frames that the handler of an execution has written, oldest first',
    access: 'viewer',
    scope: 'namespace',
    isReadable: true,
    query: z.strictObject({ ...pageQuery, name }),
    errors: ['execution_not_found', 'invalid_cursor', 'level_too_low'],
    answers: { 200: json(page(frameItem), 'A page of frames. Continue with the cursor of its last item.') },
    handle: async ({ client, params, seesValues, query: { limit = FRAME_LIMIT, cursor: from, name: wanted } }) => {
      refuseUnlessSeen(seesValues)
      const frames = client.execution(params.id).frames(drop({ from, name: wanted, follow: false }))
      const items: ReturnType<typeof frameBody>[] = []
      for await (const item of frames) {
        if (items.length === Math.min(limit, LIST_PAGE_MAX)) {
          return { status: 200, body: { items, cursor: items.at(-1)?.cursor } }
        }
        items.push(frameBody(item))
      }
      return { status: 200, body: { items } }
    },
  }),
  route({
    name: 'followFrames',
    method: 'GET',
    path: '/v1/executions/{id}/frames/live',
    tag: 'events',
    summary: 'Follow the frames of an execution until its end',
    description: 'The last message has the event `end`. A client that connects again after it gets status 204.',
    access: 'viewer',
    scope: 'namespace',
    isReadable: true,
    query: z.strictObject({ cursor, name }),
    errors: ['execution_not_found', 'invalid_cursor', 'level_too_low', 'server_busy'],
    answers: { 200: events(frameItem, 'The frames. The id of each message is a cursor.'), 204: over },
    handle: async (call) => {
      const { client, query } = call
      const { id, isEnded } = await opened(call)
      const options = drop({ from: positionOf(call, query.cursor), name: query.name })
      if (options.from !== undefined) {
        const rest = client.execution(id).frames({ ...options, follow: false })
        if (isEnded && (await isEmpty(rest))) return new Response(null, { status: 204 })
      }
      return start(call, (signal) => frameMessages(client.execution(id).frames({ ...options, signal })))
    },
  }),
  route({
    name: 'listLogs',
    method: 'GET',
    path: '/v1/executions/{id}/logs',
    tag: 'executions',
    summary: 'List the log lines that the handler of an execution has written, oldest first',
    access: 'viewer',
    scope: 'namespace',
    query: z.strictObject({ ...pageQuery, level }),
    errors: ['execution_not_found', 'invalid_cursor'],
    answers: { 200: json(page(logItem), 'A page of lines. Continue with the cursor of its last item.') },
    handle: async ({ client, params, seesValues, query: { limit = LOG_LIMIT, cursor: from, level: least } }) => {
      refuseUnlessSeen(seesValues)
      const items: LogItem[] = []
      for await (const item of client.execution(params.id).logs(drop({ from, level: least, follow: false }))) {
        if (items.length === Math.min(limit, LIST_PAGE_MAX)) {
          return { status: 200, body: { items: items.map(drop), cursor: items.at(-1)?.cursor } }
        }
        items.push(item)
      }
      return { status: 200, body: { items: items.map(drop) } }
    },
  }),
  route({
    name: 'followLogs',
    method: 'GET',
    path: '/v1/executions/{id}/logs/live',
    tag: 'events',
    summary: 'Follow the log lines of an execution until its end',
    description: 'The last message has the event `end`. A client that connects again after it gets status 204.',
    access: 'viewer',
    scope: 'namespace',
    query: z.strictObject({ cursor, level }),
    errors: ['execution_not_found', 'invalid_cursor', 'server_busy'],
    answers: { 200: events(logItem, 'The lines. The id of each message is a cursor.'), 204: over },
    handle: async (call) => {
      const { client, query } = call
      const { id, isEnded } = await opened(call)
      const options = drop({ from: positionOf(call, query.cursor), level: query.level })
      if (options.from !== undefined) {
        const rest = client.execution(id).logs({ ...options, follow: false })
        if (isEnded && (await isEmpty(rest))) return new Response(null, { status: 204 })
      }
      return start(call, (signal) => logMessages(client.execution(id).logs({ ...options, signal })))
    },
  }),
  route({
    name: 'getSummary',
    method: 'GET',
    path: '/v1/executions/{id}/summary',
    tag: 'executions',
    summary: 'Return the summary that the handler of an execution keeps',
    access: 'viewer',
    scope: 'namespace',
    isReadable: true,
    errors: ['execution_not_found', 'level_too_low'],
    answers: { 200: json(z.object({ summary: summary.optional() }), 'The summary. Absent before the first.') },
    handle: async ({ client, params, seesValues }) => {
      refuseUnlessSeen(seesValues)
      return { status: 200, body: drop({ summary: await client.execution(params.id).summary() }) }
    },
  }),
  route({
    name: 'followSummary',
    method: 'GET',
    path: '/v1/executions/{id}/summary/live',
    tag: 'events',
    summary: 'Follow the summary of an execution until its end',
    description: 'Versions that were written in between are left out. The last message has the event `end`.',
    access: 'viewer',
    scope: 'namespace',
    isReadable: true,
    errors: ['execution_not_found', 'level_too_low', 'server_busy'],
    answers: { 200: events(summary, 'The summary, now and after changes.'), 204: over },
    handle: async (call) => {
      const { id, isEnded } = await opened(call)
      const execution = call.client.execution(id)
      const seen = positionOf(call, undefined)
      if (seen !== undefined && isEnded && summaryId(await execution.summary()) === seen) {
        return new Response(null, { status: 204 })
      }
      return start(call, (signal) => summaryMessages(execution.summaries({ signal }), seen))
    },
  }),
]

function positionOf({ request }: RouteCall, given: string | undefined): string | undefined {
  const last = request.headers.get('last-event-id') ?? given
  return last === '' ? undefined : last
}

/** Refuses before a stream starts what could only be a message of it afterwards. */
async function opened({ client, params, server, seesValues }: RouteCall<'{id}'>) {
  refuseUnlessSeen(seesValues)
  server.streams.refuseIfFull()
  const { id, outcome } = await client.describe(params.id, {})
  return { id, isEnded: outcome !== undefined }
}

function start(
  { signal, requestId, server }: RouteCall,
  source: (signal: AbortSignal) => AsyncGenerator<StreamMessage, void, undefined>,
): Response {
  return server.streams.start(source, { signal, requestId })
}

async function isEmpty(items: AsyncGenerator<unknown, void, undefined>): Promise<boolean> {
  try {
    return (await items.next()).done === true
  } finally {
    await items.return()
  }
}

function frameBody(item: FrameItem) {
  if (item.kind !== 'frame') return item
  const { value, ...rest } = item
  return { ...rest, ...valueFields('value', value) }
}

async function* frameMessages(items: AsyncIterable<FrameItem>): AsyncGenerator<StreamMessage, void, undefined> {
  for await (const item of items) yield { id: item.cursor, event: item.kind, data: frameBody(item) }
}

async function* logMessages(items: AsyncIterable<LogItem>): AsyncGenerator<StreamMessage, void, undefined> {
  for await (const item of items) yield { id: item.cursor, event: item.kind, data: item }
}

/** Leaves out the version that the client has. */
async function* summaryMessages(
  items: AsyncIterable<Summary>,
  seen: string | undefined,
): AsyncGenerator<StreamMessage, void, undefined> {
  for await (const item of items) {
    const id = summaryId(item)
    if (id !== seen) yield { id: id ?? '', event: 'summary', data: item }
  }
}

/** A replay from the start counts its versions anew. */
function summaryId(of: Summary | undefined): string | undefined {
  return of && `${of.version}.${of.at}`
}
