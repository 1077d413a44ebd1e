/** Workers over HTTP: they claim executions, renew the leases, and report what became of them. */
import { z } from 'zod'
import type { ClaimedLease } from '../../client/index.ts'
import { EngineError } from '../../kernel/engine-error.ts'
import {
  CLAIM_COUNT_MAX,
  FRAME_APPEND_BYTES,
  PROGRESS_MESSAGE_BYTES,
  RESULT_BYTES,
  STEP_NAME_BYTES,
  STEP_VALUE_BYTES,
} from '../../kernel/limits.ts'
import { problemOf } from '../http/problem.ts'
import { boundedWait } from '../live/bounded-wait.ts'
import { json, route } from '../routes/route.ts'
import { duration } from '../schemas/common.ts'
import { drop } from '../schemas/drop.ts'
import {
  claimBody,
  claimed,
  drainRequest,
  failureBody,
  framesBody,
  instanceName,
  leaseField,
  leaseReason,
  leaseTtl,
  renewal,
  resultFields,
  valueOrBytes,
} from '../schemas/lease.ts'
import { problem } from '../schemas/problem.ts'
import { splitValues, valueFields, valueOf } from '../schemas/value.ts'
import { LEASE_ERRORS, reporting } from './lease-route.ts'

/** Values in base64 take a third more. */
const RESULT_BODY_BYTES = Math.ceil((RESULT_BYTES * 4) / 3) + 65_536
const STEP_BODY_BYTES = Math.ceil((STEP_VALUE_BYTES * 4) / 3) + 65_536
const FRAMES_BODY_BYTES = Math.ceil((FRAME_APPEND_BYTES * 4) / 3) + 65_536

const LEASE_TTL_DEFAULT = '30s'

const done = (description: string) => json(z.object({ kind: z.string() }), description)

