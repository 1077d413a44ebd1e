/** Reads flows and acts on them. */
import { z } from 'zod'
import { summariseMember, unwrap } from '../../client/index.ts'
import { EngineError } from '../../kernel/engine-error.ts'
import { NAME_BYTES } from '../../kernel/limits.ts'
import { actorOf } from '../auth/principal.ts'
import { repeatable } from '../http/idempotency.ts'
import { boundedWait } from '../live/bounded-wait.ts'
import { json, route } from '../routes/route.ts'
import {
  by,
  duration,
  page,
  pageQuery,
  parseTagQuery,
  reason,
  tagChanges,
  tagChangesOf,
  tagQuery,
  trail,
  trailOnly,
} from '../schemas/common.ts'
import { drop } from '../schemas/drop.ts'
import { flowCancelPolicy, flowDescription, flowMember, flowState, flowSummary } from '../schemas/flow.ts'

const MEMBER_CURSOR = /^m1\.(-?\d{1,16})\.([0-9a-z-]*)$/

export const flowRoutes = [
  route({
    name: 'listFlows',
    method: 'GET',
    path: '/v1/flows',
    tag: 'flows',
    summary: 'List flows, newest first',
    access: 'viewer',
    scope: 'namespace',
    query: z.strictObject({
      ...pageQuery,
      name: z.string().min(1).max(NAME_BYTES).optional(),
      state: flowState.optional(),
      tag: tagQuery,
      schedule: z.string().min(1).max(NAME_BYTES).optional().describe('Only those that this schedule has started.'),
    }),
    errors: ['invalid_cursor'],
    answers: { 200: json(page(flowSummary), 'A page of flows.') },
    handle: async ({ client, query: { tag, ...rest } }) => ({
      status: 200,
      body: await client.flows(drop({ ...rest, tag: parseTagQuery(tag) })),
    }),
  }),
  route({
    name: 'describeFlow',
    method: 'GET',
    path: '/v1/flows/{id}',
    tag: 'flows',
    summary: 'Describe a flow',
    access: 'viewer',
    scope: 'namespace',
    errors: ['flow_not_found'],
    answers: { 200: json(flowDescription, 'The flow.') },
    handle: async ({ client, params }) => ({ status: 200, body: await client.describeFlow(params.id) }),
  }),
  route({
    name: 'listFlowMembers',
    method: 'GET',
    path: '/v1/flows/{id}/members',
    tag: 'flows',
    summary: 'List the members of a flow, in the order of its graph',
    access: 'viewer',
    scope: 'namespace',
    query: z.strictObject({
      cursor: pageQuery.cursor,
      edges: z.boolean().optional().describe('Whether to include the upstreams of each member.'),
    }),
    errors: ['flow_not_found', 'invalid_cursor'],
    answers: { 200: json(page(flowMember), 'A page of at most 200 members.') },
    handle: async ({ client, params, query: { cursor: from, edges } }) => {
      const cursor = from === undefined ? undefined : memberPosition(from)
      const { members, cursor: next } = unwrap(await client.try.listFlowMembers(params.id, { edges, cursor }))
      const nodes = new Map(members.map(({ execution }) => [execution.id, execution.member?.name ?? '']))
      const items = members.map((view) => summariseMember(view, nodes))
      return { status: 200, body: { items, cursor: next && `m1.${next.score}.${next.id ?? ''}` } }
    },
  }),
  route({
    name: 'cancelFlow',
    method: 'POST',
    path: '/v1/flows/{id}/cancel',
    tag: 'flows',
    summary: 'Cancel a flow',
    access: 'operator',
    scope: 'namespace',
    body: z.strictObject({
      reason,
      by,
      policy: flowCancelPolicy.optional().describe('Which members are cancelled: all unless given.'),
      force: z.boolean().optional(),
      grace: duration.optional(),
      wait: duration.optional().describe('How long to wait until the members have ended; not at all unless given.'),
    }),
    errors: ['flow_not_found', 'flow_ended', 'flow_not_settled', 'flow_busy'],
    answers: {
      200: json(
        z.object({
          kind: z.string(),
          policy: flowCancelPolicy,
          isSettled: z.boolean(),
          liveCount: z.int().describe('Members that have not ended.'),
        }),
        'It was cancelled; no member starts after that. The policy is that of the first cancel.',
      ),
    },
    handle: async ({ client, params, principal, server, body: { reason: why, by: who, wait, ...rest } }) => {
      const limit = wait === undefined ? undefined : boundedWait(wait, server.limits.waitMs)
      const options = drop({ ...rest, by: actorOf(principal, who), wait: limit })
      const { kind, policy, settled, liveCount } = await client.cancelFlow(params.id, why, options)
      return { status: 200, body: { kind, policy, isSettled: settled, liveCount } }
    },
  }),
  route({
    name: 'replayFlowMember',
    method: 'POST',
    path: '/v1/flows/{id}/members/{node}/replay',
    tag: 'flows',
    summary: 'Run a member of a flow again',
    access: 'operator',
    scope: 'namespace',
    body: z
      .strictObject({
        reason: reason.optional(),
        by,
        subtree: z.boolean().optional().describe('Also replays the members that were skipped because of it.'),
      })
      .optional(),
    takesIdempotencyKey: true,
    errors: [
      'execution_not_found',
      'execution_not_ended',
      'replays_exhausted',
      'retention_over',
      'flow_not_found',
      'flow_ended',
      'flow_busy',
      'upstream_not_replayed',
      'children_stopping',
      'too_many_needs',
    ],
    answers: { 200: json(z.object({ kind: z.string() }), 'It runs again.') },
    handle: async ({ client, params, principal, body, idempotencyKey }) => {
      const { by: who, ...rest } = body ?? {}
      const member = client.flow(params.id).member(params.node)
      const options = drop({ ...rest, by: actorOf(principal, who) })
      const { kind } = unwrap(await client.try.replay(member.id, options, repeatable(idempotencyKey).requestId))
      return { status: 200, body: { kind } }
    },
  }),
  route({
    name: 'setFlowTags',
    method: 'PATCH',
    path: '/v1/flows/{id}/tags',
    tag: 'flows',
    summary: 'Set and remove tags of a flow',
    access: 'operator',
    scope: 'namespace',
    body: z.strictObject({ tags: tagChanges, ...trail }),
    errors: ['flow_not_found', 'retention_over'],
    answers: { 200: json(z.object({ kind: z.string() }), 'The tags are set.') },
    handle: async ({ client, params, body }) => {
      await client.setFlowTags(params.id, tagChangesOf(body.tags))
      return { status: 200, body: { kind: 'set' } }
    },
  }),
  route({
    name: 'sealFlow',
    method: 'POST',
    path: '/v1/flows/{id}/seal',
    tag: 'flows',
    summary: 'Close the graph of a flow, so that it ends with its last member',
    access: 'operator',
    scope: 'namespace',
    body: trailOnly,
    errors: ['flow_not_found', 'flow_ended', 'flow_sealed', 'unreachable_quorum', 'flow_busy'],
    answers: { 200: json(z.object({ state: flowState }), 'It is sealed.') },
    handle: async ({ client, params }) => {
      const { state } = unwrap(await client.try.sealFlow(params.id))
      return { status: 200, body: { state } }
    },
  }),
]

function memberPosition(cursor: string): { readonly score: number; readonly id: string } {
  const match = MEMBER_CURSOR.exec(cursor)
  const score = Number(match?.[1])
  if (match === null || !Number.isSafeInteger(score)) throw new EngineError('invalid_cursor', { field: 'cursor' })
  return { score, id: match[2] ?? '' }
}
