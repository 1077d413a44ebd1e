/** The event log: every transition of an execution or of a flow leaves one event, in order, in its partition. */
import type { Execution, ExecutionId, Flow, Instant, Outcome } from './records.ts'

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
  'execution_blocked',
  'execution_unblocked',
  'flow_created',
  'flow_sealed',
  'flow_ended',
  'flow_cancelled',
  'flow_reopened',
  'flow_purged',
  'step_recorded',
  'execution_suspended',
  'execution_resumed',
  'wait_reminded',
  'wait_escalated',
  'waitpoint_opened',
  'waitpoint_closed',
  'signal_received',
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
  /** The name of a step or wait. */
  readonly step?: string | undefined
  readonly waitpoint?: string | undefined
  /** The name of a signal, and what it did. */
  readonly signal?: string | undefined
  readonly effect?: string | undefined
}

/** What an event tells of: an execution, or a flow in an execution's clothes. */
export interface EventSubject {
  readonly id: ExecutionId
  readonly namespace: string
  readonly task: string
  readonly lane: string
  readonly tags: Execution['tags']
  readonly member: { readonly flowId: string } | undefined
}

/** A flow as the log knows it: its events bear its id where those of an execution bear the execution's. */
export function flowSubject(flow: Flow): EventSubject {
  const id: string = flow.id
  return {
    id: id as ExecutionId,
    namespace: flow.namespace,
    task: flow.name,
    lane: '',
    tags: flow.tags,
    member: { flowId: flow.id },
  }
}

export interface FabricEvent extends EventDetail {
  readonly type: EventType
  readonly at: Instant
  /** The execution; for an event of a flow, the flow. */
  readonly executionId: ExecutionId
  readonly namespace: string
  readonly task: string
  readonly lane: string
  /** Names and values alternating, so that a reader can filter without a look-up. */
  readonly tags: string[]
  /** The flow that the execution belongs to, or that the event is of. */
  readonly flowId?: string | undefined
}

/** The event of a transition, with what a reader needs to filter without a look-up. */
export function eventOf(type: EventType, subject: EventSubject, detail: EventDetail, at: Instant): FabricEvent {
  const tags: string[] = []
  for (const tag of subject.tags) {
    tags.push(tag.name)
    tags.push(tag.value)
  }
  return {
    type,
    at,
    executionId: subject.id,
    namespace: subject.namespace,
    task: subject.task,
    lane: subject.lane,
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
    flowId: subject.member?.flowId,
    step: detail.step,
    waitpoint: detail.waitpoint,
    signal: detail.signal,
    effect: detail.effect,
  }
}

/** Whether an event says that its subject, an execution or a flow, has ended. */
export function tellsEnd(type: EventType): boolean {
  return type === 'execution_ended' || type === 'flow_ended' || type === 'flow_cancelled'
}

/** Whether the holder of the execution should hear of an event at once, because it changes what the holder may do. */
export function concernsHolder(type: EventType, detail: EventDetail): boolean {
  if (type === 'execution_ended') return detail.outcome !== 'completed' && detail.outcome !== 'failed'
  return type === 'cancel_requested' || type === 'lease_revoked'
}
