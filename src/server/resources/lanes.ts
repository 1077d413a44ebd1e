/** Lanes: their counts, and what operators set for them. They belong to the store, not to a namespace. */
import { z } from 'zod'
import type { HoldLaneOptions, LaneHandle, LaneStatus } from '../../client/index.ts'
import { publicStates } from '../../kernel/index.ts'
import { LANE_WEIGHT_MAX, LANE_WEIGHT_MIN, LIMIT_COUNT_MAX, NAME_BYTES } from '../../kernel/limits.ts'
import { actorOf } from '../auth/principal.ts'
import { json, route } from '../routes/route.ts'
import type { RouteCall } from '../routes/route.ts'
import { by, duration, instant, page, reason, trail } from '../schemas/common.ts'
import { drop } from '../schemas/drop.ts'

const laneState = z.enum(['active', 'paused', 'draining', 'disabled'])

const hold = z
  .object({
    state: z.enum(['paused', 'draining', 'disabled']),
    by: z.string(),
    at: instant,
    reason: z.string().optional(),
  })
  .meta({ id: 'LaneHold' })
const heldTasks = z.array(z.object({ task: z.string(), hold }))

const laneLimit = z
  .object({
    rate: z.object({ count: z.int(), windowMs: z.int() }).optional(),
    concurrency: z.int().optional(),
  })
  .describe('What limits its executions of a namespace together.')
  .meta({ id: 'LaneLimit' })

const laneStatus = z
  .object({
    lane: z.string(),
    state: laneState,
    hold: hold.optional(),
    tasks: heldTasks.describe('Tasks that are held while the lane is not.'),
    weight: z.number().optional(),
    limit: laneLimit.optional(),
  })
  .meta({ id: 'LaneStatus' })

const laneSummary = z
  .object({
    lane: z.string(),
    tasks: z.array(z.string()),
    counts: z.partialRecord(z.enum(publicStates), z.int()).describe('Executions by state.'),
    waitingSince: instant.optional(),
    state: laneState,
    hold: hold.optional(),
    heldTasks,
    weight: z.number().optional(),
    limit: laneLimit.optional(),
    otherLimits: z
      .array(laneLimit.extend({ namespace: z.string() }))
      .describe('The limits of other namespaces than `default`.'),
    rates: z.object({ inPerMinute: z.number(), outPerMinute: z.number() }).optional(),
  })
  .meta({ id: 'Lane' })

const limitNamespace = z
  .string()
  .optional()
  .describe('The namespace whose executions are limited; `default` unless given.')
const count = z.int().min(1).max(LIMIT_COUNT_MAX).optional()
const limitBody = z.strictObject({
  perSecond: count,
  perMinute: count,
  perHour: count,
  perDay: count,
  rate: z.strictObject({ count: z.int().min(1).max(LIMIT_COUNT_MAX), per: duration }).optional(),
  concurrency: count,
  namespace: limitNamespace,
  reason: reason.optional(),
  by,
})

const holdBody = z.strictObject({
  task: z.string().min(1).max(NAME_BYTES).optional().describe('Only this task of the lane.'),
  reason: reason.optional(),
  by,
})

type HoldBody = z.output<typeof holdBody>

const ERRORS = ['too_many_held_tasks', 'level_too_low'] as const

async function change(
  { client, params, principal, body }: RouteCall<'/v1/lanes/{lane}', unknown, HoldBody | undefined>,
  act: (lane: LaneHandle, options: HoldLaneOptions) => Promise<LaneStatus>,
): Promise<{ readonly status: 200; readonly body: LaneStatus }> {
  const { by: who, ...rest } = body ?? {}
  return { status: 200, body: await act(client.lane(params.lane), drop({ ...rest, by: actorOf(principal, who) })) }
}

const holding = {
  tag: 'lanes',
  access: 'operator',
  scope: 'store',
  body: holdBody.optional(),
  errors: ERRORS,
  answers: { 200: json(laneStatus, 'What is set for the lane now.') },
} as const

