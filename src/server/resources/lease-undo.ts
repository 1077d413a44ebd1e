/** Compensations of workers over HTTP, and members of flows that they skip. */
import { z } from 'zod'
import { COMPENSATION_MAX, FAILURE_MESSAGE_BYTES } from '../../kernel/limits.ts'
import { json, route } from '../routes/route.ts'
import { leaseField } from '../schemas/lease.ts'
import { stepName } from '../schemas/lease-wait.ts'
import { LEASE_ERRORS, reporting } from './lease-route.ts'

const message = z.string().max(FAILURE_MESSAGE_BYTES).optional()

export const leaseUndoRoutes = [
  route({
    ...reporting,
    name: 'skipExecution',
    path: '/v1/executions/{id}/skip',
    summary: 'Skip a member of a flow, because its condition is not met',
    body: z.strictObject({ lease: leaseField }),
    errors: [...LEASE_ERRORS, 'execution_not_in_flow'],
    answers: {
      200: json(z.object({ kind: z.string() }), 'It is skipped, or was cancelled. A repeated report is recognised.'),
    },
    handle: async ({ client, params, body: { lease } }) => ({
      status: 200,
      body: { kind: await client.leases.undo.skip(params.id, lease) },
    }),
  }),
  route({
    ...reporting,
    name: 'registerCompensations',
    path: '/v1/executions/{id}/compensations',
    summary: 'Store how many compensations a handler has registered',
    description: 'Sent before the step that the latest of them undoes, or right after it.',
    body: z.strictObject({
      lease: leaseField,
      count: z.int().min(1).max(COMPENSATION_MAX).describe('How many this run has registered, those before included.'),
    }),
    errors: [...LEASE_ERRORS, 'step_limit_exceeded'],
    answers: { 200: json(z.object({ kind: z.enum(['registered', 'already_registered']) }), 'The number is stored.') },
    handle: async ({ client, params, body: { lease, count } }) => ({
      status: 200,
      body: { kind: await client.leases.undo.register(params.id, lease, count) },
    }),
  }),
  route({
    ...reporting,
    name: 'recordCompensation',
    path: '/v1/executions/{id}/compensations/record',
    summary: 'Record that a compensation has run, or has failed for good',
    description: 'It is a step with the name of the compensation and the suffix `#undo`, recorded once.',
    body: z.strictObject({
      lease: leaseField,
      name: stepName.describe('The name of the compensation, without the suffix.'),
      failure: message.describe('Why it has failed. It has run unless given.'),
    }),
    errors: [...LEASE_ERRORS, 'step_limit_exceeded', 'step_bytes_exceeded'],
    answers: { 200: json(z.object({ kind: z.string() }), 'It is recorded.') },
    handle: async ({ client, params, body: { lease, name, failure } }) => ({
      status: 200,
      body: { kind: await client.leases.undo.record(params.id, lease, name, failure) },
    }),
  }),
  route({
    ...reporting,
    name: 'endCompensations',
    path: '/v1/executions/{id}/compensations/end',
    summary: 'End an execution whose compensations have run',
    description: 'It ends with the outcome that was decided before they ran, such as `failed` or `cancelled`.',
    body: z.strictObject({
      lease: leaseField,
      failure: message.describe('What went wrong while they ran.'),
    }),
    errors: [...LEASE_ERRORS, 'execution_ended'],
    answers: { 200: json(z.object({ kind: z.enum(['ended', 'already_ended']) }), 'It has ended.') },
    handle: async ({ client, params, body: { lease, failure } }) => ({
      status: 200,
      body: { kind: await client.leases.undo.end(params.id, lease, failure) },
    }),
  }),
]
