/** Submits executions, reads them and acts on them. */
import { z } from 'zod'
import { FABRIC_PREFIX, shapingNames, task, unwrap } from '../../client/index.ts'
import type { AnyTask, Client, SubmitOptions } from '../../client/index.ts'
import { EngineError } from '../../kernel/engine-error.ts'
import { LANE_BYTES, NAME_BYTES, PAYLOAD_BYTES, PRIORITY_MAX } from '../../kernel/limits.ts'
import { invalidInput, show } from '../../options/invalid-input.ts'
import { actorOf } from '../auth/principal.ts'
import { repeatable } from '../http/idempotency.ts'
import type { Repeatable } from '../http/idempotency.ts'
import { problemOf } from '../http/problem.ts'
import { refusalOf } from '../http/validate.ts'
import { json, route } from '../routes/route.ts'
import {
  by,
  duration,
  instant,
  key,
  page,
  pageQuery,
  parseTagQuery,
  reason,
  tagChanges,
  tagChangesOf,
  tagQuery,
  trail,
} from '../schemas/common.ts'
import {
  attempt,
  executionDescription,
  executionSummary,
  explanation,
  stateQuery,
  submission,
  submitted,
} from '../schemas/execution.ts'
import type { Submission } from '../schemas/execution.ts'
import { problem } from '../schemas/problem.ts'
import { limitUsesOf, shareOf } from '../schemas/submission-parts.ts'
import { valueFields, valueOf, withheld } from '../schemas/value.ts'
import { drop } from '../schemas/drop.ts'

/** A payload in base64 takes a third more. */
const SUBMIT_BYTES = Math.ceil((PAYLOAD_BYTES * 4) / 3) + 65_536
const BATCH_BYTES = 8_388_608
const BATCH_MAX = 1_000

const SUBMIT_ERRORS = [
  'payload_too_large',
  'execution_exists',
  'input_differs',
  'execution_in_progress',
  'execution_in_flow',
  'execution_is_child',
  'children_stopping',
  'too_many_needs',
  'lane_draining',
  'lane_disabled',
  'level_too_low',
  'singleton_taken',
  'budget_not_found',
] as const

const EXAMINE_MAX = 2_000

const failureGroups = z.object({
  groups: z.array(
    z.object({
      task: z.string(),
      category: z.string(),
      message: z.string().describe('With `#` for each number and each id.'),
      count: z.int(),
      firstAt: instant.optional(),
      lastAt: instant.optional(),
      examples: z.array(z.string()).describe('The ids of the newest ones.'),
    }),
  ),
  examined: z.int(),
  isCut: z.boolean().describe('Whether older ones were not examined.'),
})

const accepted = z.object({ kind: z.string() })

