/** What the routes of bulk changes take and return. */
import { z } from 'zod'
import { publicStates } from '../../kernel/index.ts'
import { KEY_BYTES, LANE_BYTES, NAME_BYTES, PRIORITY_MAX } from '../../kernel/limits.ts'
import { instant, reason, tags, trail } from './common.ts'
import { executionSummary } from './execution.ts'

/** Alternatives, or tags, of one filter. */
const WANTED_MAX = 16

const name = z.string().min(1).max(NAME_BYTES)
const state = z.enum(publicStates)

const filter = z
  .strictObject({
    lane: z.string().min(1).max(LANE_BYTES).optional(),
    task: z.array(name).min(1).max(WANTED_MAX).optional().describe('Of one of these tasks.'),
    state: z.array(state).min(1).max(WANTED_MAX).optional().describe('In one of these states.'),
    tags: tags.optional().describe('With all of these tags.'),
    schedule: name.optional(),
    flow: z.string().min(1).max(KEY_BYTES).optional().describe('Members of the flow with this id or key.'),
    keyPrefix: z.string().min(1).max(KEY_BYTES).optional(),
    error: name.optional().describe('With a last failure of this category.'),
    message: z
      .string()
      .min(1)
      .max(1_024)
      .optional()
      .describe('With a failure of this message, with `#` for each number and id.'),
    createdFrom: instant.optional(),
    createdTo: instant.optional(),
    endedFrom: instant.optional(),
    endedTo: instant.optional(),
  })
  .describe('Which executions; at least one attribute.')

export type BulkFilterBody = z.output<typeof filter>

export const previewBody = z.strictObject({ filter })

export const bulkPreview = z
  .object({
    count: z.int().describe('How many would be changed now.'),
    isMore: z.boolean().describe('Whether there are more than were counted.'),
    examples: z.array(executionSummary).describe('The newest ones.'),
  })
  .meta({ id: 'BulkPreview' })

export const bulkBody = z
  .strictObject({
    filter,
    action: z.discriminatedUnion('kind', [
      z.strictObject({ kind: z.literal('cancel'), reason }),
      z.strictObject({ kind: z.literal('replay') }),
      z.strictObject({ kind: z.literal('delete') }),
      z.strictObject({ kind: z.literal('priority'), priority: z.int().min(0).max(PRIORITY_MAX) }),
      z.strictObject({ kind: z.literal('tags'), tags }),
    ]),
    perSecond: z
      .int()
      .min(1)
      .max(10_000)
      .optional()
      .describe('Executions that are changed in a second at most; 100 unless given.'),
    ...trail,
  })
  .meta({ id: 'BulkChange' })

export const bulkState = z
  .object({
    id: z.string(),
    state,
    createdAt: instant,
    endedAt: instant.optional(),
    progress: z.string().optional(),
    failure: z.string().optional(),
    outcome: z
      .object({
        examined: z.int(),
        changed: z.int(),
        refused: z
          .record(z.string(), z.int())
          .describe('Executions that the change did not fit, by the code of the refusal.'),
        isCut: z.boolean().describe('Whether it stopped at its bound.'),
      })
      .optional()
      .describe('Once it has completed.'),
  })
  .meta({ id: 'BulkState' })
