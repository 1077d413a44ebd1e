/** What the routes of flows take and return. */
import { z } from 'zod'
import { publicFlowStates } from '../../kernel/index.ts'
import { anyJson, base64, instant, tags, scheduleOrigin } from './common.ts'
import { valuesWithheld } from './value.ts'
import { executionSummary } from './execution.ts'

export const flowState = z.enum(
  publicFlowStates as readonly [(typeof publicFlowStates)[number], ...(typeof publicFlowStates)[number][]],
)
export const flowCancelPolicy = z.enum(['cancel_all', 'cancel_pending', 'flow_only'])
const outcome = z.enum(['completed', 'failed', 'cancelled'])

const counts = z.object({
  waiting: z.int(),
  delayed: z.int(),
  rate_limited: z.int(),
  waiting_dependencies: z.int(),
  active: z.int(),
  suspended: z.int(),
  completed: z.int(),
  failed: z.int(),
  cancelled: z.int(),
  expired: z.int(),
  skipped: z.int(),
  superseded: z.int(),
})

export const flowSummary = z
  .object({
    id: z.string(),
    key: z.string().optional(),
    namespace: z.string(),
    name: z.string(),
    state: flowState,
    phase: z.string(),
    tags,
    outcomeRule: z.string(),
    memberCount: z.int(),
    edgeCount: z.int(),
    revision: z.int(),
    counts,
    liveCount: z.int(),
    isSettled: z.boolean(),
    createdAt: instant,
    changedAt: instant,
    endedAt: instant.optional(),
    outcome: outcome.optional(),
    cancel: z
      .object({ policy: flowCancelPolicy, reason: z.string(), by: z.string(), isUnderWay: z.boolean() })
      .optional(),
    submission: z.object({ nodeCount: z.int(), edgeCount: z.int() }).optional(),
    purgeAt: instant.optional(),
    idTakenUntil: instant.optional(),
    removedAt: instant.optional(),
    followUp: z.object({ name: z.string(), nodeCount: z.int(), since: instant }).optional(),
    schedule: scheduleOrigin.optional(),
  })
  .meta({ id: 'FlowSummary' })

export const flowDescription = flowSummary.extend({ at: instant }).meta({ id: 'Flow' })

export const flowMember = executionSummary
  .extend({
    upstreams: z.array(z.object({ id: z.string(), node: z.string().optional(), isOpen: z.boolean() })),
  })
  .meta({ id: 'FlowMember' })

export const flowResult = z
  .object({
    id: z.string(),
    state: flowState,
    outcome,
    results: z.record(z.string(), anyJson).optional().describe('By the names of the nodes.'),
    resultBytes: z.record(z.string(), base64).optional(),
    reason: z.string().optional(),
    ...valuesWithheld,
  })
  .meta({ id: 'FlowResult' })