export const executionRoutes = [
  route({
    name: 'submitExecution',
    method: 'POST',
    path: '/v1/executions',
    tag: 'executions',
    summary: 'Submit an execution',
    description:
      'Once this is answered, the execution is stored. The options of its task are those of the body: the server does not know the definitions of tasks. Without an `id`, the header `Idempotency-Key` is its id.',
    access: 'worker',
    scope: 'namespace',
    body: submission,
    bodyBytes: SUBMIT_BYTES,
    takesIdempotencyKey: true,
    errors: SUBMIT_ERRORS,
    answers: { 201: json(submitted, 'It was created.'), 200: json(submitted, 'It existed, and was joined.') },
    handle: async ({ client, body, idempotencyKey }) => {
      const result = await submit(client, body, repeatable(idempotencyKey))
      return result.kind === 'joined' ? { status: 200, body: result } : { status: 201, body: result }
    },
  }),
  route({
    name: 'submitExecutions',
    method: 'POST',
    path: '/v1/executions/batch',
    tag: 'executions',
    summary: 'Submit many executions',
    description: 'Not atomic: each item has an outcome of its own, in order.',
    access: 'worker',
    scope: 'namespace',
    body: z.strictObject({
      items: z.array(z.unknown()).min(1).max(BATCH_MAX).describe('Submissions, each checked alone.'),
    }),
    bodyBytes: BATCH_BYTES,
    takesIdempotencyKey: true,
    answers: {
      200: json(
        z.object({
          items: z.array(
            z.union([
              z.object({ ok: z.literal(true), execution: submitted }),
              z.object({ ok: z.literal(false), error: problem }),
            ]),
          ),
        }),
        'The outcomes.',
      ),
    },
    handle: async ({ client, body, idempotencyKey, requestId }) => {
      const repeat = repeatable(idempotencyKey)
      const definitions = new Map<string, AnyTask>()
      const items = body.items.map(async (item, i) => {
        try {
          const parsed = parseItem(item, `items[${i}]`)
          return { ok: true as const, execution: await submit(client, parsed, repeat.item(i), definitions) }
        } catch (error) {
          if (!(error instanceof EngineError) || error.code === 'fabric_closed') throw error
          return { ok: false as const, error: problemOf(error, requestId) }
        }
      })
      return { status: 200, body: { items: await Promise.all(items) } }
    },
  }),
  route({
    name: 'listExecutions',
    method: 'GET',
    path: '/v1/executions',
    tag: 'executions',
    summary: 'List executions, newest first',
    access: 'viewer',
    scope: 'namespace',
    query: z.strictObject({
      ...pageQuery,
      lane: z.string().min(1).max(LANE_BYTES).optional(),
      task: z.string().min(1).max(NAME_BYTES).optional(),
      state: stateQuery.optional(),
      tag: tagQuery,
      createdFrom: instant.optional(),
      createdTo: instant.optional(),
      endedFrom: instant.optional(),
      endedTo: instant.optional(),
      error: z.string().min(1).max(NAME_BYTES).optional().describe('The category of the last failure.'),
      keyPrefix: key.optional().describe('The beginning of the own id.'),
      flow: key.optional().describe('Lists the members of this flow, in their order.'),
      parent: key.optional().describe('Lists the children of this execution, in the order of their start.'),
    }),
    errors: ['flow_not_found', 'invalid_cursor', 'execution_not_found'],
    answers: { 200: json(page(executionSummary), 'A page of executions.') },
    handle: async ({ client, seesValues, query: { tag, ...rest } }) => {
      const { items, cursor } = await client.list(drop({ ...rest, tag: parseTagQuery(tag) }))
      return { status: 200, body: { items: seesValues ? items : items.map(withoutDigest), cursor } }
    },
  }),
  route({
    name: 'listFailures',
    method: 'GET',
    path: '/v1/failures',
    tag: 'executions',
    summary: 'Group failed executions that have the same cause',
    description: 'By task, category, and message without its numbers; the largest group first.',
    access: 'viewer',
    scope: 'namespace',
    query: z.strictObject({
      lane: z.string().min(1).max(LANE_BYTES).optional(),
      task: z.string().min(1).max(NAME_BYTES).optional(),
      tag: tagQuery,
      endedFrom: instant.optional(),
      endedTo: instant.optional(),
      error: z.string().min(1).max(NAME_BYTES).optional().describe('The category of the last failure.'),
      examine: z.int().min(1).max(EXAMINE_MAX).optional().describe('At most so many are examined; 2,000 unless given.'),
    }),
    answers: { 200: json(failureGroups, 'The groups.') },
    handle: async ({ client, query: { tag, ...rest } }) => ({
      status: 200,
      body: await client.failures(drop({ ...rest, tag: parseTagQuery(tag) })),
    }),
  }),
  route({
    name: 'describeExecution',
    method: 'GET',
    path: '/v1/executions/{id}',
    tag: 'executions',
    summary: 'Describe an execution, with its attempts, input and result',
    access: 'viewer',
    scope: 'namespace',
    query: z.strictObject({
      values: z.boolean().optional().describe('False leaves the input and the result out.'),
    }),
    errors: ['execution_not_found'],
    answers: { 200: json(executionDescription, 'The execution.') },
    handle: async ({ client, params, query, seesValues }) => {
      const values = query.values !== false && seesValues
      const parts = { attempts: true, payload: values, result: values }
      const { input, result, inputs: _inputs, ...rest } = await client.describe(params.id, parts)
      if (!seesValues) return { status: 200, body: { ...withoutDigest(rest), ...withheld(seesValues) } }
      return { status: 200, body: { ...rest, ...valueFields('input', input), ...valueFields('result', result) } }
    },
  }),
  route({
    name: 'listAttempts',
    method: 'GET',
    path: '/v1/executions/{id}/attempts',
    tag: 'executions',
    summary: 'List the ended attempts of an execution, oldest first',
    access: 'viewer',
    scope: 'namespace',
    errors: ['execution_not_found'],
    answers: { 200: json(page(attempt), 'All attempts that are kept.') },
    handle: async ({ client, params }) => {
      const { attempts } = await client.describe(params.id, { attempts: true })
      return { status: 200, body: { items: attempts } }
    },
  }),
  route({
    name: 'explainExecution',
    method: 'GET',
    path: '/v1/executions/{id}/why',
    tag: 'executions',
    summary: 'Explain why an execution is not running, or what it does',
    access: 'viewer',
    scope: 'namespace',
    errors: ['execution_not_found'],
    answers: { 200: json(explanation, 'The explanation.') },
    handle: async ({ client, params }) => ({ status: 200, body: await client.why(params.id) }),
  }),
  route({
    name: 'cancelExecution',
    method: 'POST',
    path: '/v1/executions/{id}/cancel',
    tag: 'executions',
    summary: 'Cancel an execution',
    access: 'operator',
    scope: 'namespace',
    body: z.strictObject({
      reason,
      by,
      force: z.boolean().optional().describe('Ends a running execution now instead of asking its worker.'),
      grace: duration.optional().describe('How long its worker may take to stop.'),
    }),
    errors: ['execution_not_found', 'execution_ended'],
    answers: {
      200: json(
        z.object({ kind: z.enum(['cancelled', 'cancel_requested', 'already_cancelled']) }),
        'It was cancelled, or its worker was asked to stop.',
      ),
    },
    handle: async ({ client, params, principal, body: { reason: why, by: who, ...rest } }) => {
      const options = drop({ ...rest, by: actorOf(principal, who) })
      return { status: 200, body: { kind: await client.cancel(params.id, why, options) } }
    },
  }),
  route({
    name: 'replayExecution',
    method: 'POST',
    path: '/v1/executions/{id}/replay',
    tag: 'executions',
    summary: 'Run an ended execution again',
    access: 'operator',
    scope: 'namespace',
    body: z
      .strictObject({
        reason: reason.optional(),
        by,
        subtree: z
          .boolean()
          .optional()
          .describe('In a flow: also replays the members that were skipped because of it.'),
        from: z
          .union([z.literal('start'), z.strictObject({ step: z.string().min(1) })])
          .optional()
          .describe('Discards recorded steps: all, or the named one and those after it.'),
      })
      .optional(),
    takesIdempotencyKey: true,
    errors: [
      'execution_not_found',
      'execution_not_ended',
      'execution_is_child',
      'replays_exhausted',
      'retention_over',
      'step_not_found',
      'flow_ended',
      'flow_busy',
      'upstream_not_replayed',
      'children_stopping',
      'graph_limit_exceeded',
    ],
    answers: { 200: json(accepted, 'It runs again.') },
    handle: async ({ client, params, principal, body, idempotencyKey }) => {
      const { by: who, ...rest } = body ?? {}
      const options = drop({ ...rest, by: actorOf(principal, who) })
      const requestId = repeatable(idempotencyKey).requestId
      const { kind } = unwrap(await client.try.replay(params.id, options, requestId))
      return { status: 200, body: { kind } }
    },
  }),
  route({
    name: 'continueOrder',
    method: 'POST',
    path: '/v1/executions/{id}/continue-order',
    tag: 'executions',
    summary: 'Let the executions of an order run that wait behind a failed one',
    access: 'operator',
    scope: 'namespace',
    body: z.strictObject({ reason: reason.optional(), by }).optional(),
    errors: ['execution_not_found'],
    answers: {
      200: json(
        z.object({ kind: z.enum(['order_continued', 'order_not_held']) }),
        'They run, or it held back no other execution.',
      ),
    },
    handle: async ({ client, params, principal, body }) => {
      const { by: who, ...rest } = body ?? {}
      const kind = await client.continueOrder(params.id, drop({ ...rest, by: actorOf(principal, who) }))
      return { status: 200, body: { kind } }
    },
  }),
  route({
    name: 'changePriority',
    method: 'PUT',
    path: '/v1/executions/{id}/priority',
    tag: 'executions',
    summary: 'Change the priority of an execution',
    access: 'operator',
    scope: 'namespace',
    body: z.strictObject({ priority: z.int().min(0).max(PRIORITY_MAX), ...trail }),
    errors: ['execution_not_found', 'execution_ended'],
    answers: { 200: json(accepted, 'It has the priority.') },
    handle: async ({ client, params, body }) => {
      await client.changePriority(params.id, body.priority)
      return { status: 200, body: { kind: 'changed' } }
    },
  }),
  route({
    name: 'setTags',
    method: 'PATCH',
    path: '/v1/executions/{id}/tags',
    tag: 'executions',
    summary: 'Set and remove tags of an execution',
    access: 'operator',
    scope: 'namespace',
    body: z.strictObject({ tags: tagChanges, ...trail }),
    errors: ['execution_not_found', 'retention_over'],
    answers: { 200: json(accepted, 'The tags are set.') },
    handle: async ({ client, params, body }) => {
      await client.setTags(params.id, tagChangesOf(body.tags))
      return { status: 200, body: { kind: 'set' } }
    },
  }),
  route({
    name: 'revokeLease',
    method: 'POST',
    path: '/v1/executions/{id}/revoke-lease',
    tag: 'executions',
    summary: 'Revoke the lease of the worker that runs an execution',
    access: 'operator',
    scope: 'namespace',
    body: z.strictObject({ reason, by, leaseId: key.optional() }),
    errors: ['execution_not_found', 'no_active_lease', 'stale_lease'],
    answers: { 200: json(accepted, 'Another worker can claim it.') },
    handle: async ({ client, params, principal, body: { reason: why, by: who, leaseId } }) => {
      await client.revokeLease(params.id, why, drop({ leaseId, by: actorOf(principal, who) }))
      return { status: 200, body: { kind: 'revoked' } }
    },
  }),
  route({
    name: 'issueReadToken',
    method: 'POST',
    path: '/v1/executions/{id}/read-token',
    tag: 'executions',
    summary: 'Issue a token with which a browser follows one execution',
    description:
      'It reads the result, the events, the frames and the summary of the execution, and nothing else. Pages send it as a bearer token, or to `EventSource` as the parameter `access_token`.',
    access: 'worker',
    scope: 'namespace',
    body: z
      .strictObject({ expires: duration.optional().describe('An hour unless given, and 7 days at most.') })
      .optional(),
    errors: ['execution_not_found', 'signing_keys_missing', 'signing_keys_stale', 'invalid_keys'],
    answers: {
      200: json(z.object({ token: z.string(), expiresAt: instant }), 'The token. Nothing stores it.'),
    },
    handle: async ({ client, params, body }) => ({
      status: 200,
      body: await client.readToken(params.id, drop(body ?? {})),
    }),
  }),
]

