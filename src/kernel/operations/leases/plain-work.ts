/**
 * Finds work that needs no more than a handler and permits, for workers that take no other. A claim reads a part of the queues and returns its
 * place, so that the next one continues there: work that is left to other workers hides nothing for good, however much it is.
 */
import { LIST_SCAN_COUNT } from '../../limits.ts'
import { readyIndex } from '../../model/indexes.ts'
import type { Position } from '../../model/order.ts'
import type { Execution } from '../../model/records.ts'
import { taskOfClass } from '../../model/task-class.ts'
import { claimHoldOf } from '../../rules/lane-state.ts'
import type { Tx } from '../../tx.ts'
import type { QueueName } from './claim-candidates.ts'

/** How far a claim has looked: in which of its queues, and after which entry. */
export interface PlainPlace {
  readonly queue: number
  readonly from: Position | undefined
}

/** What a worker of plain work can do besides running a handler. */
export interface PlainAbilities {
  /** It evaluates the conditions of nodes. */
  readonly conditions?: boolean | undefined
  /** It undoes steps. */
  readonly undo?: boolean | undefined
}

export interface PlainWork {
  readonly executions: readonly Execution[]
  /** Absent at the end of the queues. */
  readonly place: PlainPlace | undefined
}

/** Reads on from a place, until as many are found or enough is read. */
export function findPlain(
  tx: Tx,
  queues: readonly QueueName[],
  { place, abilities }: { readonly place: PlainPlace | undefined; readonly abilities: PlainAbilities | undefined },
  count: number,
): PlainWork {
  const executions: Execution[] = []
  let left = LIST_SCAN_COUNT
  for (let number = place?.queue ?? 0; number < queues.length; number++) {
    const queue = queues[number]
    if (queue === undefined) break
    if (claimHoldOf(tx.get('lane', queue.lane), taskOfClass(queue.class)) !== undefined) continue
    const from = number === place?.queue ? place.from : undefined
    const entries = tx.range({ index: readyIndex(queue.lane, queue.class), from, limit: left })
    for (const { score, id } of entries) {
      const execution = tx.get('execution', id)
      if (execution !== undefined && isPlain(execution, abilities)) executions.push(execution)
      if (executions.length === count) return { executions, place: { queue: number, from: { score, id } } }
    }
    left = left - entries.length
    const last = entries[entries.length - 1]
    if (left === 0 && last !== undefined) {
      return { executions, place: { queue: number, from: { score: last.score, id: last.id } } }
    }
  }
  return { executions, place: undefined }
}

/** Whether an execution has no condition of a flow's definition and nothing to undo, apart from what the worker can do. */
export function isPlain({ unwinding, member }: Execution, { conditions, undo }: PlainAbilities = {}): boolean {
  return (unwinding === undefined || undo === true) && (member?.hasCondition !== true || conditions === true)
}
