/** Submits flows: whole graphs, or graphs that are built step by step and sealed. */
import { z } from 'zod'
import { FABRIC_PREFIX, OpenFlow } from '../../client/index.ts'
import type { BudgetUse, Client } from '../../client/index.ts'
import { RESOLVE_PAGE_COUNT } from '../../kernel/limits.ts'
import { invalidInput, show } from '../../options/invalid-input.ts'
import { repeatable } from '../http/idempotency.ts'
import { json, route } from '../routes/route.ts'
import { drop } from '../schemas/drop.ts'
import {
  addedEdge,
  flowSubmission,
  graphMember,
  groupPolicy,
  nodeName,
  openFlow,
  upstreamsOf,
} from '../schemas/flow-graph.ts'
import { budgetUsesOf, detailOf, flowOfGraph, taskOf } from './graph-definition.ts'

const GRAPH_BYTES = 8_388_608

const submittedFlow = z
  .object({
    id: z.string(),
    kind: z.enum(['created', 'replaced', 'joined', 'follow_up', 'follow_up_replaced']),
  })
  .meta({ id: 'SubmittedFlow' })

const SUBMIT_ERRORS = [
  'flow_exists',
  'input_differs',
  'flow_in_progress',
  'execution_exists',
  'execution_not_found',
  'graph_limit_exceeded',
  'cycle_detected',
  'unreachable_quorum',
  'too_many_needs',
  'lane_draining',
  'lane_disabled',
  'payload_too_large',
  'budget_not_found',
  'level_too_low',
] as const

export const GROWTH_ERRORS = [
  'flow_not_found',
  'flow_ended',
  'flow_sealed',
  'flow_busy',
  'execution_not_found',
  'execution_not_in_flow',
  'execution_in_flow',
  'execution_is_child',
  'execution_ended',
  'not_runnable',
  'follow_up_pending',
  'edge_group_already_fired',
  'graph_limit_exceeded',
  'cycle_detected',
  'unreachable_quorum',
  'too_many_needs',
  'lane_draining',
  'lane_disabled',
  'payload_too_large',
  'budget_not_found',
  'level_too_low',
] as const

const growing = { method: 'POST', tag: 'flows', access: 'worker', scope: 'namespace' } as const

export const flowGraphRoutes = [
  route({
    ...growing,
    name: 'submitFlow',
    path: '/v1/flows',
    summary: 'Submit a flow: executions that wait for each other and pass results on',
    description:
      'The nodes are listed so that each follows those that it waits for. The condition of a node is evaluated by the worker that claims it. Without an `id`, the header `Idempotency-Key` is its id.',
    body: flowSubmission,
    bodyBytes: GRAPH_BYTES,
    takesIdempotencyKey: true,
    errors: SUBMIT_ERRORS,
    answers: { 201: json(submittedFlow, 'It was created.'), 200: json(submittedFlow, 'It existed, and was joined.') },
    handle: async ({ client, idempotencyKey, body: given }) => {
      const { name, nodes, id = repeatable(idempotencyKey).key, budgets, ...options } = given
      checkOwnId(id)
      const definition = await flowOfGraph(client, name, nodes)
      const uses = await budgetUsesOf(client, budgets)
      const settings = { ...drop({ ...options, id }), budgets: uses as readonly BudgetUse[] }
      const handle = await client.submit(definition, undefined, settings)
      const body = { id: handle.id, kind: handle.created ?? ('joined' as const) }
      return body.kind === 'joined' ? { status: 200, body } : { status: 201, body }
    },
  }),
  route({
    ...growing,
    name: 'createFlow',
    path: '/v1/flows/open',
    summary: 'Create a flow without members, to which they are added one by one',
    description: 'It does not end before it is sealed. A repeated call with its id finds it.',
    body: openFlow,
    takesIdempotencyKey: true,
    errors: ['flow_exists'],
    answers: { 201: json(submittedFlow, 'It was created.'), 200: json(submittedFlow, 'It was created before.') },
    handle: async ({ client, idempotencyKey, body: given }) => {
      const { name, id = repeatable(idempotencyKey).key, ...options } = given
      checkOwnId(id)
      const handle = await client.createFlow(name, drop({ ...options, id }))
      const body = { id: handle.id, kind: handle.created ?? ('joined' as const) }
      return body.kind === 'joined' ? { status: 200, body } : { status: 201, body }
    },
  }),
  route({
    ...growing,
    name: 'addFlowMember',
    path: '/v1/flows/{id}/members',
    summary: 'Add a member to a flow that is not sealed, with the members that it waits for',
    description: `Of those it names at most ${RESOLVE_PAGE_COUNT}. A repeated call finds the member.`,
    body: graphMember,
    bodyBytes: GRAPH_BYTES,
    errors: GROWTH_ERRORS,
    answers: {
      200: json(z.object({ id: z.string(), node: z.string(), isNew: z.boolean() }), 'The member.'),
    },
    handle: async ({ client, params, body }) => {
      const open = openFlowOf(client, params.id)
      const after = upstreamsOf(body, (name) => open.member(name))
      const { input, ...detail } = await detailOf(client, body)
      const options = { ...detail, ...(after === undefined ? {} : { after }), ...drop({ inputs: body.inputs }) }
      const member = await open.add(body.name, taskOf(body), input, options)
      return { status: 200, body: { id: member.id, node: body.name, isNew: member.created === 'created' } }
    },
  }),
  route({
    ...growing,
    name: 'addDependency',
    path: '/v1/flows/{id}/edges',
    summary: 'Make one member of a flow wait for another',
    body: addedEdge,
    errors: [...GROWTH_ERRORS, 'self_referencing_edge', 'dependency_already_exists', 'stale_graph_revision'],
    answers: { 200: json(z.object({ kind: z.literal('added') }), 'The edge was added, or existed.') },
    handle: async ({ client, params, body: { upstream, downstream, as, ...rest } }) => {
      const options = { ...drop(rest), ...(as === undefined ? {} : { as: as ?? (false as const) }) }
      await openFlowOf(client, params.id).depend(upstream, downstream, options)
      return { status: 200, body: { kind: 'added' as const } }
    },
  }),
  route({
    ...growing,
    method: 'PUT',
    name: 'setEdgeGroupPolicy',
    path: '/v1/flows/{id}/members/{node}/policy',
    summary: 'Set how many of its upstreams a member needs, before its first edge',
    body: groupPolicy,
    errors: [...GROWTH_ERRORS, 'edge_group_policy_fixed'],
    answers: { 200: json(z.object({ kind: z.literal('set') }), 'It is set.') },
    handle: async ({ client, params, body }) => {
      const node = nodeName.parse(params.node)
      await openFlowOf(client, params.id).setPolicy(node, drop(body))
      return { status: 200, body: { kind: 'set' as const } }
    },
  }),
]

function openFlowOf(client: Client, id: string): OpenFlow {
  return new OpenFlow(client, client.try.resolveFlow(id))
}

function checkOwnId(id: string | undefined): void {
  if (id?.startsWith(FABRIC_PREFIX) !== true) return
  throw invalidInput('id', `The id is ${show(id)}, but ids that begin with ${FABRIC_PREFIX} belong to FlowFabric.`)
}
