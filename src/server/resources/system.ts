/** The server itself: whether it works, its version, its engine and its description. */
import { z } from 'zod'
import { EngineError } from '../../kernel/engine-error.ts'
import { packageVersion } from '../../runtime/index.ts'
import { docsPage } from '../pages/docs-page.ts'
import { pageResponse } from '../pages/page.ts'
import { json, route } from '../routes/route.ts'
import { METRICS_TYPE, metricsText } from '../metrics/text.ts'
import { instant, page } from '../schemas/common.ts'
import { waitAtMost } from '../live/long-poll.ts'

const scanner = z
  .object({
    scanner: z.string(),
    kind: z.enum(['enabled', 'disabled']),
    everyMs: z.number().optional(),
    restartCount: z.int().optional(),
    cycleCount: z.int().optional(),
    lastCycle: z
      .object({ startedAt: instant, elapsedMs: z.number(), processed: z.int(), errors: z.int() })
      .optional()
      .describe('Absent until the first cycle has ended.'),
    nextRunAt: instant.optional(),
    errorCount: z.int().optional().describe('Since the engine started.'),
    backoffCount: z.int().optional().describe('Items that are left alone for a while, because they have failed.'),
    counts: z
      .record(z.string(), z.int())
      .optional()
      .describe('What it has found and done since the engine started, by case.'),
    foundAt: instant.optional().describe('When the latest cycle that found something began.'),
  })
  .meta({ id: 'Scanner', description: 'One scanner of the engine: its last cycle, what it found and repaired.' })

/** How long the store may take to answer a readiness check. */
const READY_MS = 5_000

export const systemRoutes = [
  route({
    name: 'getHealth',
    method: 'GET',
    path: '/v1/health',
    tag: 'system',
    summary: 'Whether the process answers; does not ask the store',
    access: 'public',
    scope: 'store',
    answers: { 200: json(z.object({ status: z.literal('ok') }), 'It answers.') },
    handle: () => ({ status: 200, body: { status: 'ok' as const } }),
  }),
  route({
    name: 'getReadiness',
    method: 'GET',
    path: '/v1/readiness',
    tag: 'system',
    summary: 'Whether the server accepts work: its store answers and it does not stop',
    access: 'public',
    scope: 'store',
    errors: ['store_unavailable', 'server_stopping'],
    answers: { 200: json(z.object({ status: z.literal('ready') }), 'It accepts work.') },
    handle: async ({ server, signal }) => {
      if (server.stopping.aborted) throw new EngineError('server_stopping')
      const report = await waitAtMost(server.runtime, READY_MS, signal, () => server.fabric.report())
      if (report === undefined) throw new EngineError('store_unavailable')
      return { status: 200, body: { status: 'ready' as const } }
    },
  }),
  route({
    name: 'getVersion',
    method: 'GET',
    path: '/v1/version',
    tag: 'system',
    summary: 'The versions of the server and of its store',
    access: 'viewer',
    scope: 'store',
    answers: {
      200: json(
        z.object({
          version: z.string(),
          store: z.object({
            kind: z.string(),
            version: z.string(),
            level: z.int(),
            durability: z.string(),
            warnings: z.array(z.string()),
          }),
          at: instant.describe('The clock of the server.'),
        }),
        'The versions.',
      ),
    },
    handle: async ({ server: { fabric, runtime } }) => {
      const { kind, version, durability, warnings } = await fabric.report()
      const store = { kind, version, level: fabric.store.level, durability, warnings }
      return { status: 200, body: { version: packageVersion(), store, at: runtime.now() } }
    },
  }),
  route({
    name: 'listScanners',
    method: 'GET',
    path: '/v1/scanners',
    tag: 'system',
    summary: 'The scanners of the engine in this process: last run, finds and repairs',
    access: 'viewer',
    scope: 'store',
    answers: { 200: json(page(scanner), 'All scanners; none if no engine runs in this process.') },
    handle: ({ server }) => ({
      status: 200,
      body: { items: (server.engine?.status() ?? []).map((status) => ({ ...status })) },
    }),
  }),
  route({
    name: 'getMetrics',
    method: 'GET',
    path: '/metrics',
    tag: 'system',
    summary: 'Metrics of this process and of the store, for Prometheus',
    access: 'viewer',
    scope: 'store',
    answers: { 200: { text: 'text/plain', description: 'The text format of Prometheus, version 0.0.4.' } },
    handle: async ({ server }) => {
      const samples = [...server.fabric.metrics.snapshot(), ...(await server.gauges.read())]
      return new Response(metricsText(samples), { headers: { 'content-type': METRICS_TYPE } })
    },
  }),
  route({
    name: 'getOpenApi',
    method: 'GET',
    path: '/v1/openapi.json',
    tag: 'system',
    summary: 'The description of this API, in OpenAPI 3.1',
    access: 'public',
    scope: 'store',
    answers: { 200: json(z.looseObject({ openapi: z.string() }), 'The description.') },
    handle: ({ server }) =>
      new Response(server.document(), { headers: { 'content-type': 'application/json; charset=utf-8' } }),
  }),
  route({
    name: 'getDocs',
    method: 'GET',
    path: '/v1/docs',
    tag: 'system',
    summary: 'The description of this API as a page',
    access: 'public',
    scope: 'store',
    answers: { 200: { html: true, description: 'The page. It loads nothing from elsewhere.' } },
    handle: ({ server }) => pageResponse(200, docsPage(server.document())),
  }),
]