/** An input of few possible values can be found by its digest. */
function withoutDigest<Item extends { readonly inputDigest?: string | undefined }>(
  item: Item,
): Omit<Item, 'inputDigest'> {
  const { inputDigest: _withheld, ...rest } = item
  return rest
}

/** Items of a batch share the definitions of their tasks. */
async function submit(client: Client, body: Submission, repeat: Repeatable, definitions?: Map<string, AnyTask>) {
  const { task: name, version, input, inputBytes, fairness, limits, budgets, delayUntil, ...options } = body
  const definition =
    fairness === undefined
      ? plainTask(name, version, definitions)
      : task(name, drop({ version, fairness: shareOf(fairness) }))
  // The id of a shaped submit follows from its key and the request.
  const isShaped = shapingNames.some((kind) => options[kind] !== undefined)
  const id = options.id ?? (isShaped ? undefined : repeat.key)
  if (id?.startsWith(FABRIC_PREFIX) === true) {
    throw invalidInput('id', `The id is ${show(id)}, but ids that begin with ${FABRIC_PREFIX} belong to FlowFabric.`)
  }
  const settings: Omit<SubmitOptions, 'tx'> = {
    ...drop({ ...options, id, delay: delayOf(options.delay, delayUntil) }),
    ...(limits && { limits: limitUsesOf(limits) ?? [] }),
    ...(budgets && { budgets: await client.budgets.usesByName(budgets.map((use) => drop(use))) }),
  }
  // A submit with an id of its own and a key is recognised by the key when it is repeated, whatever ifExists is.
  const requestId = options.id === undefined && !isShaped ? undefined : repeat.requestId
  const { executionId, kind, state, at } = await client.submitOnce(
    requestId,
    definition,
    valueOf('input', input, inputBytes),
    settings,
  )
  return { id: executionId, kind, state, at }
}

function plainTask(name: string, version: number | undefined, known = new Map<string, AnyTask>()): AnyTask {
  const key = `${version ?? ''} ${name}`
  const definition = known.get(key) ?? task(name, drop({ version }))
  known.set(key, definition)
  return definition
}

function delayOf(delay: SubmitOptions['delay'], until: number | undefined): SubmitOptions['delay'] {
  if (until === undefined) return delay
  if (delay === undefined) return new Date(until)
  throw invalidInput('delayUntil', 'delay and delayUntil are both given: leave one out.')
}

function parseItem(item: unknown, field: string): Submission {
  const parsed = submission.safeParse(item)
  if (parsed.success) return parsed.data
  throw refusalOf(parsed.error, field)
}
