/** The kernel inside the server, asked through the store's port: nothing above it batches, retries or wakes. */
import { mintExecutionId, prepareSubmit, task } from '../../src/client/index.ts'
import type { PreparedSubmit } from '../../src/client/index.ts'
import type { Claimed, OperationInput, OperationName, OperationResult } from '../../src/kernel/index.ts'
import { systemRuntime } from '../../src/runtime/index.ts'
import type { Runtime } from '../../src/runtime/index.ts'
import { openStore } from '../../src/stores/open-store.ts'
import { executionPartition } from '../../src/stores/store.ts'
import type { Call, Store } from '../../src/stores/store.ts'
import { LANE, TASK_NAME, loadOf } from '../workload.ts'
import { LEASE_TTL_MS, RESULT, expectAnswer } from './contender.ts'
import type { Contender, ContenderSession } from './contender.ts'

const PARTITION_NUMBER = 0
const WORKER = 'bench'
const SEED = 1

/** The kernel with so many executions in one call. */
export function kernelContender(name: string, batchSize: number): Contender {
  return {
    name,
    batchSize,
    open: async (server) => {
      const runtime = systemRuntime()
      const prepared = await prepareSubmit(
        { task: task(TASK_NAME, { lane: LANE }), input: loadOf(0) },
        { executionId: mintExecutionId(PARTITION_NUMBER, runtime), requestId: runtime.uuid() },
        { namespace: 'default', indexedTags: [] },
      )
      return kernelSession(await openStore(server.location, { runtime }), runtime, prepared, batchSize)
    },
  }
}

function kernelSession(store: Store, runtime: Runtime, prepared: PreparedSubmit, batchSize: number): ContenderSession {
  const workerInstanceId = runtime.uuid()
  const held: Claimed[] = []
  return {
    create: async () => {
      const calls = Array.from({ length: batchSize }, () => createCall(runtime, prepared))
      for (const { kind } of await runAll(store, 'createExecution', calls)) expectAnswer('created', kind)
    },
    claim: async () => {
      const call = claimCall(runtime, workerInstanceId, batchSize)
      for (const { executions } of await runAll(store, 'claimForWorker', [call])) {
        expectAnswer(`${batchSize} claimed`, `${executions.length} claimed`)
        held.push(...executions)
      }
    },
    complete: async () => {
      const calls = held.splice(-batchSize).map(completeCall)
      for (const { kind } of await runAll(store, 'completeExecution', calls)) expectAnswer('completed', kind)
    },
    [Symbol.asyncDispose]: () => store.close(),
  }
}

type Arguments<N extends OperationName> = Pick<Call<N>, 'input' | 'blobs'>

/** One call to the server for all of them. */
async function runAll<N extends OperationName>(
  store: Store,
  operation: N,
  all: readonly Arguments<N>[],
): Promise<OperationResult<N>[]> {
  const calls = all.map((one) => ({ operation, ...one })) as unknown as Call[]
  const answers = await store.run(executionPartition(PARTITION_NUMBER), calls)
  return answers.map((answer) => {
    if (answer.kind !== 'answered') throw new Error(`The store answered ${answer.kind}.`)
    return answer.result as OperationResult<N>
  })
}

/** What a client sends for a task without any settings of its own, each time with other ids. */
function createCall(runtime: Runtime, { input, blobs }: PreparedSubmit): Arguments<'createExecution'> {
  const executionId = mintExecutionId(PARTITION_NUMBER, runtime)
  return { input: { ...input, executionId, requestId: runtime.uuid() }, blobs }
}

function claimCall(runtime: Runtime, workerInstanceId: string, count: number): Arguments<'claimForWorker'> {
  const input: OperationInput<'claimForWorker'> = {
    requestId: runtime.uuid(),
    workerId: WORKER,
    workerInstanceId,
    queues: [{ lane: LANE, class: TASK_NAME }],
    count,
    leaseTtlMs: LEASE_TTL_MS,
    seed: SEED,
  }
  return { input, blobs: [] }
}

function completeCall({ executionId, fence }: Claimed): Arguments<'completeExecution'> {
  const result = { blob: 0, size: RESULT.byteLength, encoding: 'json' } as const
  return { input: { executionId, fence, result }, blobs: [RESULT] }
}
