/** The settings of a task, and the policy that they are parsed into. */
import { shape } from '../../options/shape.ts'
import { RETENTION_DEFAULT_MS } from '../../kernel/limits.ts'
import type { Retentions, RetryPolicy } from '../../kernel/model/records.ts'
import { parseDuration } from './duration.ts'
import type { Duration } from './duration.ts'
import { checkLane, checkPriority } from '../checks/names.ts'
import { checkNeeds } from '../checks/needs.ts'
import { overrideRetention, parseRetention } from './retention.ts'
import type { RetentionOptions } from './retention.ts'
import { parseRetry } from './retry.ts'
import type { RetryOptions } from './retry.ts'

export interface TimeoutOptions {
  /** The time limit of one attempt. An attempt that exceeds it fails, and the retry policy applies. */
  readonly attempt?: Duration
  /** The time limit from submit to end, including retries and waits. */
  readonly total?: Duration
  /**
   * The running time that a handler has to undo its completed steps after a cancel, or after the total time limit. 5 minutes
   * unless given.
   */
  readonly compensation?: Duration
}

const TIMEOUT_MIN_MS = 1

const timeoutOptions = shape<TimeoutOptions>()("{ attempt: '30s', total: '1h' }", {
  attempt: (value, field) => parseDuration(value, field, TIMEOUT_MIN_MS),
  total: (value, field) => parseDuration(value, field, TIMEOUT_MIN_MS),
  compensation: (value, field) => parseDuration(value, field, TIMEOUT_MIN_MS),
})

/** Defaults for the executions of a task. A submit can override them. */
export interface TaskSettings {
  readonly lane?: string
  readonly priority?: number
  readonly retry?: RetryOptions
  readonly timeout?: TimeoutOptions
  /** How long an ended execution is kept: one time, or one for each outcome, as in `{ completed: '1h', failed: '30d' }`. */
  readonly retention?: Duration | RetentionOptions
  /**
   * What a worker must be capable of to run it, such as `['gpu', 'region:eu']`: only workers whose `capabilities` include all of
   * them claim it. Those of a submit are added to those of the task.
   */
  readonly needs?: readonly string[]
}

export const taskSettings = shape<TaskSettings>()("{ lane: 'mail' }", {
  lane: checkLane,
  priority: checkPriority,
  retry: parseRetry,
  timeout: timeoutOptions,
  retention: parseRetention,
  needs: checkNeeds,
})

type ParsedSettings = ReturnType<typeof taskSettings>

/** The checked settings. */
export interface TaskPolicy {
  readonly lane: string
  readonly priority: number
  readonly retry: RetryPolicy
  readonly attemptTimeoutMs: number | undefined
  readonly totalTimeoutMs: number | undefined
  readonly compensationTimeoutMs: number | undefined
  readonly retentionMs: number
  /** Instead of the retention, for some outcomes. */
  readonly retentions: Retentions | undefined
  /** Those of the task and of the submit, as they were given. */
  readonly needs: readonly string[]
}

export const DEFAULT_POLICY: TaskPolicy = {
  lane: 'default',
  priority: 0,
  retry: parseRetry(undefined),
  attemptTimeoutMs: undefined,
  totalTimeoutMs: undefined,
  compensationTimeoutMs: undefined,
  retentionMs: RETENTION_DEFAULT_MS,
  retentions: undefined,
  needs: [],
}

/** Returns a policy with the parsed settings applied. */
export function overridePolicy(policy: TaskPolicy, settings: ParsedSettings): TaskPolicy {
  // Most submits have no options.
  if (Object.keys(settings).length === 0) return policy
  const { lane, priority, retry, timeout, retention, needs = [] } = settings
  return {
    lane: lane ?? policy.lane,
    priority: priority ?? policy.priority,
    retry: retry ?? policy.retry,
    attemptTimeoutMs: timeout?.attempt ?? policy.attemptTimeoutMs,
    totalTimeoutMs: timeout?.total ?? policy.totalTimeoutMs,
    compensationTimeoutMs: timeout?.compensation ?? policy.compensationTimeoutMs,
    ...overrideRetention(policy, retention),
    needs: [...policy.needs, ...needs],
  }
}
