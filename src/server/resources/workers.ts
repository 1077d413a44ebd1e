/** Worker processes of the store. */
import { z } from 'zod'
import {
  CLAIM_QUEUE_COUNT_MAX,
  LANE_BYTES,
  NAME_BYTES,
  NEED_COUNT_MAX,
  VERSION_MAX,
  WORKER_REASON_BYTES,
  WORKER_TASK_MAX,
} from '../../kernel/limits.ts'
import { actorOf } from '../auth/principal.ts'
import { json, route } from '../routes/route.ts'
import { by, duration, instant, page, pageQuery, taskName } from '../schemas/common.ts'
import { drop } from '../schemas/drop.ts'
import { reporting } from './lease-route.ts'

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

const name = z.string().min(1).max(NAME_BYTES)

const registration = z
  .strictObject({
    worker: name
      .optional()
      .describe('Names the worker, which several processes may share; the credentials unless given.'),
    tasks: z
      .array(z.strictObject({ name: taskName, version: z.int().min(1).max(VERSION_MAX).optional() }))
      .min(1)
      .max(WORKER_TASK_MAX)
      .describe('The tasks that it serves, each with a version, or without one.'),
    lanes: z.array(z.string().min(1).max(LANE_BYTES)).min(1).max(CLAIM_QUEUE_COUNT_MAX).optional(),
    capabilities: z.array(z.string()).max(NEED_COUNT_MAX).optional().describe('The needs that it serves.'),
    slots: z.int().min(0).optional().describe('How many handlers it runs at once; 1 unless given.'),
    running: z.int().min(0).optional().describe('How many handlers run now; 0 unless given.'),
    host: name.optional(),
    pid: z.int().min(0).optional(),
    version: name.optional().describe('The version of its program.'),
    ttl: duration
      .optional()
      .describe('How long the registration is valid: 90 s unless given, 5 s at least and an hour at most.'),
    leaseTtl: duration.optional().describe('The `leaseTtl` of its claims and renewals.'),
    draining: z.boolean().optional().describe('Whether it finishes its work and claims nothing more.'),
  })
  .meta({ id: 'WorkerRegistration' })

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
    ...reporting,
    name: 'registerWorker',
    method: 'PUT',
    path: '/v1/workers/{id}',
    tag: 'workers',
    summary: 'Register a worker over HTTP in the list of workers, or send its heartbeat',
    description:
      'The id is the `instance` of its claims, which no other process has. Claims and renewals extend the registration, but one that has lapsed is only renewed by this call.',
    body: registration,
    errors: ['instance_in_use', 'worker_not_found', 'level_too_low'],
    answers: {
      200: json(
        z.object({
          kind: z.enum(['registered', 'refreshed']),
          expiresAt: instant.describe('When the worker is listed as lost unless it sends anything.'),
          drain: z.boolean().describe('Whether an operator asks it to finish its work and to stop.'),
        }),
        'It is listed.',
      ),
    },
    handle: async ({ client, params, principal, body: { worker: workerId = principal.name, draining, ...rest } }) => {
      const tasks = rest.tasks.map((each) => drop(each))
      const report = { ...drop({ ...rest, isDraining: draining }), workerId, tasks }
      return { status: 200, body: await client.leases.workers.register(params.id, report) }
    },
  }),
  route({
    ...reporting,
    name: 'unregisterWorker',
    method: 'DELETE',
    path: '/v1/workers/{id}',
    tag: 'workers',
    summary: 'Remove a worker over HTTP that has stopped from the list of workers',
    errors: ['worker_not_found', 'level_too_low'],
    answers: { 200: json(z.object({ kind: z.enum(['unregistered', 'not_registered']) }), 'It is not listed.') },
    handle: async ({ client, params }) => ({
      status: 200,
      body: { kind: await client.leases.workers.unregister(params.id) },
    }),
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
