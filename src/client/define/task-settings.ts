/** The settings of a task, and the policy that they are parsed into. */
import { optionKeys } from '../checks/exhaustive.ts'
import { RETENTION_DEFAULT_MS } from '../../kernel/limits.ts'
import type { RetryPolicy } from '../../kernel/model/records.ts'
import { parseDuration } from './duration.ts'
import type { Duration } from './duration.ts'
import { checkKeys, checkLane, checkObject, checkPriority } from '../checks/names.ts'
import { parseRetry } from './retry.ts'
import type { RetryOptions } from './retry.ts'

export interface TimeoutOptions {
  /** The time limit of one attempt. An attempt that exceeds it fails, and the retry policy applies. */
  readonly attempt?: Duration
  /** The time limit from submit to end, including retries and waits. */
  readonly total?: Duration
}

const TIMEOUT_KEYS = optionKeys<TimeoutOptions>()(['attempt', 'total'])

/** Defaults for the executions of a task. A submit can override them. */
export interface TaskSettings {
  readonly lane?: string
  readonly priority?: number
  readonly retry?: RetryOptions
  readonly timeout?: TimeoutOptions
  /** How long an ended execution is kept. */
  readonly retention?: Duration
}

export const TASK_SETTING_KEYS = optionKeys<TaskSettings>()(['lane', 'priority', 'retry', 'timeout', 'retention'])

/** The checked settings. */
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

/** Returns a policy with the given settings applied. Settings left out were checked before and are not checked again. */
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