export const leaseRoutes = [
  route({
    ...reporting,
    name: 'claimExecutions',
    path: '/v1/claims',
    summary: 'Claim executions of some tasks, and wait for them if asked to',
    description:
      'Each has a lease, without which nothing can be reported about it, and the permits of its limits. Executions that need a condition of a flow, or steps to be undone, are left to workers that take them.',
    body: claimBody,
    answers: {
      200: json(
        z.object({ items: z.array(claimed), drain: drainRequest }),
        'The executions; none if the time is over.',
      ),
    },
    handle: async ({ client, body, principal, signal, server }) => {
      const { instance, worker = principal.name, wait = 0, tasks, ...rest } = body
      const { workers } = client.leases
      workers.refresh(instance)
      const items = await client.leases.claim({
        ...drop(rest),
        tasks: tasks.map((each) => drop(each)),
        wait: boundedWait(wait, server.limits.waitMs),
        workerId: worker,
        instanceId: instance,
        signal,
      })
      return { status: 200, body: { items: items.map(claimedBody), ...drainOf(workers.refresh(instance)) } }
    },
  }),
  route({
    ...reporting,
    name: 'renewLeases',
    path: '/v1/leases/renew',
    summary: 'Renew leases',
    description:
      'Each item has an outcome of its own, in order. A worker that gets an error for one stops its handler.',
    body: z.strictObject({
      items: z
        .array(z.strictObject({ id: z.string().min(1), lease: leaseField }))
        .min(1)
        .max(2 * CLAIM_COUNT_MAX),
      leaseTtl,
      instance: instanceName.optional().describe('Extends the registration of this worker, as a claim does.'),
    }),
    answers: {
      200: json(
        z.object({
          items: z.array(
            z.union([
              z.object({ ok: z.literal(true), ...renewal.shape }),
              z.object({ ok: z.literal(false), error: problem }),
            ]),
          ),
          drain: drainRequest,
        }),
        'The outcomes.',
      ),
    },
    handle: async ({ client, body: { items, leaseTtl: ttl = LEASE_TTL_DEFAULT, instance }, requestId }) => {
      const renewals = items.map(async ({ id, lease }) => {
        try {
          return { ok: true as const, ...(await client.leases.renew(id, lease, ttl)) }
        } catch (error) {
          if (!(error instanceof EngineError) || error.code === 'fabric_closed') throw error
          return { ok: false as const, error: problemOf(error, requestId) }
        }
      })
      const drain = instance !== undefined && client.leases.workers.refresh(instance)
      return { status: 200, body: { items: await Promise.all(renewals), ...drainOf(drain) } }
    },
  }),
  route({
    ...reporting,
    name: 'completeExecution',
    path: '/v1/executions/{id}/complete',
    summary: 'Complete an execution with its result',
    body: z.strictObject({ lease: leaseField, ...resultFields }),
    bodyBytes: RESULT_BODY_BYTES,
    errors: LEASE_ERRORS,
    answers: { 200: done('It has ended. A repeated report is recognised.') },
    handle: async ({ client, params, body: { lease, result, resultBytes } }) => {
      const value = valueOf('result', result, resultBytes)
      return { status: 200, body: { kind: await client.leases.complete(params.id, lease, value) } }
    },
  }),
  route({
    ...reporting,
    name: 'failExecution',
    path: '/v1/executions/{id}/fail',
    summary: 'Report that the handler of an execution has failed',
    description: 'The retry policy of the execution decides about another attempt.',
    body: failureBody,
    errors: LEASE_ERRORS,
    answers: {
      200: json(
        z.object({ kind: z.string(), retryAt: z.int().optional().describe('When the next attempt may start.') }),
        'It was recorded.',
      ),
    },
    handle: async ({ client, params, body: { lease, ...failure } }) => ({
      status: 200,
      body: await client.leases.fail(params.id, lease, failure),
    }),
  }),
  route({
    ...reporting,
    name: 'releaseExecution',
    path: '/v1/executions/{id}/release',
    summary: 'Give an execution back for another worker, without a failure',
    body: z.strictObject({ lease: leaseField, reason: leaseReason }),
    errors: LEASE_ERRORS,
    answers: { 200: done('Another worker can claim it.') },
    handle: async ({ client, params, body: { lease, reason } }) => ({
      status: 200,
      body: { kind: await client.leases.release(params.id, lease, reason) },
    }),
  }),
  route({
    ...reporting,
    name: 'postponeExecution',
    path: '/v1/executions/{id}/postpone',
    summary: 'Give an execution back for a time, without a failure',
    body: z.strictObject({ lease: leaseField, delay: duration }),
    errors: LEASE_ERRORS,
    answers: { 200: done('The same attempt continues after the delay.') },
    handle: async ({ client, params, body: { lease, delay } }) => ({
      status: 200,
      body: { kind: await client.leases.postpone(params.id, lease, delay) },
    }),
  }),
  route({
    ...reporting,
    name: 'updateProgress',
    path: '/v1/executions/{id}/progress',
    summary: 'Report how far the attempt is',
    body: z.strictObject({
      lease: leaseField,
      percent: z.number().min(0).max(100).optional(),
      message: z.string().max(PROGRESS_MESSAGE_BYTES).optional(),
    }),
    errors: LEASE_ERRORS,
    answers: { 200: done('It is stored, in the place of the report before.') },
    handle: async ({ client, params, body: { lease, ...report } }) => ({
      status: 200,
      body: { kind: await client.leases.progress(params.id, lease, report) },
    }),
  }),
  route({
    ...reporting,
    name: 'recordStep',
    path: '/v1/executions/{id}/steps',
    summary: 'Record the result of a step',
    description:
      'A result is recorded once: a later attempt reads it, and a later report gets what was recorded before.',
    body: z.strictObject({
      lease: leaseField,
      name: z
        .string()
        .min(1)
        .max(4 * STEP_NAME_BYTES),
      ...valueOrBytes,
    }),
    bodyBytes: STEP_BODY_BYTES,
    errors: [...LEASE_ERRORS, 'step_limit_exceeded', 'step_bytes_exceeded'],
    answers: { 200: json(z.object({ kind: z.string(), ...valueOrBytes }), 'The recorded result.') },
    handle: async ({ client, params, body: { lease, name, value, valueBytes } }) => {
      const given = valueOf('value', value, valueBytes)
      const recorded = await client.leases.recordStep(params.id, lease, name, given)
      return { status: 200, body: { kind: recorded.kind, ...valueFields('value', recorded.value) } }
    },
  }),
  route({
    ...reporting,
    name: 'appendFrames',
    path: '/v1/executions/{id}/frames',
    summary: 'Append frames to the stream of an execution',
    body: framesBody,
    bodyBytes: FRAMES_BODY_BYTES,
    errors: LEASE_ERRORS,
    answers: { 200: done('They are stored.') },
    handle: async ({ client, params, body: { lease, append, frames } }) => {
      const given = frames.map(({ name, value, valueBytes }) => ({ name, value: valueOf('value', value, valueBytes) }))
      return { status: 200, body: { kind: await client.leases.appendFrames(params.id, lease, append, given) } }
    },
  }),
]

function drainOf(drain: boolean): { readonly drain?: true } {
  return drain ? { drain } : {}
}

function claimedBody({ input, inputs, condition, unwinding, ...item }: ClaimedLease) {
  const upstream = inputs === undefined ? undefined : splitValues(inputs)
  const asked = condition && {
    flow: condition.flow,
    node: condition.node,
    ...valueFields('input', condition.input),
  }
  const stop = unwinding && {
    outcome: unwinding.outcome,
    reason: unwinding.reason,
    by: unwinding.by,
    at: unwinding.at,
  }
  const given = valueFields('input', input)
  return { ...item, condition: asked, unwinding: stop, ...given, inputs: upstream?.json, inputsBytes: upstream?.bytes }
}
