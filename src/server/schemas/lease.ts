/** What the routes of workers over HTTP take and return. */
import { z } from 'zod'
import {
  CLAIM_COUNT_MAX,
  FAILURE_MESSAGE_BYTES,
  FRAME_CHUNK_COUNT,
  FRAME_NAME_BYTES,
  LANE_BYTES,
  NAME_BYTES,
  NEED_COUNT_MAX,
  REASON_BYTES,
  STACK_BYTES,
  VERSION_MAX,
} from '../../kernel/limits.ts'
import { anyJson, base64, duration, instant, tags, taskName } from './common.ts'

export const leaseField = z.string().max(128).describe('The lease that the claim has returned.')

export const leaseTtl = duration.optional().describe('How long the lease is valid: 30 seconds unless given.')

/** A value, as JSON or as bytes in base64. */
export const resultFields = { result: anyJson.optional(), resultBytes: base64.optional() }
export const valueOrBytes = { value: anyJson.optional(), valueBytes: base64.optional() }

export const instanceName = z.string().min(1).max(NAME_BYTES)

export const drainRequest = z
  .literal(true)
  .optional()
  .describe('Set if the worker has registered, and an operator asks it to finish its work and to stop.')

export const claimBody = z
  .strictObject({
    tasks: z
      .array(
        z.strictObject({
          name: taskName,
          version: z.int().min(1).max(VERSION_MAX).optional(),
          needs: z
            .array(z.string())
            .max(NEED_COUNT_MAX)
            .optional()
            .describe('Claims executions that need exactly this, besides those that need nothing.'),
        }),
      )
      .min(1)
      .max(CLAIM_COUNT_MAX),
    lanes: z.array(z.string().min(1).max(LANE_BYTES)).min(1).max(CLAIM_COUNT_MAX).optional(),
    count: z.int().min(1).max(CLAIM_COUNT_MAX).optional().describe('At most this many; 1 unless given.'),
    takes: z
      .array(z.enum(['conditions', 'undo']))
      .max(2)
      .optional()
      .describe(
        'What the worker can do besides running a handler: evaluate `conditions` of flows, and `undo` steps. Executions that need it are left to other workers unless given.',
      ),
    leaseTtl,
    wait: duration
      .optional()
      .describe('How long to wait if nothing is ready; not at all unless given, and at most 60 s.'),
    instance: instanceName.describe('Names the process of the worker in attempts and events.'),
    worker: z.string().min(1).max(NAME_BYTES).optional().describe('Names the worker; the credentials unless given.'),
  })
  .meta({ id: 'Claim' })

export const claimed = z
  .object({
    id: z.string(),
    key: z.string().optional(),
    namespace: z.string(),
    task: z.string(),
    version: z.int().optional(),
    lane: z.string(),
    tags,
    attempt: z.int(),
    input: anyJson.optional(),
    inputBytes: base64.optional(),
    inputs: z.record(z.string(), anyJson).optional().describe('In a flow: the results of its upstreams by name.'),
    inputsBytes: z.record(z.string(), base64).optional(),
    idempotencyKey: z.string().describe('The same for all attempts: for calls of services that take such a key.'),
    stepCount: z.int().describe('How many steps it has recorded.'),
    condition: z
      .object({
        flow: z.string().describe('The name of the flow.'),
        node: z.string(),
        input: anyJson.optional().describe('The input of the flow.'),
        inputBytes: base64.optional(),
      })
      .optional()
      .describe('Set if the worker has to decide by its `inputs` whether it runs, or is skipped.'),
    unwinding: z
      .object({ outcome: z.string(), reason: z.string(), by: z.string().optional(), at: instant })
      .optional()
      .describe('Set if the handler runs to undo its steps: the outcome that it ends with, and why.'),
    compensationCount: z.int().describe('How many compensations earlier runs have registered.'),
    lease: z.string().describe('To be sent with everything that is reported about it.'),
    expiresAt: instant.describe('When the lease expires unless it is renewed.'),
    timeoutAt: instant.optional().describe('When the attempt exceeds its time limit.'),
  })
  .meta({ id: 'Claimed' })

export const renewal = z.object({
  expiresAt: instant,
  cancel: z
    .object({ reason: z.string(), by: z.string(), forceAt: instant })
    .optional()
    .describe('Set if the execution is to be cancelled: its handler should stop.'),
})

export const failureBody = z.strictObject({
  lease: leaseField,
  message: z.string().max(FAILURE_MESSAGE_BYTES),
  category: z.string().min(1).max(64).optional().describe('`error` unless given. `permanent` is not retried.'),
  stack: z.string().max(STACK_BYTES).optional(),
  retryAfter: duration.optional().describe('The least delay of the next attempt.'),
  undo: z
    .enum(['ready', 'incomplete'])
    .optional()
    .describe(
      'Of a worker that runs compensations: with `unwinding`, the lease stays for them. `incomplete` if this run has registered fewer than an earlier one.',
    ),
})

export const framesBody = z.strictObject({
  lease: leaseField,
  append: z.int().min(1).describe('Appends of one lease are numbered from 1. A repeated number changes nothing.'),
  frames: z
    .array(z.strictObject({ name: z.string().min(1).max(FRAME_NAME_BYTES), ...valueOrBytes }))
    .min(1)
    .max(FRAME_CHUNK_COUNT),
})

export const leaseReason = z.string().max(REASON_BYTES)
