/** The journal of one execution: its steps, signals and waitpoints. */
import { z } from 'zod'
import { EngineError } from '../../kernel/engine-error.ts'
import { LIST_PAGE_MAX, NAME_BYTES, SIGNAL_PAYLOAD_BYTES } from '../../kernel/limits.ts'
import { actorOf } from '../auth/principal.ts'
import { refuseOwnVote } from '../operations/budget-votes.ts'
import { json, route } from '../routes/route.ts'
import { by, duration, page, pageQuery, reason, trail } from '../schemas/common.ts'
import { drop } from '../schemas/drop.ts'
import { signalRecord, step } from '../schemas/execution.ts'
import { refuseUnlessSeen, valueFields, valueOf } from '../schemas/value.ts'
import { receipt, signalKey, signalName, signalValue, waitpoint } from '../schemas/waitpoint.ts'

/** A value in base64 takes a third more. */
const SIGNAL_BYTES = Math.ceil((SIGNAL_PAYLOAD_BYTES * 4) / 3) + 16_384
const STEP_LIMIT = 50

const journalQuery = z.strictObject({
  ...pageQuery,
  values: z.boolean().optional().describe('Whether to include the values, which may be confidential.'),
})

const NUMBER_CURSOR = /^n1\.(\d{1,15})$/

const SIGNAL_ERRORS = [
  'execution_not_found',
  'execution_ended',
  'waitpoint_not_found',
  'waitpoint_closed',
  'signal_limit_exceeded',
  'signal_buffer_full',
  'payload_too_large',
] as const

