/** Which events change what a view shows. */
import type { Event as StoredEvent } from './types.ts'

export function isOfExecution(event: StoredEvent): boolean {
  return /^(execution|attempt|lease|cancel|priority|tags|signal|wait|follow|progress|step)/.test(event.type)
}

/** Changes of the counts of lanes, and of what holds them. */
export function isOfLane(event: StoredEvent): boolean {
  return event.type === 'lane_changed' || /^(execution|attempt|lease)_/.test(event.type)
}

export function isOfWorker(event: StoredEvent): boolean {
  return event.type.startsWith('worker_') || event.type === 'attempt_started' || event.type === 'execution_ended'
}

export function isOfWaitpoint(event: StoredEvent): boolean {
  return /^(waitpoint|signal|execution_(suspended|resumed|ended))/.test(event.type)
}

/** `flowId` names the flow that is shown; without it, every flow counts. */
export function isOfFlow(event: StoredEvent, flowId?: string): boolean {
  if (flowId === undefined) return event.flowId !== undefined || event.type.startsWith('flow_')
  return event.flowId === flowId || event.executionId === flowId
}

export function isOfSchedule(event: StoredEvent): boolean {
  return event.type.startsWith('schedule_') || event.type === 'execution_created'
}

export function isOfBudget(event: StoredEvent): boolean {
  return event.type.startsWith('budget_')
}
