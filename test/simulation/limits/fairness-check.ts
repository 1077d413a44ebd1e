/**
 * What must hold of the turns by which keys share a queue: a key that has nothing ready gets the turn that the queue has reached, however
 * long the backlogs of others are, and each further execution of a key gets a later turn.
 */
import { ROTATION_STEP } from '../../../src/kernel/limits.ts'
import type { AnyRecord, Execution, OperationResult, RecordType } from '../../../src/kernel/index.ts'
import type { Effect } from './effect.ts'

type Records = ReadonlyMap<RecordType, ReadonlyMap<string, AnyRecord>>

export class FairnessCheck {
  /** The latest turn that a claim has taken of each queue. */
  readonly #reached = new Map<string, number>()

  judge({ partition, operation, input, result }: Effect, records: Records): string[] {
    if (operation === 'claimForWorker') {
      const { executions } = result as OperationResult<'claimForWorker'>
      for (const { executionId } of executions) this.#note(partition, executionAt(records, executionId))
      return []
    }
    const created = result as OperationResult<'createExecution'>
    if (created.kind !== 'created') return []
    const execution = executionAt(records, created.executionId)
    return execution?.fair === undefined || 'schedule' in input ? [] : this.#newProblems(partition, execution, records)
  }

  #note(partition: string, execution: Execution | undefined): void {
    if (execution?.fair === undefined) return
    const queue = queueOf(partition, execution)
    this.#reached.set(queue, Math.max(this.#reached.get(queue) ?? 0, execution.fair.turn))
  }

  #newProblems(partition: string, execution: Execution, records: Records): string[] {
    const { id, fair } = execution
    const queue = queueOf(partition, execution)
    const own = [...(records.get('execution')?.values() ?? [])].filter(
      (other): other is Execution =>
        other.type === 'execution' &&
        other.id !== id &&
        other.fair?.key === fair?.key &&
        other.state.phase !== 'ended' &&
        queueOf(partition, other) === queue,
    )
    const turn = fair?.turn ?? 0
    const last = Math.max(-1, ...own.map((other) => other.fair?.turn ?? 0))
    if (turn <= last) return [`${id} got the turn ${turn}, which is not after that of an earlier execution of its key`]
    const reached = this.#reached.get(queue) ?? 0
    // A queue records its turn only now and then.
    if (turn + ROTATION_STEP < reached) return [`${id} got the turn ${turn}, and its queue has reached ${reached}`]
    const isAhead = own.length === 0 && turn > reached + ROTATION_STEP
    return isAhead
      ? [`${id} is the first of its key and got the turn ${turn}, and its queue has reached ${reached}`]
      : []
  }
}

function executionAt(records: Records, id: string): Execution | undefined {
  const found = records.get('execution')?.get(id)
  return found?.type === 'execution' ? found : undefined
}

function queueOf(partition: string, { lane, class: className, priority }: Execution): string {
  return `${partition} ${lane} ${className} ${priority}`
}
