/** Finds the executions that a claim may lease, in the order in which they are served. */
import { DUE_INDEX, readyIndex } from '../../model/indexes.ts'
import type { Lane } from '../../model/lane-schema.ts'
import { isFairClass, taskOfClass } from '../../model/task-class.ts'
import { mergeOrdered } from '../../model/order.ts'
import type { IndexEntry } from '../../model/order.ts'
import type { Execution } from '../../model/records.ts'
import { takeAlternately } from '../../rules/fair-order.ts'
import { drawByWeight } from '../../rules/lane-order.ts'
import { claimHoldOf } from '../../rules/lane-state.ts'
import type { Tx } from '../../tx.ts'

export interface QueueName {
  readonly lane: string
  readonly class: string
}

export interface Candidates {
  readonly executions: readonly Execution[]
  /** Entries that were read, up to one more than asked for of each queue. */
  readonly readyCount: number
  /** Entries were hidden for another claimer. They become visible again if that claimer does not take them. */
  readonly isHiding: boolean
}

export function findCandidates(tx: Tx, queues: readonly QueueName[], count: number, seed: number): Candidates {
  const offers = new Map<string, Offer>()
  const seen: Seen = { readyCount: 0, isHiding: tx.hides(DUE_INDEX) }
  const lanes = settingsOf(tx, queues)
  const isDivided = [...lanes.values()].some(({ weight }) => weight !== undefined)
  for (const queue of queues) {
    if (claimHoldOf(lanes.get(queue.lane), taskOfClass(queue.class)) !== undefined) continue
    // Unless they are divided, all lanes are served as one.
    const name = isDivided ? queue.lane : ''
    const offer = offers.get(name) ?? { weight: lanes.get(queue.lane)?.weight ?? 1, aged: [], fair: [] }
    offers.set(name, offer)
    readQueue(tx, queue, count, offer, seen)
  }
  const offered = [...offers.values()].map((offer) => {
    return { weight: offer.weight, items: executionsOf(tx, offer, count, seed) }
  })
  const executions = isDivided ? drawByWeight(offered, count, seed) : (offered[0]?.items ?? [])
  return { executions, ...seen }
}

/** What a lane has ready, or several lanes that are served as one. */
interface Offer {
  readonly weight: number
  readonly aged: IndexEntry[][]
  readonly fair: IndexEntry[][]
}

interface Seen {
  readyCount: number
  isHiding: boolean
}

/** Returns the settings of those lanes that have any. */
function settingsOf(tx: Tx, queues: readonly QueueName[]): Map<string, Lane> {
  const names = [...new Set(queues.map((queue) => queue.lane))]
  return new Map(tx.getMany('lane', names).map((lane) => [lane.id, lane]))
}

function readQueue(tx: Tx, queue: QueueName, count: number, offer: Offer, seen: Seen): void {
  const index = readyIndex(queue.lane, queue.class)
  // One more than requested shows whether anything remains.
  const head = tx.range({ index, limit: count + 1 })
  seen.readyCount = seen.readyCount + head.length
  if (tx.hides(index)) seen.isHiding = true
  if (isFairClass(queue.class)) offer.fair.push(head)
  else offer.aged.push(head)
}

function executionsOf(tx: Tx, { aged, fair }: Offer, count: number, seed: number): readonly Execution[] {
  const oldest = firstOf(tx, aged, count)
  if (fair.length === 0) return oldest
  const inTurn = fair.map((head) => firstOf(tx, [head], count))
  return takeAlternately([...inTurn, oldest], count, seed)
}

/** Returns the first executions of several queues. */
function firstOf(tx: Tx, heads: readonly IndexEntry[][], count: number): Execution[] {
  const ids: string[] = []
  // A queue that is named twice must not yield an execution twice; in order, equal ids are adjacent.
  for (const entry of mergeOrdered(heads, count)) if (entry.id !== ids[ids.length - 1]) ids.push(entry.id)
  return tx.getMany('execution', ids)
}