export const journalRoutes = [
  route({
    name: 'listSteps',
    method: 'GET',
    path: '/v1/executions/{id}/steps',
    tag: 'executions',
    summary: 'List the steps that an execution has recorded, in order',
    access: 'viewer',
    scope: 'namespace',
    query: journalQuery,
    errors: ['execution_not_found', 'invalid_cursor'],
    answers: { 200: json(page(step), 'A page of steps.') },
    handle: async ({ client, params, seesValues, query: { limit, cursor, values } }) => {
      if (values === true) refuseUnlessSeen(seesValues)
      const steps = client.steps(params.id, drop({ values, from: positionIn(cursor) }))
      const { items, next } = await pageOf(steps, limit, ({ position }) => position)
      const body = items.map(({ value, ...rest }) => ({ ...rest, ...valueFields('value', value) }))
      return { status: 200, body: { items: body, cursor: next } }
    },
  }),
  route({
    name: 'listSignals',
    method: 'GET',
    path: '/v1/executions/{id}/signals',
    tag: 'executions',
    summary: 'List the signals that an execution has received, in order',
    access: 'viewer',
    scope: 'namespace',
    query: journalQuery,
    errors: ['execution_not_found', 'invalid_cursor'],
    answers: { 200: json(page(signalRecord), 'A page of signals.') },
    handle: async ({ client, params, seesValues, query: { limit, cursor, values } }) => {
      if (values === true) refuseUnlessSeen(seesValues)
      const signals = client.signals(params.id, drop({ values, from: positionIn(cursor) }))
      const { items, next } = await pageOf(signals, limit, ({ sequence }) => sequence)
      const body = items.map(({ value, ...rest }) => ({ ...rest, ...valueFields('value', value) }))
      return { status: 200, body: { items: body, cursor: next } }
    },
  }),
  route({
    name: 'sendSignal',
    method: 'POST',
    path: '/v1/executions/{id}/signals',
    tag: 'waitpoints',
    summary: 'Send a signal to an execution: to the mailbox of its name, or to a waitpoint',
    description:
      'A signal that arrives before its wait is buffered. `Idempotency-Key` is its key unless the body has one.',
    access: 'worker',
    scope: 'namespace',
    body: z.strictObject({
      name: signalName,
      ...signalValue,
      waitpoint: z.string().min(1).max(NAME_BYTES).optional(),
      key: signalKey.optional().describe('A signal sent twice with one key counts once.'),
      by,
    }),
    bodyBytes: SIGNAL_BYTES,
    takesIdempotencyKey: true,
    errors: SIGNAL_ERRORS,
    answers: { 200: json(receipt, 'It was accepted.') },
    handle: async ({ client, params, principal, idempotencyKey, body }) => {
      const { name, value, valueBytes, key = idempotencyKey, by: who, waitpoint: target } = body
      const options = drop({ waitpoint: target, key, by: actorOf(principal, who) })
      const session = client.openSession()
      await refuseOwnVote(session.batcher, principal, session.resolve(params.id), target)
      const sent = await client.signal(params.id, name, valueOf('value', value, valueBytes), options)
      return { status: 200, body: sent }
    },
  }),
  route({
    name: 'listExecutionWaitpoints',
    method: 'GET',
    path: '/v1/executions/{id}/waitpoints',
    tag: 'waitpoints',
    summary: 'List the waitpoints of an execution, by key',
    access: 'viewer',
    scope: 'namespace',
    query: z.strictObject({
      ...pageQuery,
      all: z.boolean().optional().describe('Whether to include closed ones and mailboxes.'),
    }),
    errors: ['execution_not_found', 'invalid_cursor'],
    answers: { 200: json(page(waitpoint), 'A page of waitpoints, without tokens.') },
    handle: async ({ client, params, query }) => ({
      status: 200,
      body: await client.waitpoints(params.id, drop(query)),
    }),
  }),
  route({
    name: 'closeWaitpoint',
    method: 'POST',
    path: '/v1/executions/{id}/waitpoints/{waitpoint}/close',
    tag: 'waitpoints',
    summary: 'Close a waitpoint to further signals',
    access: 'operator',
    scope: 'namespace',
    body: z.strictObject({ reason: reason.optional(), by, force: z.boolean().optional() }).optional(),
    errors: ['execution_not_found', 'waitpoint_not_found', 'waitpoint_awaited'],
    answers: { 200: json(z.object({ kind: z.enum(['closed', 'already_closed']) }), 'It is closed.') },
    handle: async ({ client, params, principal, body }) => {
      const { by: who, ...rest } = body ?? {}
      const options = { ...drop(rest), by: actorOf(principal, who) }
      return { status: 200, body: { kind: await client.closeWaitpoint(params.id, params.waitpoint, options) } }
    },
  }),
  route({
    name: 'reissueWaitpoint',
    method: 'POST',
    path: '/v1/executions/{id}/waitpoints/{waitpoint}/reissue',
    tag: 'waitpoints',
    summary: 'Issue a new token for a waitpoint, and invalidate the earlier ones',
    access: 'operator',
    scope: 'namespace',
    body: z
      .strictObject({
        ...trail,
        for: z.string().min(1).optional().describe('The principal of the token: its signals are sent in this name.'),
        expires: duration.optional(),
        names: z.array(signalName).optional().describe('The names of signals that may be sent with it.'),
      })
      .optional(),
    errors: ['execution_not_found', 'waitpoint_not_found', 'waitpoint_closed', 'execution_ended'],
    answers: {
      200: json(z.object({ token: z.string() }), 'The token. Nothing stores it, and no route returns it again.'),
    },
    handle: async ({ client, params, principal, body }) => {
      const { by: who, reason: _, ...rest } = body ?? {}
      const options = drop({ ...rest, by: actorOf(principal, who) })
      return { status: 200, body: { token: await client.reissue(params.id, params.waitpoint, options) } }
    },
  }),
  route({
    name: 'resumeExecution',
    method: 'POST',
    path: '/v1/executions/{id}/resume',
    tag: 'executions',
    summary: 'End the wait of an execution before it is met',
    access: 'operator',
    scope: 'namespace',
    body: z
      .strictObject({
        reason: reason.optional(),
        by,
        step: z.string().min(1).optional().describe('The wait to end. The present one unless given.'),
      })
      .optional(),
    errors: ['execution_not_found', 'execution_not_suspended', 'waits_elsewhere'],
    answers: { 200: json(z.object({ kind: z.literal('resumed') }), 'The handler runs again.') },
    handle: async ({ client, params, principal, body }) => {
      const { by: who, ...rest } = body ?? {}
      await client.resume(params.id, { ...drop(rest), by: actorOf(principal, who) })
      return { status: 200, body: { kind: 'resumed' as const } }
    },
  }),
]

/** Reads one page, and where the next one starts. */
async function pageOf<Item>(
  source: AsyncGenerator<Item, void, undefined>,
  limit = STEP_LIMIT,
  positionOf: (item: Item) => number,
): Promise<{ readonly items: readonly Item[]; readonly next: string | undefined }> {
  const items: Item[] = []
  for await (const item of source) {
    if (items.length === Math.min(limit, LIST_PAGE_MAX)) return { items, next: `n1.${positionOf(item)}` }
    items.push(item)
  }
  return { items, next: undefined }
}

function positionIn(cursor: string | undefined): number | undefined {
  if (cursor === undefined) return undefined
  const match = NUMBER_CURSOR.exec(cursor)
  if (match === null) throw new EngineError('invalid_cursor', { field: 'cursor' })
  return Number(match[1])
}
