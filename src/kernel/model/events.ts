/** The event log: every transition of an execution, a flow or a worker appends one event to the log of its partition. */
import { executionId, outcome } from './base-records.ts'
import { maybe, number, object, rare, text, textList, whole, word } from './field-kinds.ts'
import type { Infer } from './field-kinds.ts'
import { parseLaneSettingsId } from './lane-names.ts'
import type { Execution, ExecutionId, Flow, Instant, Lane, Worker } from './records.ts'
import { DEFAULT_NAMESPACE } from './task-class.ts'

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
  'execution_unwinding',
  'follow_up_set',
  'follow_up_started',
  'follow_up_dropped',
  'worker_registered',
  'worker_unregistered',
  'worker_draining',
  'worker_lost',
  'worker_dead',
  'lane_changed',
  'schedule_changed',
  'schedule_skipped',
  'budget_changed',
  'budget_warned',
  'budget_breached',
  'order_continued',
] as const

export type EventType = (typeof eventTypes)[number]

const event = object({
  type: word(eventTypes),
  at: whole,
  /** The execution; for an event of a flow, the flow; of a worker, the worker instance; of a lane, a schedule or a budget, its name. */
  executionId,
  namespace: text,
  task: text,
  lane: text,
  /** Names and values alternating, so that a reader can filter without a look-up. */
  tags: textList,
  attempt: rare(whole),
  epoch: rare(whole),
  workerId: rare(text),
  workerInstanceId: rare(text),
  outcome: maybe(outcome),
  until: rare(whole),
  reason: rare(text),
  by: rare(text),
  category: rare(text),
  percent: rare(number),
  priority: rare(whole),
  /** The flow that the execution belongs to, or that the event is about. */
  flowId: rare(text),
  /** The name of a step or wait. */
  step: rare(text),
  waitpoint: rare(text),
  /** The name of a signal, and its effect. */
  signal: rare(text),
  effect: rare(text),
})

type EventValues = Readonly<Infer<typeof event>>
type EventHead = Pick<EventValues, 'type' | 'at' | 'executionId' | 'namespace' | 'task' | 'lane' | 'tags'>

/** The fields of an event in their stored order. */
export const eventFields = event.fields

/** The fields that depend on the type of the event. */
export type EventDetail = Partial<Omit<EventValues, keyof EventHead | 'flowId'>>

export interface FabricEvent extends EventHead, EventDetail, Partial<Pick<EventValues, 'flowId'>> {}

/** The subject of an event: an execution, or a flow in the same form. */
export interface EventSubject {
  readonly id: ExecutionId
  readonly namespace: string
  readonly task: string
  readonly lane: string
  readonly tags: Execution['tags']
  readonly member: { readonly flowId: string } | undefined
}

/** Returns a flow as the subject of an event, with its own id in the place of an execution's. */
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

/** Returns a worker as the subject of an event, with its instance id in the place of an execution's. */
export function workerSubject({ id, namespace }: Worker): EventSubject {
  return { id: id as ExecutionId, namespace, task: '', lane: '', tags: [], member: undefined }
}

/** Returns a lane as the subject of an event, with its name in the place of an execution's id. The limit of a namespace is its own. */
export function laneSubject({ id }: Lane): EventSubject {
  const { namespace, lane } = parseLaneSettingsId(id)
  const owner = namespace === DEFAULT_NAMESPACE ? '' : namespace
  return { id: lane as ExecutionId, namespace: owner, task: '', lane, tags: [], member: undefined }
}

/** Builds the event of a transition, with the fields that a reader needs to filter without a look-up. */
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

/** Whether an event marks the end of its subject, an execution or a flow. */
export function isEndEvent(type: EventType): boolean {
  return type === 'execution_ended' || type === 'flow_ended' || type === 'flow_cancelled'
}

/** Whether the lease holder must be notified of an event at once, because it changes what the holder may do. */
export function concernsHolder(type: EventType, detail: EventDetail): boolean {
  if (type === 'execution_ended') return detail.outcome !== 'completed' && detail.outcome !== 'failed'
  return type === 'cancel_requested' || type === 'lease_revoked' || type === 'execution_unwinding'
}