export const laneRoutes = [
  route({
    name: 'listLanes',
    method: 'GET',
    path: '/v1/lanes',
    tag: 'lanes',
    summary: 'List the lanes, with the number of their executions by state',
    access: 'viewer',
    scope: 'store',
    query: z.strictObject({
      lane: z.string().min(1).optional(),
      rates: z.boolean().optional().describe('Whether to count how many executions came and ended in the last minute.'),
    }),
    answers: { 200: json(page(laneSummary), 'All lanes.') },
    handle: async ({ client, query: { lane, rates } }) => ({
      status: 200,
      body: { items: await client.lanes(lane, drop({ rates })) },
    }),
  }),
  route({
    ...holding,
    name: 'pauseLane',
    method: 'POST',
    path: '/v1/lanes/{lane}/pause',
    summary: 'Stop claims of a lane, or of one task in it',
    handle: (call) => change(call, (lane, options) => lane.pause(options)),
  }),
  route({
    ...holding,
    name: 'drainLane',
    method: 'POST',
    path: '/v1/lanes/{lane}/drain',
    summary: 'Refuse submits to a lane, or of one task in it',
    handle: (call) => change(call, (lane, options) => lane.drain(options)),
  }),
  route({
    ...holding,
    name: 'disableLane',
    method: 'POST',
    path: '/v1/lanes/{lane}/disable',
    summary: 'Refuse submits to a lane and stop its claims, or those of one task in it',
    handle: (call) => change(call, (lane, options) => lane.disable(options)),
  }),
  route({
    ...holding,
    name: 'resumeLane',
    method: 'POST',
    path: '/v1/lanes/{lane}/resume',
    summary: 'End a pause, a drain or a disablement',
    handle: (call) => change(call, (lane, options) => lane.resume(options)),
  }),
  route({
    name: 'setLaneWeight',
    method: 'PUT',
    path: '/v1/lanes/{lane}/weight',
    tag: 'lanes',
    summary: 'Set the share of a lane among those that a worker serves',
    access: 'operator',
    scope: 'store',
    body: z.strictObject({ weight: z.number().min(LANE_WEIGHT_MIN).max(LANE_WEIGHT_MAX), ...trail }),
    errors: ERRORS,
    answers: { 200: json(laneStatus, 'What is set for the lane now.') },
    handle: async ({ client, params, principal, body }) => ({
      status: 200,
      body: await client.lane(params.lane).configure({ weight: body.weight, by: actorOf(principal, body.by) }),
    }),
  }),
  route({
    name: 'limitLane',
    method: 'PUT',
    path: '/v1/lanes/{lane}/limit',
    tag: 'lanes',
    summary: 'Limit the executions of a namespace in a lane together, by a rate, a concurrency or both',
    access: 'operator',
    scope: 'store',
    body: limitBody,
    errors: ERRORS,
    answers: { 200: json(laneStatus, 'What is set for the lane now.') },
    handle: async ({ client, params, principal, body: { reason: why, by: who, namespace, ...terms } }) => {
      const change = drop({ reason: why, by: actorOf(principal, who), namespace })
      return { status: 200, body: await client.lane(params.lane).limit(drop(terms), change) }
    },
  }),
  route({
    name: 'unlimitLane',
    method: 'DELETE',
    path: '/v1/lanes/{lane}/limit',
    tag: 'lanes',
    summary: 'Remove the limit of a namespace in a lane',
    access: 'operator',
    scope: 'store',
    query: z.strictObject({ namespace: limitNamespace }),
    body: holdBody.optional(),
    errors: ERRORS,
    answers: { 200: json(laneStatus, 'What is set for the lane now.') },
    handle: async ({ client, params, principal, query: { namespace }, body }) => {
      const change = drop({ reason: body?.reason, by: actorOf(principal, body?.by), namespace })
      return { status: 200, body: await client.lane(params.lane).unlimit(change) }
    },
  }),
]
