/** What a process measures of its calls to the store. */
import type { CreateInput, OperationInput, OperationName, OperationResult } from '../kernel/index.ts'
import { EngineError } from '../kernel/engine-error.ts'
import type { Counter, Histogram, Metrics } from '../runtime/index.ts'
import { familyOf } from './partitions.ts'
import type { Answer, Call, Partition } from './store.ts'

export const submittedTotal: Counter<'task' | 'lane'> = {
  kind: 'counter',
  name: 'ff_executions_submitted_total',
  help: 'Executions that this process created. A repeated submit is not counted again.',
  labels: ['task', 'lane'],
}

export const operationsTotal: Counter<'operation' | 'result'> = {
  kind: 'counter',
  name: 'ff_store_operations_total',
  help: 'Operations that the store answered, by result: done, refused or failed.',
  labels: ['operation', 'result'],
}

export const storeErrorsTotal: Counter<'code'> = {
  kind: 'counter',
  name: 'ff_store_errors_total',
  help: 'Batches of operations without an answer, by the code of the error.',
  labels: ['code'],
}

export const batchSeconds: Histogram<'family'> = {
  kind: 'histogram',
  name: 'ff_store_batch_duration_seconds',
  help: 'How long a batch of operations took, by the family of its partition.',
  labels: ['family'],
  buckets: [0.000_1, 0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5],
}

export const batchOperations: Histogram<'family'> = {
  kind: 'histogram',
  name: 'ff_store_batch_operations',
  help: 'Operations in a batch, by the family of its partition.',
  labels: ['family'],
  buckets: [1, 2, 5, 10, 20, 50],
}

type AnyCall = { readonly [N in OperationName]: Call<N> }[OperationName]

/** Measures the batches of one process. */
export class StoreMeter {
  readonly #metrics: Metrics

  constructor(metrics: Metrics) {
    this.#metrics = metrics
  }

  batch(partition: Partition, size: number, ms: number): void {
    const labels = { family: familyOf(partition) }
    this.#metrics.observe(batchSeconds, labels, ms / 1_000)
    this.#metrics.observe(batchOperations, labels, size)
  }

  unanswered(error: unknown): void {
    this.#metrics.add(storeErrorsTotal, { code: error instanceof EngineError ? error.code : 'unexpected' })
  }

  answered(call: Call, answer: Answer): void {
    if (answer.kind === 'not_run') return
    const isRefused = answer.kind === 'answered' && answer.result.kind === 'refused'
    const result = answer.kind !== 'answered' ? 'failed' : isRefused ? 'refused' : 'done'
    this.#metrics.add(operationsTotal, { operation: call.operation, result })
    if (answer.kind !== 'answered') return
    for (const { task, lane } of createdBy(call, answer.result)) this.#metrics.add(submittedTotal, { task, lane })
  }
}

const NONE: readonly CreateInput[] = []

/** The executions that a call has created, according to its answer. */
function createdBy(call: Call, result: OperationResult<OperationName>): readonly CreateInput[] {
  const { operation, input } = call as AnyCall
  const { kind } = result
  switch (operation) {
    case 'createExecution':
      return kind === 'created' ? [input] : NONE
    case 'submitFlow':
      return kind === 'submitted' || kind === 'accepted' ? input.nodes.map(({ create }) => create) : NONE
    case 'addExecutionToFlow':
      return kind === 'added' && input.create !== undefined ? [input.create] : NONE
    case 'startChildren':
      return startedChildren(input, result as OperationResult<'startChildren'>)
    default:
      return NONE
  }
}

/** A reply that the parent is suspended names no children: all of the call are counted. */
function startedChildren(
  { children }: OperationInput<'startChildren'>,
  result: OperationResult<'startChildren'>,
): readonly CreateInput[] {
  const started = result.kind === 'started' ? result.children : undefined
  if (result.kind !== 'suspended' && started === undefined) return NONE
  return children.filter((_, i) => started?.[i]?.isNew !== false).map(({ create }) => create)
}
