/** The types of events by the kind of thing that they concern. A type may be in several families. */
import type { EventType } from '../../kernel/index.ts'

export const eventFamilies = {
  executions: [
    'execution_created',
    'execution_replaced',
    'execution_delayed',
    'execution_promoted',
    'execution_blocked',
    'execution_unblocked',
    'execution_suspended',
    'execution_resumed',
    'execution_unwinding',
    'execution_ended',
    'execution_replayed',
    'order_continued',
    'execution_purged',
    'cancel_requested',
    'progress_updated',
    'priority_changed',
    'tags_set',
    'follow_up_set',
    'follow_up_started',
    'follow_up_dropped',
  ],
  attempts: ['attempt_started', 'attempt_failed', 'step_recorded', 'progress_updated'],
  leases: ['attempt_started', 'execution_released', 'lease_expired', 'lease_revoked'],
  signals: [
    'signal_received',
    'waitpoint_opened',
    'waitpoint_closed',
    'wait_reminded',
    'wait_escalated',
    'execution_suspended',
    'execution_resumed',
  ],
  flows: ['flow_created', 'flow_sealed', 'flow_ended', 'flow_cancelled', 'flow_reopened', 'flow_purged'],
  schedules: ['schedule_changed', 'schedule_skipped'],
  budgets: ['budget_changed', 'budget_warned', 'budget_breached'],
  lanes: ['lane_changed'],
  workers: ['worker_registered', 'worker_unregistered', 'worker_draining', 'worker_lost', 'worker_dead'],
} as const satisfies Record<string, readonly EventType[]>

export type EventFamily = keyof typeof eventFamilies

export const eventFamilyNames = Object.keys(eventFamilies) as EventFamily[]

/** Returns all types of some families. */
export function typesOf(families: readonly EventFamily[]): EventType[] {
  return [...new Set(families.flatMap((family): readonly EventType[] => eventFamilies[family]))]
}
