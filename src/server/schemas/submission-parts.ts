/** The settings of executions that submits and schedules have in common. */
import { z } from 'zod'
import type { SubmitOptions } from '../../client/index.ts'
import { limitReference } from '../../client/index.ts'
import {
  KEEP_MAX,
  ATTEMPTS_MAX,
  BUDGET_LEVEL_MAX,
  BUDGET_TREE_MAX,
  EXECUTION_LIMIT_MAX,
  FAIRNESS_WEIGHT_MAX,
  FAIRNESS_WEIGHT_MIN,
  LANE_BYTES,
  LIMIT_COUNT_MAX,
  NAME_BYTES,
  NEED_COUNT_MAX,
  PRIORITY_MAX,
  VERSION_MAX,
} from '../../kernel/limits.ts'
import { anyJson, base64, duration, key, tags, taskName } from './common.ts'
import { drop } from './drop.ts'

const backoff = z.union([
  z.enum(['fixed', 'exponential']),
  z.strictObject({ kind: z.literal('fixed'), delay: duration.optional() }),
  z.strictObject({
    kind: z.literal('exponential'),
    initial: duration.optional(),
    max: duration.optional(),
    factor: z.number().min(1).optional(),
  }),
])

const retry = z.strictObject({
  attempts: z.int().min(1).max(ATTEMPTS_MAX).describe('The number of tries, including the first.'),
  backoff: backoff.optional(),
  jitter: z.boolean().optional(),
  onlyCategories: z.array(z.string()).optional(),
})

const timeout = z.strictObject({
  attempt: duration.optional().describe('The time limit of one attempt.'),
  total: duration.optional().describe('The time limit from submit to end.'),
  compensation: duration.optional().describe('The running time that a handler has to undo its steps.'),
})

const fairness = z
  .strictObject({
    key: key.describe('Whose share of the lane it uses.'),
    weight: z.number().min(FAIRNESS_WEIGHT_MIN).max(FAIRNESS_WEIGHT_MAX).optional(),
  })
  .describe('How it takes part in the fair order of its lane. With a task in a program, its function computes this.')

const limitUse = z.strictObject({
  limit: z.string().min(1).max(NAME_BYTES).describe('The name of a limit that is defined in the store.'),
  key: key.optional().describe('Whose use is counted.'),
  weight: z.int().min(0).max(LIMIT_COUNT_MAX).optional().describe('What it weighs in the rate; 1 unless given.'),
  newest: z.literal('drop').optional().describe('Ends it as skipped instead of letting it wait for a permit.'),
  previous: z.literal('cancel').optional().describe('Cancels the execution that holds the key for longest.'),
})

export const budgetUse = z.strictObject({
  budget: z.string().min(1).max(NAME_BYTES).describe('The name of a budget that is defined in the store.'),
  key: key.optional().describe('Whose spending is counted.'),
})

const retention = z.union([
  duration,
  z.strictObject({
    completed: duration.optional(),
    failed: duration.optional(),
    cancelled: duration.optional(),
    expired: duration.optional(),
    skipped: duration.optional(),
    keep: z.int().min(1).max(KEEP_MAX).optional().describe('Ended executions of the task that are kept at most.'),
  }),
])

/** The task, its input and its settings. */
export const workFields = {
  task: taskName.describe('The name of the task.'),
  version: z.int().min(1).max(VERSION_MAX).optional().describe('The version of the task.'),
  input: anyJson.optional(),
  inputBytes: base64.optional(),
  lane: z.string().min(1).max(LANE_BYTES).optional(),
  priority: z.int().min(0).max(PRIORITY_MAX).optional(),
  retry: retry.optional(),
  timeout: timeout.optional(),
  retention: retention.optional().describe('How long it is kept after its end: one time, or one for each outcome.'),
  needs: z.array(z.string()).max(NEED_COUNT_MAX).optional().describe('What a worker must be capable of.'),
  fairness: fairness.optional(),
  limits: z.array(limitUse).max(EXECUTION_LIMIT_MAX).optional().describe('The limits that it needs permits of.'),
  budgets: z
    .array(budgetUse)
    .max(BUDGET_TREE_MAX * BUDGET_LEVEL_MAX)
    .optional()
    .describe(
      'The budgets that it spends. Those above them count it too, without a key unless they are listed with one.',
    ),
  tags: tags.optional(),
}

/** Returns the evaluated share of a fair lane as the function that a task has. */
export function shareOf(given: z.output<typeof fairness> | undefined) {
  if (given === undefined) return undefined
  const share = drop(given)
  return () => share
}

export function limitUsesOf(
  uses: readonly z.output<typeof limitUse>[] | undefined,
): SubmitOptions['limits'] | undefined {
  return uses?.map(({ limit, ...use }) => limitReference(limit).for(drop(use)))
}
