/** Schedules: created and changed, read, paused, fired by hand and deleted. Each belongs to a namespace. */
import { z } from 'zod'
import { task } from '../../client/index.ts'
import { PAYLOAD_BYTES } from '../../kernel/limits.ts'
import { actorOf } from '../auth/principal.ts'
import { json, route } from '../routes/route.ts'
import { by, instant, page, pageQuery, reason } from '../schemas/common.ts'
import { drop } from '../schemas/drop.ts'
import { scheduleBody, scheduleDescription, scheduleSummary } from '../schemas/schedule.ts'
import { shareOf } from '../schemas/submission-parts.ts'
import { valueOf } from '../schemas/value.ts'

/** A payload in base64 takes a third more. */
const SCHEDULE_BYTES = Math.ceil((PAYLOAD_BYTES * 4) / 3) + 65_536
const NEXT_MAX = 100

const holdBody = z.strictObject({ reason: reason.optional(), by }).optional()
const submitErrors = ['lane_draining', 'lane_disabled', 'too_many_needs'] as const

export const scheduleRoutes = [
  route({
    name: 'listSchedules',
    method: 'GET',
    path: '/v1/schedules',
    tag: 'schedules',
    summary: 'List schedules by name',
    access: 'viewer',
    scope: 'namespace',
    query: z.strictObject({
      ...pageQuery,
      owner: z.string().min(1).optional().describe('Only those that this owner has declared in code.'),
    }),
    errors: ['invalid_cursor', 'level_too_low'],
    answers: { 200: json(page(scheduleSummary), 'A page of schedules.') },
    handle: async ({ client, query }) => ({ status: 200, body: await client.schedules(drop(query)) }),
  }),
  route({
    name: 'describeSchedule',
    method: 'GET',
    path: '/v1/schedules/{schedule}',
    tag: 'schedules',
    summary: 'Describe a schedule, with its latest executions and the firings to come',
    access: 'viewer',
    scope: 'namespace',
    query: z.strictObject({
      next: z.int().min(0).max(NEXT_MAX).optional().describe('How many firings to come; 5 unless given.'),
    }),
    errors: ['schedule_not_found', 'level_too_low'],
    answers: { 200: json(scheduleDescription, 'The schedule.') },
    handle: async ({ client, params, query }) => ({
      status: 200,
      body: await client.schedule(params.schedule).describe(drop(query)),
    }),
  }),
  route({
    name: 'configureSchedule',
    method: 'PUT',
    path: '/v1/schedules/{schedule}',
    tag: 'schedules',
    summary: 'Create a schedule, or change it',
    description: 'It needs a cron expression or a period. What it takes the place of is not merged with it.',
    access: 'operator',
    scope: 'namespace',
    body: scheduleBody,
    bodyBytes: SCHEDULE_BYTES,
    errors: ['payload_too_large', 'schedule_owned'],
    answers: {
      200: json(
        z.object({ kind: z.enum(['created', 'changed', 'unchanged']), schedule: scheduleSummary }),
        'What was done.',
      ),
    },
    handle: async ({ client, params, principal, body }) => {
      const { task: name, version, input, inputBytes, fairness, by: who, ...times } = body
      const definition = task(name, drop({ version, fairness: shareOf(fairness) }))
      const options = { ...drop(times), task: definition, input: valueOf('input', input, inputBytes) }
      return {
        status: 200,
        body: await client.configureSchedule(params.schedule, options, actorOf(principal, who)),
      }
    },
  }),
  route({
    name: 'deleteSchedule',
    method: 'DELETE',
    path: '/v1/schedules/{schedule}',
    tag: 'schedules',
    summary: 'Delete a schedule. Executions that were created run on',
    access: 'operator',
    scope: 'namespace',
    body: z.strictObject({ by }).optional(),
    errors: ['schedule_not_found', 'schedule_owned'],
    answers: { 200: json(z.object({ kind: z.literal('deleted') }), 'It is deleted.') },
    handle: async ({ client, params, principal, body }) => {
      await client.schedule(params.schedule).delete({ by: actorOf(principal, body?.by) })
      return { status: 200, body: { kind: 'deleted' as const } }
    },
  }),
  route({
    name: 'pauseSchedule',
    method: 'POST',
    path: '/v1/schedules/{schedule}/pause',
    tag: 'schedules',
    summary: 'Stop a schedule from firing',
    access: 'operator',
    scope: 'namespace',
    body: holdBody,
    errors: ['schedule_not_found'],
    answers: { 200: json(scheduleSummary, 'The schedule, paused.') },
    handle: async ({ client, params, principal, body }) => {
      const options = drop({ reason: body?.reason, by: actorOf(principal, body?.by) })
      return { status: 200, body: await client.schedule(params.schedule).pause(options) }
    },
  }),
  route({
    name: 'resumeSchedule',
    method: 'POST',
    path: '/v1/schedules/{schedule}/resume',
    tag: 'schedules',
    summary: 'End the pause of a schedule: it fires again at the next boundary',
    access: 'operator',
    scope: 'namespace',
    body: holdBody,
    errors: ['schedule_not_found'],
    answers: { 200: json(scheduleSummary, 'The schedule, active.') },
    handle: async ({ client, params, principal, body }) => {
      const options = drop({ reason: body?.reason, by: actorOf(principal, body?.by) })
      return { status: 200, body: await client.schedule(params.schedule).resume(options) }
    },
  }),
  route({
    name: 'triggerSchedule',
    method: 'POST',
    path: '/v1/schedules/{schedule}/trigger',
    tag: 'schedules',
    summary: 'Start the task of a schedule now',
    description: 'Also while it is paused, and while an earlier execution runs.',
    access: 'operator',
    scope: 'namespace',
    takesIdempotencyKey: true,
    errors: ['schedule_not_found', ...submitErrors],
    answers: { 201: json(z.object({ id: z.string() }), 'The execution is stored.') },
    handle: async ({ client, params, idempotencyKey }) => {
      const { id } = await client.schedule(params.schedule).triggerOnce(idempotencyKey)
      return { status: 201, body: { id } }
    },
  }),
  route({
    name: 'backfillSchedule',
    method: 'POST',
    path: '/v1/schedules/{schedule}/backfill',
    tag: 'schedules',
    summary: 'Create the executions of past boundaries that have not fired',
    access: 'operator',
    scope: 'namespace',
    body: z.strictObject({
      from: instant.describe('The first boundary may be at this instant.'),
      to: instant.describe('Boundaries are before this instant, which has passed.'),
    }),
    errors: ['schedule_not_found', ...submitErrors],
    answers: {
      200: json(
        z.object({
          boundaryCount: z.int().describe('The boundaries of the interval.'),
          created: z.array(z.string()).describe('The executions of those that had not fired.'),
        }),
        'They are stored.',
      ),
    },
    handle: async ({ client, params, body }) => ({
      status: 200,
      body: await client.schedule(params.schedule).backfill(body),
    }),
  }),
]
