/**
 * Queues that one claim covers. Most tasks share groups, so that priorities hold between them. A task with a concurrency limit, or
 * whose executions take several slots, has a group of its own, so that a claim never returns more of its executions than there is
 * room for.
 */
import { CLAIM_QUEUE_COUNT_MAX, readyIndex } from '../../kernel/index.ts'
import type { QueueName } from '../../kernel/index.ts'
import type { ServedTask } from '../served-task.ts'

export interface ClaimGroup {
  readonly queues: readonly QueueName[]
  /** The only task of the group, if it is claimed alone. */
  readonly task: ServedTask | undefined
}

export function groupQueues(tasks: readonly ServedTask[], lanes: readonly string[] | undefined): ClaimGroup[] {
  const shared = tasks.filter((task) => !task.isClaimedAlone).flatMap((task) => queuesOf(task, lanes))
  const alone = tasks.filter((task) => task.isClaimedAlone)
  return [
    ...chunk(shared).map((queues) => ({ queues, task: undefined })),
    ...alone.flatMap((task) => chunk(queuesOf(task, lanes)).map((queues) => ({ queues, task }))),
  ]
}

/** The ready indexes that wake-ups name for these queues. */
export function readyIndexesOf(queues: readonly QueueName[]): string[] {
  return queues.map((queue) => readyIndex(queue.lane, queue.class))
}

function queuesOf(task: ServedTask, lanes: readonly string[] | undefined): QueueName[] {
  return (lanes ?? [task.handler.task.policy.lane]).flatMap((lane) =>
    task.classes.map((className) => ({ lane, class: className })),
  )
}

function chunk(queues: readonly QueueName[]): QueueName[][] {
  const chunks: QueueName[][] = []
  for (let i = 0; i < queues.length; i += CLAIM_QUEUE_COUNT_MAX) chunks.push(queues.slice(i, i + CLAIM_QUEUE_COUNT_MAX))
  return chunks
}
