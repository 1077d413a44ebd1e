/** Waits of workers over HTTP: an execution is suspended until a time, a signal, an approval or the end of children. */
import { z } from 'zod'
import { task } from '../../client/index.ts'
import type { Client } from '../../client/index.ts'
import { INBOX_PAGE_MAX, PAYLOAD_BYTES } from '../../kernel/limits.ts'
import { boundedWait } from '../live/bounded-wait.ts'
import { json, route } from '../routes/route.ts'
import { duration, instant } from '../schemas/common.ts'
import { drop } from '../schemas/drop.ts'
import { leaseField, valueOrBytes } from '../schemas/lease.ts'
import {
  childrenBody,
  endedChild,
  joinBody,
  stepName,
  wait,
  waitAnswer,
  waitAnswerBody,
  waitableOf,
  waitpointKey,
} from '../schemas/lease-wait.ts'
import { limitUsesOf, shareOf } from '../schemas/submission-parts.ts'
import { valueFields, valueOf } from '../schemas/value.ts'
import { signalName } from '../schemas/waitpoint.ts'
import { LEASE_ERRORS, UNWINDING_ERRORS, reporting } from './lease-route.ts'

/** Payloads in base64 take a third more. */
const CHILDREN_BODY_BYTES = 2 * Math.ceil((PAYLOAD_BYTES * 4) / 3)
const TOKENS_MAX = 16

const inboxMessage = z.object({
  sequence: z.int().describe('Its number among all signals of the execution.'),
  key: z.string(),
  by: z.string(),
  at: instant,
  ...valueOrBytes,
})

const stopped = ['suspended', 'already_suspended', 'cancelled', 'already_cancelled'] as const

