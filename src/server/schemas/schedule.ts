/** What the routes of schedules take and return. */
import { z } from 'zod'
import { publicFlowStates, publicStates } from '../../kernel/index.ts'
import { by, duration, instant, reason, tags, trail } from './common.ts'
import { scheduledGraph } from './flow-graph.ts'
import { workFields } from './submission-parts.ts'

const overlap = z.enum(['skip', 'queue', 'cancel_previous', 'allow'])
const missed = z.enum(['skip', 'last', 'all'])

const { task, ...work } = workFields

/** When a schedule fires, as it is sent in a body. */
const times = {
  cron: z.string().max(256).optional().describe('A cron expression of five fields, or six with seconds first.'),
  every: duration.optional().describe('A period instead, of a second at least, counted from `from`.'),
  timeZone: z
    .string()
    .max(256)
    .optional()
    .describe('The IANA name of the zone of the cron expression; UTC unless given.'),
  jitter: duration.optional().describe('Delays each firing by up to this much, by the same for one boundary.'),
  from: instant.optional().describe('The first instant at which it may fire.'),
  until: instant.optional().describe('It never fires at this instant or after.'),
  overlap: overlap.optional().describe('What happens at a boundary while an earlier execution has not ended.'),
  missed: missed.optional().describe('What happens to boundaries that passed while no engine ran.'),
}

export const scheduleTimes = z.strictObject({ ...times, reason: reason.optional(), by }).meta({ id: 'ScheduleTimes' })

const { overlap: _overlap, missed: _missed, ...previewed } = times
export const previewQuery = z.strictObject(previewed)

export const scheduleBody = z
  .strictObject({
    task: task.optional(),
    flow: scheduledGraph
      .optional()
      .describe(
        'The graph of a flow that it starts instead of a task. Of the settings of a task, it takes `tags`, `retention` and `budgets`.',
      ),
    ...work,
    ...times,
    ...trail,
  })
  .meta({ id: 'ScheduleSettings' })

export const scheduleSummary = z
  .object({
    name: z.string(),
    namespace: z.string(),
    owner: z.string().optional().describe('Who declared it in code.'),
    state: z.enum(['active', 'paused', 'completed']),
    pause: z.object({ at: instant, by: z.string(), reason: z.string().optional() }).optional(),
    starts: z.enum(['task', 'flow']).describe('Whether it starts a task or a flow.'),
    task: z.string().describe('The name of the task or of the flow.'),
    lane: z.string().optional().describe('That of its task. Each node of a flow has its own.'),
    tags,
    cron: z.string().optional(),
    timeZone: z.string().optional(),
    everyMs: z.number().optional(),
    jitterMs: z.number(),
    from: instant.optional(),
    until: instant.optional(),
    overlap,
    missed,
    nextAt: instant.optional().describe('When it fires next. Absent while it is paused, and after its end.'),
    waitingCount: z.int().describe('Boundaries that wait for the end of an earlier execution.'),
    firedCount: z.int(),
    fired: z
      .object({ at: instant, firedAt: instant, executionId: z.string().optional(), flowId: z.string().optional() })
      .optional()
      .describe('The latest execution or flow that it has created.'),
    skipped: z
      .object({ at: instant, skippedAt: instant, reason: z.string() })
      .optional()
      .describe('The latest boundary that did not fire, and why.'),
    createdAt: instant,
    changedAt: instant,
  })
  .meta({ id: 'ScheduleSummary' })

export const scheduleDescription = scheduleSummary
  .extend({
    next: z.array(z.object({ at: instant, fireAt: instant })).describe('Firings to come, with their jitter.'),
    latest: z
      .array(
        z.object({
          executionId: z.string().optional(),
          flowId: z.string().optional(),
          at: instant,
          state: z.enum([...publicStates, ...publicFlowStates]),
          outcome: z.string().optional(),
        }),
      )
      .describe('The latest executions or flows, oldest first.'),
    text: z.string().describe('When it fires next, or why it does not.'),
  })
  .meta({ id: 'Schedule' })
