/**
 * Queues that one claim covers. Tasks without a concurrency limit share groups, so that priorities hold between them. A task with
 * a limit has a group of its own, so that a claim never returns more of its executions than it has room for.
 */
import { CLAIM_QUEUE_COUNT_MAX, readyIndex } from '../../kernel/index.ts'
import type { QueueName } from '../../kernel/index.ts'
import type { ServedTask } from '../served-task.ts'

export interface ClaimGroup {
  readonly queues: readonly QueueName[]
  /** The only task of the group, if it has a concurrency limit. */
  readonly task: ServedTask | undefined
}

export function groupQueues(tasks: readonly ServedTask[], lanes: readonly string[] | undefined): ClaimGroup[] {
  const shared = tasks.filter((task) => task.limit === undefined).flatMap((task) => queuesOf(task, lanes))
  const limited = tasks.filter((task) => task.limit !== undefined)
  return [
    ...chunk(shared).map((queues) => ({ queues, task: undefined })),
    ...limited.flatMap((task) => chunk(queuesOf(task, lanes)).map((queues) => ({ queues, task }))),
  ]
}

/** The ready indexes that wake-ups name for this group. */
export function readyIndexesOf(group: ClaimGroup): string[] {
  return group.queues.map((queue) => readyIndex(queue.lane, queue.class))
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
