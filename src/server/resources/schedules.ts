/** Schedules: created and changed, read, paused, fired by hand and deleted. Each belongs to a namespace. */
import { z } from 'zod'
import { PAYLOAD_BYTES } from '../../kernel/limits.ts'
import { actorOf } from '../auth/principal.ts'
import { json, route } from '../routes/route.ts'
import { by, instant, page, pageQuery, reason, trail, trailOnly } from '../schemas/common.ts'
import { drop } from '../schemas/drop.ts'
import { previewQuery, scheduleBody, scheduleDescription, scheduleSummary, scheduleTimes } from '../schemas/schedule.ts'
import { scheduleOptions } from './schedule-options.ts'

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
    description:
      'It starts a task, or a flow whose graph is given. It needs a cron expression or a period. What it takes the place of is not merged with it.',
    access: 'operator',
    scope: 'namespace',
    body: scheduleBody,
    bodyBytes: SCHEDULE_BYTES,
    errors: ['payload_too_large', 'schedule_owned', 'graph_limit_exceeded', 'unreachable_quorum', 'budget_not_found'],
    answers: {
      200: json(
        z.object({ kind: z.enum(['created', 'changed', 'unchanged']), schedule: scheduleSummary }),
        'What was done.',
      ),
    },
    handle: async ({ client, params, principal, body }) => {
      const { by: who, reason: _, ...settings } = body
      const options = await scheduleOptions(client, settings)
      return {
        status: 200,
        body: await client.configureSchedule(params.schedule, options, actorOf(principal, who)),
      }
    },
  }),
  route({
    name: 'retimeSchedule',
    method: 'POST',
    path: '/v1/schedules/{schedule}/retime',
    tag: 'schedules',
    summary: 'Change when a schedule fires',
    description:
      'What it starts stays as it is, with its input and its settings. A time that is not given has its default. A schedule that a program declares gets its declared times again when the program starts.',
    access: 'operator',
    scope: 'namespace',
    body: scheduleTimes,
    errors: ['schedule_not_found', 'level_too_low'],
    answers: { 200: json(scheduleSummary, 'The schedule, with the new times.') },
    handle: async ({ client, params, principal, body: { by: who, reason: why, ...times } }) => {
      const options = drop({ reason: why, by: actorOf(principal, who) })
      return { status: 200, body: await client.schedule(params.schedule).retime(drop(times), options) }
    },
  }),
  route({
    name: 'previewTimes',
    method: 'GET',
    path: '/v1/schedule-times',
    tag: 'schedules',
    summary: 'List the next boundaries of times, without a schedule that has them',
    description: 'Refuses what creating such a schedule would refuse.',
    access: 'viewer',
    scope: 'caller',
    query: previewQuery.extend({
      next: z.int().min(0).max(NEXT_MAX).optional().describe('How many boundaries; 5 unless given.'),
    }),
    answers: { 200: json(z.object({ items: z.array(instant) }), 'The boundaries, without jitter.') },
    handle: ({ client, query: { next, ...times } }) => ({
      status: 200,
      body: { items: client.previewTimes(drop(times), drop({ next })) },
    }),
  }),
  route({
    name: 'deleteSchedule',
    method: 'DELETE',
    path: '/v1/schedules/{schedule}',
    tag: 'schedules',
    summary: 'Delete a schedule. Executions and flows that were created run on',
    access: 'operator',
    scope: 'namespace',
    body: trailOnly,
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
    summary: 'Start the task or the flow of a schedule now',
    description: 'Also while it is paused, and while an earlier execution runs.',
    access: 'operator',
    scope: 'namespace',
    body: trailOnly,
    takesIdempotencyKey: true,
    errors: ['schedule_not_found', ...submitErrors],
    answers: { 201: json(z.object({ id: z.string() }), 'The execution or the flow is stored.') },
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
    summary: 'Create the executions or flows of past boundaries that have not fired',
    access: 'operator',
    scope: 'namespace',
    body: z.strictObject({
      from: instant.describe('The first boundary may be at this instant.'),
      to: instant.describe('Boundaries are before this instant, which has passed.'),
      ...trail,
    }),
    errors: ['schedule_not_found', ...submitErrors],
    answers: {
      200: json(
        z.object({
          boundaryCount: z.int().describe('The boundaries of the interval.'),
          created: z.array(z.string()).describe('The executions or flows of those that had not fired.'),
        }),
        'They are stored.',
      ),
    },
    handle: async ({ client, params, body: { from, to } }) => ({
      status: 200,
      body: await client.schedule(params.schedule).backfill({ from, to }),
    }),
  }),
]
