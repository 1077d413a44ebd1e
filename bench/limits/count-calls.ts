/** Counts what one client and its workers ask of a store. */
import type { OperationName } from '../../src/kernel/index.ts'
import type { Store } from '../../src/stores/store.ts'

export interface CallCount {
  batches: number
  operations: number
  permitOperations: number
}

const permitOperations: ReadonlySet<OperationName> = new Set<OperationName>([
  'takePermits',
  'returnPermits',
  'renewPermits',
  'blockExecution',
  'openGates',
])

/** Returns the same store, which adds to the counts with each batch. */
export function countCalls(original: Store, counts: CallCount): Store {
  const run: Store['run'] = (partition, calls, onAnswer) => {
    counts.batches += 1
    counts.operations += calls.length
    counts.permitOperations += calls.filter(({ operation }) => permitOperations.has(operation)).length
    return original.run(partition, calls, onAnswer)
  }
  return new Proxy(original, {
    get(target, name) {
      if (name === 'run') return run
      const value: unknown = Reflect.get(target, name, target)
      return typeof value === 'function' ? (value.bind(target) as unknown) : value
    },
  })
}
