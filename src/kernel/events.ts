/** The event log: every transition of an execution leaves one event, in order, in its partition. */
import type { ExecutionId, Instant, Outcome } from './records.ts'

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

/** Whether the holder of the execution should hear of an event at once, because it changes what the holder may do. */
export function concernsHolder(event: FabricEvent): boolean {
  if (event.type === 'execution_ended') return event.outcome === 'cancelled' || event.outcome === 'expired'
  return event.type === 'cancel_requested' || event.type === 'lease_revoked'
}
