/** An execution as a person or a program outside sees it. */
import type {
  Attempt,
  DescribeResult,
  Execution,
  ExecutionId,
  Failure,
  Instant,
  Lease,
  Outcome,
  Progress,
  PublicState,
} from '../kernel/index.ts'
import { publicState } from '../kernel/index.ts'
import { tagsToObject } from './names.ts'
import type { Tags } from './names.ts'
import { decodeValue } from './payload.ts'

export interface ExecutionSummary {
  readonly id: ExecutionId
  readonly key: string | undefined
  readonly namespace: string
  readonly task: string
  readonly lane: string
  readonly state: PublicState
  readonly priority: number
  readonly tags: Tags
  readonly attempt: number
  readonly attemptsAllowed: number
  readonly failureCount: number
  readonly reclaimCount: number
  readonly replayCount: number
  readonly createdAt: Instant
  readonly changedAt: Instant
  readonly startedAt: Instant | undefined
  readonly endedAt: Instant | undefined
  readonly delayedUntil: Instant | undefined
  readonly deadlineAt: Instant | undefined
  readonly purgeAt: Instant | undefined
  readonly outcome: Outcome | undefined
  readonly reason: string | undefined
  readonly by: string | undefined
  readonly progress: Progress | undefined
  readonly failure: Failure | undefined
  readonly lease: Lease | undefined
  readonly cancelRequested: { readonly reason: string; readonly by: string; readonly forceAt: Instant } | undefined
}

export interface ExecutionDescription extends ExecutionSummary {
  /** Attempts that came to an end, oldest first. */
  readonly attempts: readonly Omit<Attempt, 'type' | 'id' | 'executionId'>[]
  readonly input: unknown
  readonly result: unknown
  /** The store's clock when it was read. */
  readonly at: Instant
}

export function summarise(execution: Execution): ExecutionSummary {
  const { state } = execution
  const ended = state.phase === 'ended' ? state : undefined
  return {
    id: execution.id,
    key: execution.key,
    namespace: execution.namespace,
    task: execution.task,
    lane: execution.lane,
    state: publicState(state),
    priority: execution.priority,
    tags: tagsToObject(execution.tags),
    attempt: execution.attempt?.number ?? 0,
    attemptsAllowed: execution.retry.attempts,
    failureCount: execution.failureCount,
    reclaimCount: execution.reclaimCount,
    replayCount: execution.replayCount,
    createdAt: execution.createdAt,
    changedAt: execution.changedAt,
    startedAt: execution.startedAt,
    endedAt: ended?.at,
    delayedUntil: state.phase === 'delayed' ? state.until : undefined,
    deadlineAt: execution.deadlineAt,
    purgeAt: ended === undefined ? undefined : ended.at + execution.retentionMs,
    outcome: ended?.outcome,
    reason: ended?.reason,
    by: ended?.by,
    progress: execution.progress,
    failure: execution.failure,
    lease: state.phase === 'active' ? state.lease : undefined,
    cancelRequested: state.phase === 'active' ? state.cancel : undefined,
  }
}

export function describe(
  result: Extract<DescribeResult, { kind: 'described' }>,
  blobs: readonly Uint8Array[],
): ExecutionDescription {
  const { execution } = result
  return {
    ...summarise(execution),
    attempts: result.attempts.map(({ type: _type, id: _id, executionId: _executionId, ...attempt }) => attempt),
    input: decodeValue(execution.payload, blobs[result.payloadBlob ?? -1]),
    result: decodeValue(execution.result, blobs[result.resultBlob ?? -1]),
    at: result.at,
  }
}
