/** What the routes of executions take and return. */
import { z } from 'zod'
import { eventTypes, publicStates } from '../../kernel/index.ts'
import { anyJson, base64, duration, instant, key, tags, scheduleOrigin } from './common.ts'
import { valuesWithheld } from './value.ts'
import { workFields } from './submission-parts.ts'

const onFailure = z.enum(['continue', 'block']).optional()

/** At most one, without an id. */
const shaping = {
  debounce: z
    .strictObject({ key, wait: duration, max: duration.optional() })
    .optional()
    .describe('The last input of its key wins, and starts after silence.'),
  throttle: z
    .strictObject({ key, every: duration })
    .optional()
    .describe('The first submit of its key starts, and later ones of the period join it.'),
  singleton: z
    .strictObject({ key, ifTaken: z.enum(['join', 'reject', 'replace']).optional() })
    .optional()
    .describe('At most one execution of its key runs.'),
  order: z
    .strictObject({ key, onFailure })
    .optional()
    .describe('The executions of its key run one after the other; with `block`, a failure holds back the rest.'),
}

export const submission = z
  .strictObject({
    ...workFields,
    id: key.optional().describe('Your own id. Submitting twice with one id starts one execution.'),
    ifExists: z.enum(['join', 'reject', 'replace', 'after']).optional(),
    dedupe: duration.optional().describe('How long after its end the id stays taken.'),
    delay: duration.optional(),
    delayUntil: instant.optional().describe('When it may run at the earliest, instead of a delay.'),
    ...shaping,
  })
  .meta({ id: 'Submission' })

export type Submission = z.output<typeof submission>

const state = z.enum(publicStates as readonly [(typeof publicStates)[number], ...(typeof publicStates)[number][]])

export const submitted = z
  .object({
    id: z.string(),
    kind: z.enum(['created', 'replaced', 'joined', 'follow_up', 'follow_up_replaced']),
    state,
    at: instant,
  })
  .meta({ id: 'Submitted' })

const outcome = z.enum(['completed', 'failed', 'cancelled', 'expired', 'skipped'])

const failure = z
  .object({ category: z.string(), message: z.string(), stack: z.string().optional(), at: instant })
  .meta({ id: 'Failure' })

const lease = z.object({
  id: z.string(),
  workerId: z.string(),
  workerInstanceId: z.string(),
  acquiredAt: instant,
  expiresAt: instant,
})

const suspension = z.object({ step: z.string(), reason: z.string(), since: instant, until: instant.optional() })

const journal = z.object({
  stepCount: z.int(),
  stepBytes: z.int(),
  signalCount: z.int(),
  bufferedCount: z.int(),
  openWaitpointCount: z.int(),
  compensationCount: z.int(),
})

const dependencies = z.object({
  policy: z.enum(['all_of', 'any_of', 'quorum', 'ended']),
  need: z.int(),
  losers: z.string(),
  total: z.int(),
  completed: z.int(),
  failed: z.int(),
  skipped: z.int(),
  verdict: z.string(),
  decidedAt: instant.optional(),
  tolerated: z.int().optional(),
  excused: z.int().optional(),
})

export const executionSummary = z
  .object({
    id: z.string(),
    key: z.string().optional().describe('The id that its submit gave it.'),
    namespace: z.string(),
    task: z.string(),
    version: z.int().optional(),
    lane: z.string(),
    needs: z.array(z.string()),
    state,
    shaping: z
      .object({ kind: z.enum(['debounce', 'throttle', 'singleton', 'order']), key: z.string(), holdsBack: z.boolean() })
      .optional()
      .describe('The key by which its submit was shaped.'),
    priority: z.int(),
    tags,
    attempt: z.int(),
    attemptsAllowed: z.int(),
    failureCount: z.int(),
    reclaimCount: z.int(),
    replayCount: z.int(),
    createdAt: instant,
    changedAt: instant,
    startedAt: instant.optional(),
    endedAt: instant.optional(),
    delayedUntil: instant.optional(),
    deadlineAt: instant.optional(),
    purgeAt: instant.optional(),
    idTakenUntil: instant.optional(),
    removed: z.object({ at: instant, hadResult: z.boolean() }).optional(),
    followUp: z.object({ task: z.string(), since: instant }).optional(),
    schedule: scheduleOrigin.optional(),
    inputDigest: z.string().optional(),
    outcome: outcome.optional(),
    reason: z.string().optional(),
    by: z.string().optional(),
    progress: z.object({ percent: z.number().optional(), message: z.string().optional(), at: instant }).optional(),
    failure: failure.optional(),
    undoFailure: failure.optional(),
    refusals: z.object({ count: z.int(), builds: z.array(z.string()), reason: z.string(), at: instant }).optional(),
    lease: lease.optional(),
    suspension: suspension.optional(),
    journal,
    cancelRequested: z
      .object({ reason: z.string(), by: z.string(), forceAt: instant, at: instant.optional() })
      .optional(),
    flowId: z.string().optional(),
    node: z.string().optional(),
    parent: z.object({ id: z.string(), name: z.string(), isDetached: z.boolean() }).optional(),
    dependencies: dependencies.optional(),
    isSuperseded: z.boolean(),
    isExcused: z.boolean(),
  })
  .meta({ id: 'ExecutionSummary' })

