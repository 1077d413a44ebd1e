/** Which events a consumer or a webhook gets. */
import { z } from 'zod'
import { eventFamilyNames } from '../../client/index.ts'
import { eventTypes } from '../../kernel/index.ts'
import { LANE_BYTES, NAME_BYTES } from '../../kernel/limits.ts'

/** What a request may ask for. */
export const filterBody = {
  types: z.array(z.enum(eventTypes)).optional().describe('Only events of these types.'),
  families: z.array(z.enum(eventFamilyNames)).optional().describe('Only events of these families, besides `types`.'),
  task: z.string().min(1).max(NAME_BYTES).optional().describe('Only events of executions of this task.'),
  lane: z.string().min(1).max(LANE_BYTES).optional().describe('Only events of executions in this lane.'),
}

export const tagBody = z
  .strictObject({ name: z.string(), value: z.string() })
  .optional()
  .describe('Only events of executions with this tag.')

/** What is stored: families as types. */
export const storedFilter = z.object({
  types: z.array(z.string()).optional(),
  namespace: z.string().optional(),
  task: z.string().optional(),
  lane: z.string().optional(),
  tag: z.object({ name: z.string(), value: z.string() }).optional(),
  storeWide: z.boolean().optional().describe('Also events that belong to no namespace.'),
})
