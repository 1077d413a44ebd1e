/** Shorthands for tests of stores. They use one partition unless another is given. */
import { LEASE_TTL_DEFAULT_MS, RETENTION_DEFAULT_MS, entriesOf } from '../kernel/index.ts'
import type {
  ClaimInput,
  Claimed,
  CreateInput,
  ExecutionId,
  Fence,
  IndexEntry,
  OperationInput,
  OperationName,
  OperationResult,
} from '../kernel/index.ts'
import { executionPartition } from './store.ts'
import type { Answer, Call, PartitionDump, Store } from './store.ts'

export const PARTITION = executionPartition(0)

let lastNumber = 0

export function creation(wish: Partial<CreateInput> = {}): CreateInput {
  lastNumber += 1
  const executionId = `0-${lastNumber.toString().padStart(8, '0')}` as ExecutionId
  return {
    executionId,
    requestId: `request of ${executionId}`,
    namespace: 'default',
    task: 'greet',
    lane: 'main',
    class: 'greet',
    priority: 0,
    tags: [],
    retry: { attempts: 1, backoff: { kind: 'fixed', delayMs: 1_000 }, jitter: false, onlyCategories: [] },
    retentionMs: RETENTION_DEFAULT_MS,
    ifExists: 'join',
    ...wish,
  }
}

export function claim(wish: Partial<ClaimInput> = {}): ClaimInput {
  return {
    requestId: 'claim',
    workerId: 'worker',
    workerInstanceId: 'worker-1',
    queues: [{ lane: 'main', class: 'greet' }],
    count: 50,
    leaseTtlMs: LEASE_TTL_DEFAULT_MS,
    seed: 1,
    ...wish,
  }
}

/** The holder of a lease. */
export interface Holder {
  readonly executionId: ExecutionId
  readonly fence: Fence
}

/** A recorded step, by default with a result. */
export function stepOf(
  { executionId, fence }: Holder,
  name: string,
  wish: Partial<OperationInput<'recordStep'>> = {},
): OperationInput<'recordStep'> {
  return { executionId, fence, stepKind: 'call', name, attemptCount: 1, outcome: { kind: 'completed' }, ...wish }
}

/** A wait for one signal of any name at a place that it opens, unless that is a mailbox. */
export function waitAt(
  { executionId, fence }: Holder,
  target: string,
  wish: Partial<OperationInput<'suspendExecution'>> = {},
): OperationInput<'suspendExecution'> {
  return {
    executionId,
    fence,
    stepKind: 'wait',
    name: `wait for ${target}`,
    nodes: [{ kind: 'leaf', parent: undefined, need: 1, by: 'once', name: undefined, from: [], targets: [target] }],
    opens: target.startsWith('@') ? [] : [target],
    reason: 'signal',
    onTimeout: 'resume',
    ...wish,
  }
}

export function signalTo(
  executionId: ExecutionId,
  target: string,
  wish: Partial<OperationInput<'deliverSignal'>> = {},
): OperationInput<'deliverSignal'> {
  return { executionId, target, key: 'once', name: 'go', source: { type: 'caller', identity: 'ada' }, ...wish }
}

export function call<N extends OperationName>(operation: N, input: OperationInput<N>, ...blobs: Uint8Array[]): Call {
  return { operation, input, blobs }
}

/** Runs one operation and expects an answer. */
export async function run<N extends OperationName>(
  store: Store,
  operation: N,
  input: OperationInput<N>,
  ...blobs: Uint8Array[]
): Promise<OperationResult<N>> {
  const [answer] = await store.run(PARTITION, [call(operation, input, ...blobs)])
  if (answer?.kind !== 'answered') throw new Error(`${operation} was not answered: ${JSON.stringify(answer)}`)
  return answer.result as OperationResult<N>
}

export async function submit(store: Store, wish: Partial<CreateInput> = {}): Promise<ExecutionId> {
  const input = creation(wish)
  await run(store, 'createExecution', input)
  return input.executionId
}

export async function claimAll(store: Store): Promise<Claimed[]> {
  const { executions } = await run(store, 'claimForWorker', claim())
  return executions
}

export function kindsOf(answers: readonly Answer[]): string[] {
  return answers.map((answer) => (answer.kind === 'answered' ? answer.result.kind : answer.kind))
}

/** What is wrong with a partition: entries that no record derives, entries that are missing, gaps in the event log. */
export function problemsOf({ records, entries, events }: PartitionDump): string[] {
  const derived = new Set(records.flatMap((record) => entriesOf(record)).map(entryText))
  const stored = entries.map(entryText)
  const problems: string[] = []
  for (const entry of stored) if (!derived.delete(entry)) problems.push(`extra or twice: ${entry}`)
  for (const entry of derived) problems.push(`missing: ${entry}`)
  events.forEach(({ sequence }, i) => {
    if (i > 0 && sequence !== (events[i - 1]?.sequence ?? 0) + 1) problems.push(`gap before event ${sequence}`)
  })
  return problems
}

function entryText({ index, score, id }: IndexEntry): string {
  return `${index.replaceAll('\u001f', '/')} ${score} ${id}`
}
