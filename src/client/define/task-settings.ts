/** How executions of a task are treated: what a program says of it, and what that comes to once it is checked. */
import { optionKeys } from '../checks/exhaustive.ts'
import { RETENTION_DEFAULT_MS } from '../../kernel/limits.ts'
import type { RetryPolicy } from '../../kernel/model/records.ts'
import { parseDuration } from './duration.ts'
import type { Duration } from './duration.ts'
import { checkKeys, checkLane, checkObject, checkPriority } from '../checks/names.ts'
import { parseRetry } from './retry.ts'
import type { RetryOptions } from './retry.ts'

export interface TimeoutOptions {
  /** How long one attempt may run; after that it counts as failed and the retry policy decides. */
  readonly attempt?: Duration
  /** How long the execution may take from submit to end, retries and waits included. */
  readonly total?: Duration
}

const TIMEOUT_KEYS = optionKeys<TimeoutOptions>()(['attempt', 'total'])

/** How executions of a task are treated unless a submit says otherwise. */
export interface TaskSettings {
  readonly lane?: string
  readonly priority?: number
  readonly retry?: RetryOptions
  readonly timeout?: TimeoutOptions
  /** How long an ended execution is kept. */
  readonly retention?: Duration
}

export const TASK_SETTING_KEYS = optionKeys<TaskSettings>()(['lane', 'priority', 'retry', 'timeout', 'retention'])

/** What the settings come to once they are checked. */
export interface TaskPolicy {
  readonly lane: string
  readonly priority: number
  readonly retry: RetryPolicy
  readonly attemptTimeoutMs: number | undefined
  readonly totalTimeoutMs: number | undefined
  readonly retentionMs: number
}

export const DEFAULT_POLICY: TaskPolicy = {
  lane: 'default',
  priority: 0,
  retry: parseRetry(undefined),
  attemptTimeoutMs: undefined,
  totalTimeoutMs: undefined,
  retentionMs: RETENTION_DEFAULT_MS,
}

/** A policy with what some settings change about it. What they leave out was checked before and costs nothing again. */
export function overridePolicy(policy: TaskPolicy, settings: TaskSettings): TaskPolicy {
  const { lane, priority, retry, timeout, retention } = settings
  if (timeout !== undefined) {
    checkObject(timeout, 'timeout', "{ attempt: '30s', total: '1h' }")
    checkKeys(timeout, TIMEOUT_KEYS, 'timeout')
  }
  return {
    lane: lane === undefined ? policy.lane : checkLane(lane),
    priority: priority === undefined ? policy.priority : checkPriority(priority),
    retry: retry === undefined ? policy.retry : parseRetry(retry),
    attemptTimeoutMs: parseTimeout(timeout?.attempt, 'timeout.attempt') ?? policy.attemptTimeoutMs,
    totalTimeoutMs: parseTimeout(timeout?.total, 'timeout.total') ?? policy.totalTimeoutMs,
    retentionMs: retention === undefined ? policy.retentionMs : parseDuration(retention, 'retention'),
  }
}

function parseTimeout(value: Duration | undefined, field: string): number | undefined {
  return value === undefined ? undefined : parseDuration(value, field, 1)
}
