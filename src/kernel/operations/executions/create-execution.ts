/** Accepts a piece of work. Said twice with one id it is accepted once; `ifExists` says what the second caller wants. */
import { queueId } from '../../model/indexes.ts'
import { payloadKey } from '../../model/blob-keys.ts'
import { forgetEmptyQueues } from '../../lifecycle/queues.ts'
import type {
  BlobInfo,
  Execution,
  ExecutionId,
  ExecutionState,
  Instant,
  PayloadEncoding,
  RetryPolicy,
  Tag,
} from '../../model/records.ts'
import { newJournal } from '../../rules/journal-ids.ts'
import { removeAllButJournal } from '../../lifecycle/endings/remove-execution.ts'
import { refusedFor } from '../../results.ts'
import type { Refused } from '../../results.ts'
import { mergeTags } from './set-tags.ts'
import { publicState } from '../../rules/execution-state.ts'
import type { PublicState } from '../../rules/execution-state.ts'
import type { BlobRef, Tx } from '../../tx.ts'

export interface BlobInput {
  readonly blob: BlobRef
  readonly size: number
  readonly encoding: PayloadEncoding
}

export interface CreateInput {
  readonly executionId: ExecutionId
  readonly key?: string | undefined
  /** Minted by the caller, the same for every repetition of one submit. An id that was minted for one submit needs none. */
  readonly requestId?: string | undefined
  readonly namespace: string
  readonly task: string
  readonly lane: string
  readonly class: string
  readonly priority: number
  readonly tags: readonly Tag[]
  readonly retry: RetryPolicy
  readonly delayMs?: number | undefined
  readonly attemptTimeoutMs?: number | undefined
  readonly totalTimeoutMs?: number | undefined
  readonly retentionMs: number
  readonly payload?: BlobInput | undefined
  readonly ifExists: 'join' | 'reject' | 'replace'
}

export type CreateResult =
  | {
      readonly kind: 'created' | 'replaced' | 'joined'
      readonly executionId: ExecutionId
      readonly state: PublicState
      readonly at: Instant
    }
  | Refused<'execution_exists' | 'execution_in_progress' | 'execution_in_flow'>

export function createExecution(tx: Tx, input: CreateInput): CreateResult {
  const existing = tx.get('execution', input.executionId)
  if (existing === undefined) {
    const execution = newExecution(tx, input, 0)
    registerQueue(tx, execution)
    storeExecution(tx, execution, input)
    tx.emit('execution_created', execution, { until: delayOf(execution) })
    return answer('created', execution)
  }
  if (existing.requestId === input.requestId) return answer('created', existing)
  switch (input.ifExists) {
    case 'join':
      // Whoever joined the execution of another task would wait for a result that is not of their kind.
      if (existing.task !== input.task) return refusedFor('execution_exists', existing)
      return answer('joined', existing)
    case 'reject':
      return refusedFor('execution_exists', existing)
    case 'replace':
      return replaceExecution(tx, existing, input)
  }
}

/** Not started: changed in place. Ended: purged and begun again. Anything between has side effects that nobody may forget. */
function replaceExecution(tx: Tx, existing: Execution, input: CreateInput): CreateResult {
  const phase = existing.state.phase
  // A member's place in its flow cannot be begun again without the flow.
  if (existing.member !== undefined) return refusedFor('execution_in_flow', existing)
  const started = phase === 'active' || phase === 'suspended' || (phase !== 'ended' && existing.attempt !== undefined)
  if (started) return refusedFor('execution_in_progress', existing)
  if (phase === 'ended') removeAllButJournal(tx, existing)
  const execution = newExecution(tx, input, existing.epoch)
  const journal = existing.journal
  if (journal !== undefined) execution.journal = newJournal(journal.life + 1, journal.firstLife)
  if (phase !== 'ended') {
    execution.createdAt = existing.createdAt
    tx.forget(payloadKey(execution.id))
  }
  registerQueue(tx, execution)
  storeExecution(tx, execution, input)
  if (queueOf(existing) !== queueOf(execution)) forgetEmptyQueues(tx, existing.lane)
  tx.emit('execution_replaced', execution, { until: delayOf(execution) })
  return answer('replaced', execution)
}

/** What is to be run, as its input says, and in the state that it would have by itself. */
export function newExecution(tx: Tx, input: CreateInput, epoch: number): Execution {
  return {
    type: 'execution',
    id: input.executionId,
    key: input.key,
    requestId: input.requestId,
    namespace: input.namespace,
    task: input.task,
    lane: input.lane,
    class: input.class,
    priority: input.priority,
    tags: mergeTags([], input.tags, []),
    retry: input.retry,
    attemptTimeoutMs: input.attemptTimeoutMs,
    totalTimeoutMs: input.totalTimeoutMs,
    deadlineAt: input.totalTimeoutMs === undefined ? undefined : tx.now + input.totalTimeoutMs,
    retentionMs: input.retentionMs,
    payload: blobInfo(input.payload),
    result: undefined,
    createdAt: tx.now,
    changedAt: tx.now,
    startedAt: undefined,
    state: firstState(tx, input.delayMs),
    next: 'initial',
    epoch,
    attempt: undefined,
    failureCount: 0,
    reclaimCount: 0,
    replayCount: 0,
    failure: undefined,
    progress: undefined,
    lastLease: undefined,
    lastReplay: undefined,
    member: undefined,
    journal: undefined,
  }
}

/** State and index follow from one comparison made here, so a delay of nothing cannot lose the execution. */
function firstState(tx: Tx, delayMs: number | undefined): ExecutionState {
  if (delayMs === undefined || delayMs <= 0) return { phase: 'eligible' }
  return { phase: 'delayed', until: tx.now + delayMs, cause: 'submitted' }
}

function queueOf(execution: Execution): string {
  return queueId(execution.lane, execution.class)
}

export function registerQueue(tx: Tx, execution: Execution): void {
  const id = queueOf(execution)
  if (tx.has('queue', id)) return
  tx.put({ type: 'queue', id, lane: execution.lane, class: execution.class, createdAt: tx.now })
}

export function storeExecution(tx: Tx, execution: Execution, input: CreateInput): void {
  tx.put(execution)
  if (input.payload !== undefined) tx.keep(payloadKey(execution.id), input.payload.blob)
}

function blobInfo(blob: BlobInput | undefined): BlobInfo | undefined {
  return blob === undefined ? undefined : { size: blob.size, encoding: blob.encoding }
}

export function delayOf(execution: Execution): Instant | undefined {
  return execution.state.phase === 'delayed' ? execution.state.until : undefined
}

function answer(kind: 'created' | 'replaced' | 'joined', execution: Execution): CreateResult {
  return { kind, executionId: execution.id, state: publicState(execution.state), at: execution.createdAt }
}
