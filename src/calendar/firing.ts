/** What follows from a schedule and a boundary: the ids of what it starts, and the jitter. The same in every process. */
import { SEPARATOR } from '../kernel/index.ts'
import type { ExecutionId, FiredId, FlowId, Instant, PlannedFiring, Schedule } from '../kernel/index.ts'
import { derivedUuid } from '../runtime/index.ts'

const FIRING_WORD = 'firing'

/** Distinguishes executions from others with the same partition: no key contains the separator. */
function seed(scheduleId: string, at: Instant): string {
  return [scheduleId, FIRING_WORD, String(at)].join(SEPARATOR)
}

type Fires = Pick<Schedule, 'id' | 'timing'> & Pick<Partial<Schedule>, 'flow'>

/** Returns the firing of a boundary. Its execution or flow is in the partition of the schedule. */
export function firingAt(schedule: Fires, at: Instant, partition: number): PlannedFiring {
  const { uuid, number } = derivedUuid(seed(schedule.id, at))
  const fireAt = at + (number % (schedule.timing.jitterMs + 1))
  return { at, fireAt, ...firedIds(schedule, uuid, partition) }
}

/** Returns the ids of what a schedule starts, from a UUID. */
export function firedIds(
  { flow }: Pick<Fires, 'flow'>,
  uuid: string,
  partition: number,
): Pick<PlannedFiring, 'executionId' | 'memberIds'> {
  if (flow === undefined) return { executionId: `${partition}-${uuid}` as FiredId, memberIds: undefined }
  const flowId = `f${partition}-${uuid}` as FlowId
  return { executionId: flowId, memberIds: flow.nodes.map(({ name }) => memberIdIn(partition, flowId, name)) }
}

/** Derives the id of a member from its flow and the stored name of its node. A flow and its members share a partition. */
export function memberIdIn(partition: number, flowId: FlowId, node: string): ExecutionId {
  return `${partition}-${derivedUuid(flowId + SEPARATOR + node).uuid}` as ExecutionId
}
