/** Creates the flow of a firing, with the graph and the inputs that the schedule stores. */
import { flowInputKey, payloadKey, scheduleInputKey, scheduleNodeKey } from '../../model/blob-keys.ts'
import { flowSubject } from '../../model/events.ts'
import type { FlowId, Schedule } from '../../model/records.ts'
import type { ScheduledFlow } from '../../model/schedule-schema.ts'
import type { Tx } from '../../tx.ts'
import { putFlow } from '../flow-counts.ts'
import { newFlow } from '../flows/new-flow.ts'
import { refuseHeldNodes } from '../lanes.ts'
import { refuseQueues } from '../queues.ts'
import type { Firing, FiringResult } from './create-firing.ts'

/**
 * Creates the flow without its members, which the due pass creates as far as each call has room, as those of a follow-up. None
 * of them runs before the last one exists.
 */
export function createFlow(tx: Tx, schedule: Schedule, graph: ScheduledFlow, firing: Firing): FiringResult {
  const { executionId, memberIds = [], at, cause } = firing
  const flowId = executionId as string as FlowId
  if (tx.has('flow', flowId)) return 'exists'
  const creates = graph.nodes.map((create) => ({ create }))
  const refusal = refuseHeldNodes(tx, creates) ?? refuseQueues(tx, graph.nodes)
  if (refusal !== undefined) return refusal.code
  const { name, tags, outcomeRule, retentionMs, edges } = graph
  const nodes = graph.nodes.map((node, i) => {
    const id = memberIds[i] ?? tx.fault('a boundary of a schedule lacks the ids of its members', schedule.id)
    return { ...node, executionId: id }
  })
  const submission = { digest: schedule.digest, nodeCount: nodes.length, edgeCount: edges.length }
  const fired = { id: schedule.id, at, cause }
  const flow = newFlow(
    tx.now,
    { flowId, namespace: schedule.namespace, name, tags, outcomeRule, retentionMs, schedule: fired },
    { phase: 'held', until: undefined },
    submission,
  )
  flow.begins = { nodes, edges }
  flow.input = graph.input
  if (graph.input !== undefined) tx.copy(scheduleInputKey(schedule), flowInputKey(flow))
  for (let i = 0; i < nodes.length; i++) {
    const node = nodes[i]
    if (node?.payload !== undefined) tx.copy(scheduleNodeKey(schedule, i), payloadKey(node.executionId))
  }
  putFlow(tx, flow)
  tx.emit('flow_created', flowSubject(flow), { by: 'schedule', effect: cause, reason: schedule.name })
  return 'created'
}
