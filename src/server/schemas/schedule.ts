/** What the routes of schedules take and return. */
import { z } from 'zod'
import { publicStates } from '../../kernel/index.ts'
import { by, duration, instant, tags } from './common.ts'
import { workFields } from './submission-parts.ts'

const overlap = z.enum(['skip', 'queue', 'cancel_previous', 'allow'])
const missed = z.enum(['skip', 'last', 'all'])

/** A schedule has the settings of a submit except those that belong to one execution. */
const { limits: _limits, budgets: _budgets, ...work } = workFields

export const scheduleBody = z
  .strictObject({
    ...work,
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
    by,
  })
  .meta({ id: 'ScheduleSettings' })

export const scheduleSummary = z
  .object({
    name: z.string(),
    namespace: z.string(),
    owner: z.string().optional().describe('Who declared it in code.'),
    state: z.enum(['active', 'paused', 'completed']),
    pause: z.object({ at: instant, by: z.string(), reason: z.string().optional() }).optional(),
    task: z.string(),
    lane: z.string(),
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
      .object({ at: instant, firedAt: instant, executionId: z.string() })
      .optional()
      .describe('The latest execution that it has created.'),
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
          executionId: z.string(),
          at: instant,
          state: z.enum(publicStates as readonly [(typeof publicStates)[number], ...(typeof publicStates)[number][]]),
          outcome: z.string().optional(),
        }),
      )
      .describe('The latest executions, oldest first.'),
    text: z.string().describe('When it fires next, or why it does not.'),
  })
  .meta({ id: 'Schedule' })
