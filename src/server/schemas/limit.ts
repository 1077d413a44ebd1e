/** What the routes of limits take and return. */
import { z } from 'zod'
import { LIMIT_COUNT_MAX } from '../../kernel/limits.ts'
import { by, duration, instant, reason } from './common.ts'

const count = z.int().min(1).max(LIMIT_COUNT_MAX)

/** Without a key, the use that has none. */
export const limitKey = z.string().max(512)

/** Of the key. */
export const keyNamespace = z.string().optional().describe('The namespace of the key; `default` unless given.')

export const limitBody = z.strictObject({
  perSecond: count.optional(),
  perMinute: count.optional(),
  perHour: count.optional(),
  perDay: count.optional(),
  rate: z
    .strictObject({ count, per: duration })
    .optional()
    .describe('A rate over any other interval. A limit has one rate at most.'),
  concurrency: count.optional().describe('How many executions of one key may run at once.'),
  reason: reason.optional(),
  by,
})

export const limitInfo = z
  .object({
    name: z.string(),
    rate: z
      .object({ count: z.int(), windowMs: z.int() })
      .optional()
      .describe('The weight that may start in any interval of this length, for each key.'),
    concurrency: z.int().optional(),
    version: z.int().describe('Rises with every change.'),
    createdAt: instant,
    changedAt: instant,
    changedBy: z.string().optional(),
    reason: z.string().optional(),
  })
  .meta({ id: 'Limit' })

const keyUsage = z
  .object({
    namespace: z.string(),
    key: z.string(),
    held: z.int().describe('Permits that are held.'),
    holders: z.int().describe('Worker processes that hold them.'),
    used: z.int().describe('The weight in the window of the rate.'),
    hold: z
      .object({ until: instant, by: z.string().optional(), reason: z.string().optional() })
      .optional()
      .describe('Set while the key is held back for all workers.'),
    waitingPartitions: z.int().describe('Execution partitions with work that waits for the key.'),
    next: z
      .object({ afterMs: z.number(), permits: z.int() })
      .optional()
      .describe('When the next permits are free. Absent if only a release makes room.'),
  })
  .meta({ id: 'LimitKey' })

export const limitDescription = limitInfo
  .extend({
    keys: z.array(keyUsage).describe('The keys that are in use, the busiest first.'),
    holders: z
      .array(z.object({ workerInstanceId: z.string(), count: z.int(), expiresAt: instant }))
      .describe('With a key: the worker processes that hold its permits.'),
    cursor: z.string().optional().describe('Where the next page of keys starts.'),
    at: instant.describe('The clock of the store when it was read.'),
  })
  .meta({ id: 'LimitDescription' })
