/** Lists the queues of a lane that have a namespace or needs, so that workers learn of classes that a submit has made. */
import { QUEUE_SCAN_COUNT } from '../../limits.ts'
import { QUEUES_INDEX, queueId, readyIndex } from '../../model/indexes.ts'
import type { Position } from '../../model/order.ts'
import { isRouted, parseClass } from '../../model/task-class.ts'
import type { Range, Tx } from '../../tx.ts'

export interface ListQueuesInput {
  readonly lane: string
  /** Lists queues of this namespace only. */
  readonly namespace?: string | undefined
  /** Where an earlier call stopped. */
  readonly cursor?: Position | undefined
}

export interface ListedQueue {
  readonly class: string
  readonly needs: readonly string[] | undefined
  /** Whether an execution waits in it. */
  readonly isReady: boolean
}

export interface ListQueuesResult {
  readonly kind: 'queues_listed'
  readonly queues: ListedQueue[]
  /** Where to continue; undefined after the last queue of the lane. */
  readonly cursor: Position | undefined
}

/** The ids of the queues of a lane begin with its name and the separator. */
export function queuesRange({ lane, cursor }: ListQueuesInput): Range {
  return { index: QUEUES_INDEX, from: cursor ?? { score: 0, id: queueId(lane, '') }, limit: QUEUE_SCAN_COUNT }
}

export function listQueues(tx: Tx, input: ListQueuesInput): ListQueuesResult {
  const lane = input.lane
  const page = tx.scan(queuesRange(input), 'queue')
  const queues: ListedQueue[] = []
  for (const { lane: of, class: className, needs } of page) {
    if (of !== lane) return { kind: 'queues_listed', queues, cursor: undefined }
    if (!isListed(className, input.namespace)) continue
    const isReady = tx.countUpTo({ index: readyIndex(lane, className), limit: 1 }) > 0
    queues.push({ class: className, needs, isReady })
  }
  const last = page.length === QUEUE_SCAN_COUNT ? page[page.length - 1] : undefined
  return { kind: 'queues_listed', queues, cursor: last === undefined ? undefined : { score: 0, id: last.id } }
}

function isListed(className: string, namespace: string | undefined): boolean {
  return isRouted(className) && (namespace === undefined || parseClass(className).namespace === namespace)
}
