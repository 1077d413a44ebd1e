/** One partition with a clock that is moved by hand, and the one execution that the table is about. */
import type {
  AnyRecord,
  ClaimInput,
  CreateInput,
  Execution,
  ExecutionId,
  Fence,
  Instant,
  Tx,
} from '../../../src/kernel/index.ts'
import { stop } from './fault.ts'
import { newMemory, runOperation, storedRecord } from './memory.ts'
import type { Memory, Said } from './memory.ts'
import { perform } from './operation-call.ts'
import type { OperationCall } from './operation-call.ts'

/** When every world begins. Times below count from here. */
export const START_AT = 1_700_000_000_000

export const DELAY_MS = 15_000
export const RETRY_DELAY_MS = 10_000
export const CANCEL_GRACE_MS = 30_000
const ATTEMPT_TIMEOUT_MS = 45_000
export const LEASE_MS = 60_000
export const SHORT_LEASE_MS = 1_000
export const TOTAL_TIMEOUT_MS = 600_000
export const RETENTION_MS = 3_600_000

export const executionId = '0-00000000-0000-7000-8000-000000000001' as ExecutionId
export const submitRequest = 'submit-1'
export const firstClaim = 'claim-1'
export const secondClaim = 'claim-2'

/** The second lease's own fence. Where no second lease was ever given out, it is merely invented. */
export const ownFence: Fence = { leaseId: secondClaim, epoch: 2, attempt: 1 }

/** What happened in a world on the way to its situation, so that the same way can be gone elsewhere. */
export type WorldStep =
  | { readonly kind: 'call'; readonly at: Instant; readonly call: OperationCall; readonly blobs: readonly string[] }
  | { readonly kind: 'put'; readonly at: Instant; readonly record: AnyRecord }

export interface World {
  readonly memory: Memory
  readonly steps: WorldStep[]
  now: Instant
}

export function newWorld(): World {
  return { memory: newMemory(), steps: [], now: START_AT }
}

/** Runs an operation at the world's time. */
export function say<R>(world: World, blobs: readonly string[], operation: (tx: Tx) => R): Said<R> {
  return runOperation(world.memory, world.now, blobs, operation)
}

/** Takes a step that leads to a situation: if the kernel stops in it, the table itself is wrong. */
export function step(world: World, afterMs: number, call: OperationCall, blobs: readonly string[] = []): void {
  world.now = world.now + afterMs
  world.steps.push({ kind: 'call', at: world.now, call, blobs })
  const said = say(world, blobs, (tx) => perform(tx, call))
  if (said.kind === 'fault') stop(said.fault)
}

/** Writes a record as it would come about through operations of other parts of the engine. */
export function putDirectly(world: World, record: AnyRecord): void {
  world.steps.push({ kind: 'put', at: world.now, record })
  const said = say(world, [], (tx) => {
    tx.put(record)
    return true
  })
  if (said.kind === 'fault') stop(said.fault)
}

export function theExecution(world: World): Execution {
  const execution = storedRecord(world.memory, 'execution', executionId)
  if (execution !== undefined) return execution
  return stop({ reason: 'the world has no execution', recordId: executionId })
}

export function newSubmit(requestId: string): CreateInput {
  return { ...submitWithoutPayload(requestId), payload: { blob: 0, size: 7, encoding: 'json' } }
}

export function submitWithoutPayload(requestId: string): CreateInput {
  return {
    executionId,
    key: 'report:acme',
    requestId,
    namespace: 'default',
    task: 'report',
    lane: 'main',
    class: 'default',
    priority: 5,
    tags: [
      { name: 'plan', value: 'pro', indexed: true },
      { name: 'team', value: 'red', indexed: false },
    ],
    retry: { attempts: 3, backoff: { kind: 'fixed', delayMs: RETRY_DELAY_MS }, jitter: false, onlyCategories: [] },
    attemptTimeoutMs: ATTEMPT_TIMEOUT_MS,
    totalTimeoutMs: TOTAL_TIMEOUT_MS,
    retentionMs: RETENTION_MS,
    digest: 'first',
    ifExists: 'reject',
  }
}

export function newClaim(requestId: string): ClaimInput {
  return {
    requestId,
    workerId: 'pool',
    workerInstanceId: 'pool-a',
    queues: [{ lane: 'main', class: 'default' }],
    count: 1,
    leaseTtlMs: LEASE_MS,
    seed: 7,
  }
}

export const payload: readonly string[] = ['payload']

export function submit(world: World, input: CreateInput): void {
  step(world, 0, { operation: 'createExecution', input }, payload)
}

export function claim(world: World, afterMs: number, input: ClaimInput): void {
  step(world, afterMs, { operation: 'claimForWorker', input })
}