export const attempt = z
  .object({
    number: z.int(),
    kind: z.enum(['initial', 'retry', 'reclaim', 'replay']),
    startedAt: instant,
    endedAt: instant,
    epoch: z.int(),
    workerId: z.string(),
    workerInstanceId: z.string(),
    outcome: z.string(),
    failure: failure.optional(),
  })
  .meta({ id: 'Attempt' })

export const executionDescription = executionSummary
  .extend({
    attempts: z.array(attempt).describe('Ended attempts, oldest first.'),
    input: anyJson.optional(),
    inputBytes: base64.optional(),
    result: anyJson.optional(),
    resultBytes: base64.optional(),
    ...valuesWithheld,
    at: instant.describe('The clock of the store when it was read.'),
  })
  .meta({ id: 'Execution' })

export const executionResult = z
  .object({
    id: z.string(),
    state,
    outcome,
    result: anyJson.optional(),
    resultBytes: base64.optional(),
    failure: failure.optional(),
    reason: z.string().optional(),
    ...valuesWithheld,
  })
  .meta({ id: 'ExecutionResult' })

export const unended = z.object({ id: z.string(), state: z.string() }).meta({ id: 'Unended' })

const joinSummary = z.object({
  policy: z.string(),
  need: z.int(),
  total: z.int(),
  completed: z.int(),
  failed: z.int(),
  verdict: z.string(),
})

const waitSummary = z.object({
  reason: z.string(),
  until: instant.optional(),
  onTimeout: z.string(),
  places: z.array(z.string()),
  counts: z.array(z.object({ name: z.string().optional(), need: z.int(), has: z.int() })),
  signals: z.array(z.int()),
  reminderCount: z.int(),
  isEscalated: z.boolean(),
  asks: z
    .record(z.string(), z.int())
    .optional()
    .describe('Of the question of a budget: what an approval adds to it, unless it names other amounts.'),
})

export const step = z
  .object({
    name: z.string(),
    kind: z.string(),
    position: z.int(),
    state: z.string(),
    createdAt: instant,
    changedAt: instant,
    attemptCount: z.int(),
    size: z.int(),
    isFinal: z.boolean(),
    value: anyJson.optional(),
    valueBytes: base64.optional(),
    failure: failure.optional(),
    retryAt: instant.optional(),
    how: z.string().optional(),
    by: z.string().optional(),
    reason: z.string().optional(),
    wait: waitSummary.optional(),
    child: z.object({ id: z.string(), outcome: outcome.optional(), isDetached: z.boolean() }).optional(),
    join: joinSummary.optional(),
  })
  .meta({ id: 'Step' })

export const signalRecord = z
  .object({
    sequence: z.int(),
    name: z.string(),
    waitpoint: z.string().optional(),
    by: z.object({ type: z.string(), identity: z.string() }),
    at: instant,
    effect: z.string(),
    key: z.string(),
    size: z.int(),
    value: anyJson.optional(),
    valueBytes: base64.optional(),
  })
  .meta({ id: 'Signal' })

export const explanation = z
  .object({
    text: z.string().describe('The explanation for a person.'),
    explanation: z.looseObject({ why: z.string() }).describe('The same as data. `why` is the kind of reason.'),
  })
  .meta({ id: 'Explanation' })

export const storedEvent = z
  .object({
    type: z.enum(eventTypes),
    at: instant,
    sequence: z.int(),
    executionId: z.string().describe('The execution, or what else the event is about: a flow, a worker or a lane.'),
    namespace: z.string(),
    task: z.string(),
    lane: z.string(),
    tags,
    attempt: z.int().optional(),
    epoch: z.int().optional(),
    workerId: z.string().optional(),
    workerInstanceId: z.string().optional(),
    outcome: outcome.optional(),
    until: instant.optional(),
    reason: z.string().optional(),
    by: z.string().optional(),
    category: z.string().optional(),
    percent: z.number().optional(),
    priority: z.int().optional(),
    flowId: z.string().optional(),
    step: z.string().optional(),
    waitpoint: z.string().optional(),
    signal: z.string().optional(),
    effect: z.string().optional(),
  })
  .meta({ id: 'Event' })

export const stateQuery = state
