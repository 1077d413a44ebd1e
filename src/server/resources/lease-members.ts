/** Members of the flow of an execution that a worker over HTTP runs: it adds some, depends on others, and waits for them. */
import { z } from 'zod'
import { PAYLOAD_BYTES, RESOLVE_PAGE_COUNT } from '../../kernel/limits.ts'
import { json, route } from '../routes/route.ts'
import { anyJson, base64 } from '../schemas/common.ts'
import { drop } from '../schemas/drop.ts'
import { addedMember, dependedMember, upstreamsOf } from '../schemas/flow-graph.ts'
import { leaseField } from '../schemas/lease.ts'
import { splitValues } from '../schemas/value.ts'
import { GROWTH_ERRORS } from './flow-graphs.ts'
import { detailOf, taskOf } from './graph-definition.ts'
import { LEASE_ERRORS, UNWINDING_ERRORS, reporting } from './lease-route.ts'

/** Payloads in base64 take a third more. */
const MEMBER_BODY_BYTES = 2 * Math.ceil((PAYLOAD_BYTES * 4) / 3)

const EDGE_ERRORS = [
  ...LEASE_ERRORS,
  ...UNWINDING_ERRORS,
  ...GROWTH_ERRORS,
  'self_referencing_edge',
  'dependency_already_exists',
] as const

const stopped = ['parked', 'already_parked', 'skipped', 'already_skipped', 'cancelled', 'already_cancelled'] as const

export const leaseMemberRoutes = [
  route({
    ...reporting,
    name: 'addMember',
    path: '/v1/executions/{id}/members',
    summary: 'Add a member to the flow of an execution, which waits for it',
    description: `The flow may be sealed. The member waits for at most ${RESOLVE_PAGE_COUNT} others. One that was added before is not added again.`,
    body: addedMember,
    bodyBytes: MEMBER_BODY_BYTES,
    errors: EDGE_ERRORS,
    answers: {
      200: json(
        z.object({
          kind: z.enum(['added', 'already_member', ...stopped]),
          id: z.string().optional(),
          state: z.string().optional(),
        }),
        'The member, or that the execution has ended or waits, because another one that it waits for has failed.',
      ),
    },
    handle: async ({ client, params, body }) => {
      const { lease, name, inputs, awaited, as } = body
      const { input, ...settings } = await detailOf(client, body)
      const member = {
        ...{ name, task: taskOf(body), input, settings },
        after: (find: Parameters<typeof upstreamsOf>[1]) => upstreamsOf(body, find),
        ...drop({ inputs, awaited }),
        as: as === null ? (false as const) : as,
      }
      return { status: 200, body: await client.leases.members.add(params.id, lease, member) }
    },
  }),
  route({
    ...reporting,
    name: 'dependOnMember',
    path: '/v1/executions/{id}/members/depend',
    summary: 'Make an execution wait for an existing member of its flow',
    description: 'The flow may be sealed. A repeated call has no further effect.',
    body: dependedMember,
    errors: EDGE_ERRORS,
    answers: {
      200: json(
        z.object({ kind: z.enum(['added', 'already_added', ...stopped]), id: z.string().optional() }),
        'The member, or that the execution has ended or waits, because another one that it waits for has failed.',
      ),
    },
    handle: async ({ client, params, body: { lease, member, as, onFailure } }) => {
      const edge = { member, as: as === null ? (false as const) : as, onFailure }
      return { status: 200, body: await client.leases.members.dependOn(params.id, lease, edge) }
    },
  }),
  route({
    ...reporting,
    name: 'waitForMembers',
    path: '/v1/executions/{id}/members/wait',
    summary: 'Wait in an execution for the members that it depends on',
    description:
      'While they run, the lease ends: the worker stops the handler and reports nothing. A claim returns the execution when they have ended, with their results in `inputs`.',
    body: z.strictObject({ lease: leaseField }),
    errors: [
      ...LEASE_ERRORS,
      ...UNWINDING_ERRORS,
      'execution_not_in_flow',
      'value_sealed',
      'codec_key_missing',
      'value_tampered',
      'object_missing',
    ],
    answers: {
      200: json(
        z.object({
          kind: z.enum(['ready', ...stopped]),
          inputs: z.record(z.string(), anyJson).optional().describe('The results of its upstreams by name.'),
          inputsBytes: z.record(z.string(), base64).optional(),
        }),
        'The inputs, or that the execution waits without a worker.',
      ),
    },
    handle: async ({ client, params, body: { lease } }) => {
      const waited = await client.leases.members.wait(params.id, lease)
      if (waited.kind !== 'ready') return { status: 200, body: waited }
      const upstream = waited.inputs === undefined ? undefined : splitValues(waited.inputs)
      return { status: 200, body: { kind: waited.kind, inputs: upstream?.json, inputsBytes: upstream?.bytes } }
    },
  }),
]
