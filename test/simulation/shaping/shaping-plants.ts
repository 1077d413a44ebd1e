/** Mistakes in the kernel that the traffic of shaped submits must find. Each is planted alone. */
import type { AnyRecord, Execution, OperationName, ShapingKey, Tx } from '../../../src/kernel/index.ts'
import { change } from '../kernel-plants.ts'

export interface ShapingPlant {
  readonly name: string
  readonly mistake: string
  /** Plants it, and returns how to remove it. */
  readonly plant: () => () => void
}

/** Changes the transaction of an operation, and nothing else. */
function within(name: OperationName, altered: (tx: Tx) => Tx): () => () => void {
  return () => change(name, (right, tx, input) => right(altered(tx), input))
}

function reading(tx: Tx, alter: (record: AnyRecord) => AnyRecord | undefined): Tx {
  return {
    ...tx,
    get: (type, id) => {
      const record = tx.get(type, id)
      return record === undefined ? undefined : (alter(record) as typeof record | undefined)
    },
  }
}

function onKey(kind: ShapingKey['kind'], alter: (key: ShapingKey) => ShapingKey | undefined) {
  return (record: AnyRecord) => (record.type === 'shaping_key' && record.kind === kind ? alter(record) : record)
}

function writing(tx: Tx, alter: (execution: Execution) => Execution): Tx {
  return { ...tx, put: (record) => tx.put(record.type === 'execution' ? alter(record) : record) }
}

export const shapingPlants: readonly ShapingPlant[] = [
  {
    name: 'first_input_wins',
    mistake: 'a submit that replaces an input does not store its bytes',
    plant: () =>
      change('createExecution', (right, tx, input) => {
        const isNew = !tx.has('execution', input.executionId)
        const stored: Tx = {
          ...tx,
          keep: (key, blob) => (key.includes(input.executionId) ? tx.keep(key, blob) : undefined),
        }
        return right(isNew ? stored : tx, input)
      }),
  },
  {
    name: 'silence_not_awaited',
    mistake: 'a later submit does not put off the start of a debounced execution',
    plant: within('createExecution', (tx) =>
      writing(tx, (execution) => {
        const before = tx.get('execution', execution.id)?.state
        const { state } = execution
        if (before?.phase !== 'delayed' || state.phase !== 'delayed' || state.cause !== 'debounce') return execution
        return { ...execution, state: { ...state, until: before.until } }
      }),
    ),
  },
  {
    name: 'window_too_long',
    mistake: 'a debounced execution waits for silence without end',
    plant: within('createExecution', (tx) =>
      reading(
        tx,
        onKey('debounce', (key) => ({ ...key, since: tx.now })),
      ),
    ),
  },
  {
    name: 'repetition_not_recognised',
    mistake: 'a repeated submit replaces the input of an execution once more',
    plant: within('createExecution', (tx) =>
      reading(
        tx,
        onKey('debounce', (key) => ({ ...key, merged: [] })),
      ),
    ),
  },
  {
    name: 'period_too_short',
    mistake: 'the period of a throttle is half as long',
    plant: within('createExecution', (tx) =>
      reading(
        tx,
        onKey('throttle', (key) => ({ ...key, until: key.since + ((key.until ?? key.since) - key.since) / 2 })),
      ),
    ),
  },
  {
    name: 'singleton_twice',
    mistake: 'a singleton is created although another one has not ended',
    plant: within('createExecution', (tx) =>
      reading(
        tx,
        onKey('singleton', () => undefined),
      ),
    ),
  },
  {
    name: 'displaced_one_runs_on',
    mistake: 'a replacement of a singleton does not wait for the end of the one that runs',
    plant: within('createExecution', (tx) =>
      writing(tx, (execution) => {
        const { state, shaping } = execution
        if (shaping?.kind !== 'singleton' || state.phase !== 'blocked' || state.by !== 'order') return execution
        return { ...execution, state: { phase: 'eligible' } }
      }),
    ),
  },
  {
    name: 'line_ignored',
    mistake: 'an ordered execution does not wait for its turn',
    plant: within('createExecution', (tx) =>
      reading(
        tx,
        onKey('order', (key) => ({ ...key, current: undefined })),
      ),
    ),
  },
  {
    name: 'turn_not_passed_on',
    mistake: 'the end of an execution does not let the next one of its line run',
    plant: within('completeExecution', (tx) => ({
      ...tx,
      scan: (range, type) => (range.index.startsWith('line') ? [] : tx.scan(range, type)),
    })),
  },
  {
    name: 'last_in_line_first',
    mistake: 'the turn passes to the execution that was submitted last',
    plant: within('completeExecution', (tx) => ({
      ...tx,
      scan: (range, type) => tx.scan(range.index.startsWith('line') ? { ...range, reverse: true } : range, type),
    })),
  },
  {
    name: 'failure_passed_over',
    mistake: 'a failure that is to hold back the others does not',
    plant: within('failExecution', (tx) =>
      reading(tx, (record) =>
        record.type === 'execution' && record.shaping?.onFailure === 'block'
          ? { ...record, shaping: { ...record.shaping, onFailure: 'continue' } }
          : record,
      ),
    ),
  },
  {
    name: 'cancel_keeps_the_turn',
    mistake: 'a cancelled execution keeps its turn',
    plant: within('cancelExecution', (tx) => ({
      ...tx,
      scan: (range, type) => (range.index.startsWith('line') ? [] : tx.scan(range, type)),
    })),
  },
]
