/** The event log: every transition of an execution leaves one event, in order, in its partition. */
import type { Execution, ExecutionId, Instant, Outcome } from './records.ts'

export const eventTypes = [
  'execution_created',
  'execution_replaced',
  'attempt_started',
  'attempt_failed',
  'lease_expired',
  'lease_revoked',
  'execution_released',
  'execution_delayed',
  'execution_promoted',
  'cancel_requested',
  'execution_ended',
  'execution_replayed',
  'execution_purged',
  'progress_updated',
  'priority_changed',
  'tags_set',
] as const

export type EventType = (typeof eventTypes)[number]

/** What differs from one type of event to the next. */
export interface EventDetail {
  readonly attempt?: number | undefined
  readonly epoch?: number | undefined
  readonly workerId?: string | undefined
  readonly workerInstanceId?: string | undefined
  readonly outcome?: Outcome | undefined
  readonly until?: Instant | undefined
  readonly reason?: string | undefined
  readonly by?: string | undefined
  readonly category?: string | undefined
  readonly percent?: number | undefined
  readonly priority?: number | undefined
}

export interface FabricEvent extends EventDetail {
  readonly type: EventType
  readonly at: Instant
  readonly executionId: ExecutionId
  readonly namespace: string
  readonly task: string
  readonly lane: string
  /** Names and values alternating, so that a reader can filter without a look-up. */
  readonly tags: string[]
}

/** The event of a transition, with what a reader needs to filter without a look-up. */
export function eventOf(type: EventType, execution: Execution, detail: EventDetail, at: Instant): FabricEvent {
  const tags: string[] = []
  for (const tag of execution.tags) {
    tags.push(tag.name)
    tags.push(tag.value)
  }
  return {
    type,
    at,
    executionId: execution.id,
    namespace: execution.namespace,
    task: execution.task,
    lane: execution.lane,
    tags,
    attempt: detail.attempt,
    epoch: detail.epoch,
    workerId: detail.workerId,
    workerInstanceId: detail.workerInstanceId,
    outcome: detail.outcome,
    until: detail.until,
    reason: detail.reason,
    by: detail.by,
    category: detail.category,
    percent: detail.percent,
    priority: detail.priority,
  }
}

/** Whether the holder of the execution should hear of an event at once, because it changes what the holder may do. */
export function concernsHolder(type: EventType, detail: EventDetail): boolean {
  if (type === 'execution_ended') return detail.outcome === 'cancelled' || detail.outcome === 'expired'
  return type === 'cancel_requested' || type === 'lease_revoked'
}
