/** Worker processes of the store. */
import { z } from 'zod'
import { WORKER_REASON_BYTES } from '../../kernel/limits.ts'
import { actorOf } from '../auth/principal.ts'
import { json, route } from '../routes/route.ts'
import { by, instant, page, pageQuery } from '../schemas/common.ts'
import { drop } from '../schemas/drop.ts'

const worker = z
  .object({
    instanceId: z.string().describe('One process. Leases and events name it.'),
    workerId: z.string(),
    namespace: z.string().optional().describe('The namespace that it serves; all unless given.'),
    state: z.enum(['running', 'draining', 'lost', 'dead']),
    reason: z.string().optional(),
    lanes: z.array(z.string()),
    tasks: z.array(z.object({ name: z.string(), version: z.int().optional() })),
    capabilities: z.array(z.string()),
    slots: z.int(),
    running: z.int(),
    host: z.string(),
    pid: z.int(),
    version: z.string(),
    startedAt: instant,
    heartbeatAt: instant,
    drain: z.object({ at: instant, by: z.string().optional(), reason: z.string().optional() }).optional(),
  })
  .meta({ id: 'Worker' })

const shortReason = z.string().max(WORKER_REASON_BYTES)

export const workerRoutes = [
  route({
    name: 'listWorkers',
    method: 'GET',
    path: '/v1/workers',
    tag: 'workers',
    summary: 'List the workers of the store, with what they serve and how busy they are',
    access: 'viewer',
    scope: 'namespace',
    query: z.strictObject(pageQuery),
    errors: ['invalid_cursor', 'level_too_low'],
    answers: { 200: json(page(worker), 'A page of workers, by instance id.') },
    handle: async ({ client, query }) => ({ status: 200, body: await client.workers(drop(query)) }),
  }),
  route({
    name: 'drainWorker',
    method: 'POST',
    path: '/v1/workers/{id}/drain',
    tag: 'workers',
    summary: 'Ask a worker to finish its current work and to stop',
    access: 'operator',
    scope: 'store',
    body: z.strictObject({ reason: shortReason.optional(), by }).optional(),
    errors: ['worker_not_found', 'worker_not_live', 'level_too_low'],
    answers: { 200: json(z.object({ kind: z.enum(['drain_requested', 'already_requested']) }), 'It was asked.') },
    handle: async ({ client, params, principal, body }) => {
      const { by: who, reason } = body ?? {}
      const kind = await client.worker(params.id).drain(drop({ reason, by: actorOf(principal, who) }))
      return { status: 200, body: { kind } }
    },
  }),
  route({
    name: 'markWorkerDead',
    method: 'POST',
    path: '/v1/workers/{id}/dead',
    tag: 'workers',
    summary: 'Declare that the process of a worker has ended, and hand its executions to others',
    access: 'admin',
    scope: 'store',
    body: z.strictObject({ reason: shortReason, by }),
    errors: ['worker_not_found', 'level_too_low'],
    answers: {
      200: json(
        z.object({ kind: z.enum(['marked', 'already_dead']), revoked: z.array(z.string()) }),
        'Other workers can claim what it held.',
      ),
    },
    handle: async ({ client, params, principal, body: { reason, by: who } }) => ({
      status: 200,
      body: await client.worker(params.id).markDead(reason, { by: actorOf(principal, who) }),
    }),
  }),
]
