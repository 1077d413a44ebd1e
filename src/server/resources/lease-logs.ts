/** Log lines of workers over HTTP. */
import { z } from 'zod'
import { logLevels } from '../../client/index.ts'
import { FRAME_APPEND_BYTES, FRAME_CHUNK_COUNT, LOG_LINE_BYTES, STEP_NAME_BYTES } from '../../kernel/limits.ts'
import { json, route } from '../routes/route.ts'
import { leaseField } from '../schemas/lease.ts'
import { LEASE_ERRORS, reporting } from './lease-route.ts'

const LINES_BODY_BYTES = 2 * FRAME_APPEND_BYTES
const LINE_AGE_MAX_MS = 3_600_000

const line = z.strictObject({
  level: z.enum(logLevels),
  message: z.string().max(LOG_LINE_BYTES).describe('A line that is too long is cut.'),
  step: z
    .string()
    .max(4 * STEP_NAME_BYTES)
    .optional()
    .describe('The step that was running.'),
  fields: z.record(z.string(), z.unknown()).optional(),
  ageMs: z.int().min(0).max(LINE_AGE_MAX_MS).optional().describe('How long ago it was written; 0 unless given.'),
})

export const leaseLogRoutes = [
  route({
    ...reporting,
    name: 'appendLogLines',
    path: '/v1/executions/{id}/logs',
    summary: 'Keep log lines of a handler with its execution',
    description:
      'Oldest first. Accepted from the latest claim, also after its lease has ended, so the last lines of an attempt can follow its report.',
    body: z.strictObject({
      lease: leaseField,
      append: z.int().min(1).describe('Appends of one lease are numbered from 1. A repeated number changes nothing.'),
      lines: z.array(line).min(1).max(FRAME_CHUNK_COUNT),
    }),
    bodyBytes: LINES_BODY_BYTES,
    errors: [...LEASE_ERRORS, 'level_too_low'],
    answers: { 200: json(z.object({ kind: z.enum(['appended', 'already_appended']) }), 'They are stored.') },
    handle: async ({ client, params, body: { lease, append, lines } }) => ({
      status: 200,
      body: { kind: await client.leases.logs.append(params.id, lease, append, lines) },
    }),
  }),
]