export const leaseWaitRoutes = [
  route({
    ...reporting,
    name: 'suspendExecution',
    path: '/v1/executions/{id}/suspend',
    summary: 'Wait in an execution: for a time, a signal, an approval or several signals',
    description:
      'A wait without an answer ends the lease: the worker stops the handler and reports nothing. When the wait ends, a claim returns the execution, its handler reaches the same wait again, and gets the answer. A wait of one name is answered once.',
    body: z.strictObject({
      lease: leaseField,
      name: stepName.optional().describe('The name of the wait. That of its signal or waitpoint unless given.'),
      wait,
    }),
    errors: [
      ...LEASE_ERRORS,
      ...UNWINDING_ERRORS,
      'step_limit_exceeded',
      'step_bytes_exceeded',
      'waitpoint_not_found',
      'waitpoint_closed',
      'waitpoint_limit_exceeded',
    ],
    answers: {
      200: json(
        z.object({
          kind: z.enum(['answered', ...stopped]),
          until: instant.optional().describe('When the wait times out.'),
          answer: waitAnswer.optional().describe('Set if it was answered, except for a sleep.'),
        }),
        'What the handler does next.',
      ),
    },
    handle: async ({ client, params, body: { lease, name, wait: given } }) => {
      const { waits } = client.leases
      if ('sleep' in given) {
        const slept = await waits.sleep(params.id, lease, name ?? 'sleep', given.sleep)
        return { status: 200, body: slept.kind === 'answered' ? { kind: slept.kind } : slept }
      }
      const waited = await waits.waitFor(params.id, lease, name, waitableOf(given))
      if (waited.kind !== 'answered') return { status: 200, body: waited }
      return { status: 200, body: { kind: waited.kind, answer: waitAnswerBody(waited.answer) } }
    },
  }),
  route({
    ...reporting,
    name: 'openWaitpoint',
    path: '/v1/executions/{id}/waitpoints',
    summary: 'Open a waitpoint in an execution, before it waits for it',
    description: 'Signals to it are buffered until the wait. Tokens that are asked for can be put into links.',
    body: z.strictObject({
      lease: leaseField,
      key: waitpointKey,
      expires: duration.optional(),
      tokens: z
        .array(
          z.strictObject({
            for: z.string().min(1).optional().describe('The principal: its signals are sent in this name.'),
            expires: duration.optional(),
            names: z.array(signalName).optional().describe('The names of signals that may be sent with it.'),
          }),
        )
        .max(TOKENS_MAX)
        .optional(),
    }),
    errors: [
      ...LEASE_ERRORS,
      'waitpoint_closed',
      'waitpoint_limit_exceeded',
      'step_limit_exceeded',
      'signing_keys_missing',
      'signing_keys_stale',
      'invalid_keys',
    ],
    answers: {
      200: json(
        z.object({
          key: z.string(),
          isOpen: z.boolean(),
          expiresAt: instant.optional(),
          tokens: z.array(z.string()).describe('In the order of the request. Nothing stores them.'),
        }),
        'It is open, or was opened before.',
      ),
    },
    handle: async ({ client, params, body: { lease, key, tokens = [], expires } }) => ({
      status: 200,
      body: await client.leases.waits.openWaitpoint(params.id, lease, key, {
        ...drop({ expires }),
        tokens: tokens.map((each) => drop(each)),
      }),
    }),
  }),
  route({
    ...reporting,
    name: 'readInbox',
    path: '/v1/executions/{id}/inbox',
    summary: 'Take signals of one name while the handler runs, and wait for them if asked to',
    description:
      'A signal that was taken is given to no later attempt and counted by no wait. One that was returned and not taken is returned again, also to the next attempt.',
    body: z.strictObject({
      lease: leaseField,
      name: signalName,
      takenTo: z.int().min(0).optional().describe('Takes the signals up to this `sequence`. None unless given.'),
      limit: z
        .int()
        .min(0)
        .max(INBOX_PAGE_MAX)
        .optional()
        .describe(`Signals to return. ${INBOX_PAGE_MAX} unless given.`),
      wait: duration.optional().describe('How long to wait for a signal, 60 seconds at most. Not at all unless given.'),
    }),
    errors: [...LEASE_ERRORS, 'level_too_low'],
    answers: { 200: json(z.object({ items: z.array(inboxMessage) }), 'The signals that follow, oldest first.') },
    handle: async ({ client, params, body: { lease, name, wait: given = 0, ...rest }, signal, server }) => {
      const options = { ...drop(rest), waitMs: boundedWait(given, server.limits.waitMs), signal }
      const messages = await client.leases.inbox.read(params.id, lease, name, options)
      const items = messages.map(({ value, ...message }) => ({ ...message, ...valueFields('value', value) }))
      return { status: 200, body: { items } }
    },
  }),
  route({
    ...reporting,
    name: 'startChildren',
    path: '/v1/executions/{id}/children',
    summary: 'Start children of an execution',
    description: 'Each is a step of its parent: a child that was started before is not started again.',
    body: childrenBody,
    bodyBytes: CHILDREN_BODY_BYTES,
    errors: [
      ...LEASE_ERRORS,
      ...UNWINDING_ERRORS,
      'step_limit_exceeded',
      'step_bytes_exceeded',
      'execution_exists',
      'child_limit_exceeded',
      'child_depth_exceeded',
      'too_many_needs',
      'payload_too_large',
      'budget_not_found',
      'level_too_low',
    ],
    answers: {
      200: json(
        z.object({
          kind: z.enum(['started', ...stopped]),
          children: z.array(z.object({ name: z.string(), id: z.string(), isNew: z.boolean() })).optional(),
        }),
        'They are stored.',
      ),
    },
    handle: async ({ client, params, body: { lease, children } }) => {
      const inputs = await Promise.all(children.map((child) => childOf(client, child)))
      return { status: 200, body: await client.leases.children.start(params.id, lease, inputs) }
    },
  }),
  route({
    ...reporting,
    name: 'joinChildren',
    path: '/v1/executions/{id}/children/wait',
    summary: 'Wait for children of an execution',
    description:
      'As for any wait: without a verdict the execution is suspended, and the handler reaches the wait again. The verdict of a name never changes.',
    body: joinBody,
    errors: [...LEASE_ERRORS, ...UNWINDING_ERRORS, 'step_limit_exceeded', 'step_bytes_exceeded', 'step_not_found'],
    answers: {
      200: json(
        z.object({
          kind: z.enum(['decided', ...stopped]),
          verdict: z.string().optional().describe('`satisfied`, or `impossible` if too many have not completed.'),
          winners: z.array(z.string()).optional().describe('Those that have completed a quorum, in order.'),
          children: z.array(endedChild).optional().describe('All children of the wait, in its order.'),
        }),
        'The verdict, or that the execution is suspended.',
      ),
    },
    handle: async ({ client, params, body: { lease, policy = 'all', ...join } }) => {
      const joined = await client.leases.children.join(params.id, lease, { ...drop(join), policy })
      if (joined.kind !== 'decided') return { status: 200, body: joined }
      const children = joined.children.map(({ result, ...child }) => ({ ...child, ...valueFields('result', result) }))
      return { status: 200, body: { ...joined, children } }
    },
  }),
]

async function childOf(client: Client, given: z.output<typeof childrenBody>['children'][number]) {
  const { name, task: taskName, version, input, inputBytes, fairness, limits, budgets, detached, ...options } = given
  return {
    name,
    task: task(taskName, drop({ version, fairness: shareOf(fairness) })),
    input: valueOf('input', input, inputBytes),
    options: {
      ...drop(options),
      limits: limitUsesOf(limits) ?? [],
      budgets: budgets === undefined ? [] : await client.budgets.usesByName(budgets.map((use) => drop(use))),
    },
    isDetached: detached,
  }
}
