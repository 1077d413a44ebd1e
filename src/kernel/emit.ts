/** Tells of one execution's transition, with what a reader needs to filter without a look-up. */
import type { EventDetail, EventType } from './events.ts'
import type { Execution } from './records.ts'
import type { Tx } from './tx.ts'

export function emitFor(tx: Tx, execution: Execution, type: EventType, detail: EventDetail): void {
  const tags: string[] = []
  for (const tag of execution.tags) {
    tags.push(tag.name)
    tags.push(tag.value)
  }
  tx.emit({
    type,
    at: tx.now,
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
  })
}
