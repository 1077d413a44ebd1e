/** How much work came and ended in the last time, and how long it waited and ran. */
import { z } from 'zod'
import { ACTIVITY_BUCKETS_MAX, ACTIVITY_EXAMINE_MAX, parseDuration } from '../../client/index.ts'
import { invalidInput } from '../../options/invalid-input.ts'
import { json, route } from '../routes/route.ts'
import { duration, instant } from '../schemas/common.ts'
import { drop } from '../schemas/drop.ts'

const WINDOW_MAX_MS = 7 * 86_400_000

const latencies = z
  .object({ p50: z.number(), p95: z.number(), p99: z.number() })
  .meta({ id: 'Latencies' })
  .describe('Percentiles in milliseconds.')

const activity = z
  .object({
    from: instant,
    to: instant,
    buckets: z
      .array(
        z.object({
          from: instant,
          created: z.int(),
          completed: z.int().describe('Ended in this part of the window.'),
          failed: z.int(),
          other: z.int().describe('Ended in another way, such as cancelled or expired.'),
        }),
      )
      .describe('The window in parts of equal length.'),
    start: latencies
      .optional()
      .describe('From the creation, or the end of a delay, to the start of the first attempt.'),
    run: latencies.optional().describe('From the start of the first attempt to the end.'),
    examined: z.int(),
    completeSince: instant.describe('All executions that were created since then are counted.'),
  })
  .meta({ id: 'Activity' })

export const activityRoutes = [
  route({
    name: 'getActivity',
    method: 'GET',
    path: '/v1/activity',
    tag: 'executions',
    summary: 'Count the executions of the last time, and measure how long they waited and ran',
    description: 'Examines the newest executions of the window, at most as many as asked for.',
    access: 'viewer',
    scope: 'namespace',
    query: z.strictObject({
      window: duration.optional().describe('How far back it reaches: an hour unless given, 7 days at most.'),
      buckets: z.int().min(1).max(ACTIVITY_BUCKETS_MAX).optional().describe('Parts of the window; 60 unless given.'),
      examine: z
        .int()
        .min(1)
        .max(ACTIVITY_EXAMINE_MAX)
        .optional()
        .describe('At most so many executions are examined; 2,000 unless given.'),
    }),
    answers: { 200: json(activity, 'The counts and the latencies.') },
    handle: async ({ client, server, query: { window = '1h', ...rest } }) => {
      const windowMs = parseDuration(window, 'window')
      if (windowMs > WINDOW_MAX_MS) throw invalidInput('window', 'window is longer than 7 days.')
      const to = server.runtime.now()
      return { status: 200, body: await client.activity({ ...drop(rest), from: to - windowMs, to }) }
    },
  }),
]
