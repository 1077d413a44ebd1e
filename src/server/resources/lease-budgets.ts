/** What executions of workers over HTTP spend of their budgets. */
import { z } from 'zod'
import { BUDGET_DIMENSION_MAX } from '../../kernel/limits.ts'
import { json, route } from '../routes/route.ts'
import { duration, key } from '../schemas/common.ts'
import { leaseField } from '../schemas/lease.ts'
import { LEASE_ERRORS, reporting } from './lease-route.ts'

const stopped = ['suspended', 'already_suspended', 'cancelled', 'already_cancelled', 'rejected'] as const

const spending = z
  .record(z.string(), z.int().min(0))
  .refine((amounts) => Object.keys(amounts).length <= BUDGET_DIMENSION_MAX, 'too many dimensions')
  .describe('How much of each dimension, such as `{ "tokens": 1200 }`. Money is counted in millionths.')

const body = {
  lease: leaseField,
  key: key.describe('Names the call in its execution: repeated with it, the call counts once.'),
}

const overruns = z
  .array(z.object({ budget: z.string(), key: z.string(), dimension: z.string(), spent: z.int(), limit: z.int() }))
  .optional()

const message = z.string().optional().describe('Why the handler should stop.')

const receipt = z
  .object({
    kind: z.enum(['spent', 'already_spent', ...stopped]),
    hard: overruns.describe('The hard limits that are passed now.'),
    soft: overruns.describe('The soft limits that are passed now.'),
    message,
  })
  .meta({ id: 'SpendReceipt' })

const WAIT_ERRORS = [
  'step_limit_exceeded',
  'step_bytes_exceeded',
  'waitpoint_not_found',
  'waitpoint_closed',
  'waitpoint_limit_exceeded',
] as const

const errors = [...LEASE_ERRORS, 'budget_not_found', 'amount_too_large', 'level_too_low', ...WAIT_ERRORS] as const

export const leaseBudgetRoutes = [
  route({
    ...reporting,
    name: 'spendBudget',
    path: '/v1/executions/{id}/spend',
    summary: 'Record what an execution has spent of its budgets',
    description:
      'It counts in any case. If a budget asks for an approval then, the execution is `suspended`, and its handler makes the same call again. `rejected` asks for a permanent failure.',
    body: z.strictObject({ ...body, spending }),
    errors,
    answers: { 200: json(receipt, 'It is recorded.') },
    handle: async ({ client, params, body: given }) => ({
      status: 200,
      body: await client.leases.budgets.spend(params.id, given.lease, given.key, given.spending),
    }),
  }),
  route({
    ...reporting,
    name: 'reserveBudget',
    path: '/v1/executions/{id}/reservations',
    summary: 'Reserve amounts before they are spent',
    description: 'Repeated with its key, it extends the time. With `no_room`, postpone the execution and ask again.',
    body: z.strictObject({
      ...body,
      spending,
      ttl: duration.optional().describe('How long it lasts: a minute unless given. A renewal of the lease extends it.'),
    }),
    errors,
    answers: {
      200: json(
        z.object({
          kind: z.enum(['reserved', 'no_room', ...stopped]),
          shortage: z
            .object({
              budget: z.string(),
              key: z.string(),
              dimension: z.string(),
              spent: z.int(),
              reserved: z.int(),
              hard: z.int(),
              asked: z.int(),
              resetsInMs: z.int().optional(),
              isFrozen: z.boolean(),
            })
            .optional(),
          retryAfterMs: z.int().optional(),
          message,
        }),
        'Whether there is room.',
      ),
    },
    handle: async ({ client, params, body: given }) => ({
      status: 200,
      body: await client.leases.budgets.reserve(params.id, given.lease, given.key, given.spending, given.ttl),
    }),
  }),
  route({
    ...reporting,
    name: 'settleReservation',
    path: '/v1/executions/{id}/reservations/settle',
    summary: 'Replace a reservation by what was really spent',
    body: z.strictObject({ ...body, spending }),
    errors,
    answers: { 200: json(receipt, 'It is settled.') },
    handle: async ({ client, params, body: given }) => ({
      status: 200,
      body: await client.leases.budgets.settle(params.id, given.lease, given.key, given.spending),
    }),
  }),
  route({
    ...reporting,
    name: 'releaseReservation',
    path: '/v1/executions/{id}/reservations/release',
    summary: 'Give a reservation back',
    body: z.strictObject(body),
    errors,
    answers: { 200: json(z.object({ kind: z.literal('released') }), 'It is free again, or was settled before.') },
    handle: async ({ client, params, body: given }) => {
      await client.leases.budgets.release(params.id, given.lease, given.key)
      return { status: 200, body: { kind: 'released' as const } }
    },
  }),
  route({
    ...reporting,
    name: 'holdLimitFor',
    path: '/v1/executions/{id}/limited',
    summary: 'Hold back a key of a limit for all workers, and postpone the execution until then',
    description: 'For services that have answered that there were too many requests.',
    body: z.strictObject({
      lease: leaseField,
      limit: z.string().min(1),
      key: key.optional(),
      retryAfter: duration,
    }),
    errors: [...LEASE_ERRORS, 'limit_not_found', 'level_too_low'],
    answers: { 200: json(z.object({ kind: z.string() }), 'The same attempt continues after the delay.') },
    handle: async ({ client, params, body: { lease, limit, key: own, retryAfter } }) => ({
      status: 200,
      body: { kind: await client.leases.limited(params.id, lease, { limit, key: own, retryAfter }) },
    }),
  }),
]
