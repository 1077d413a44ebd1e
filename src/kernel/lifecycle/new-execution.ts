/** Builds the record of a new execution from its input and stores it with its payload. */
import type { BlobInfo, ExecutionId, Instant } from '../model/base-records.ts'
import type {
  Execution,
  ExecutionState,
  Fairness,
  LimitRef,
  OrderFailure,
  Retentions,
  RetryPolicy,
  Tag,
} from '../model/records.ts'
import { mergeTags } from '../rules/tags.ts'
import type { BlobInput, Tx } from '../tx.ts'
import { payloadKeyOf } from '../model/blob-keys.ts'

export interface CreateInput {
  readonly executionId: ExecutionId
  readonly key?: string | undefined
  /** Minted by the caller, the same for every repetition of one submit. Not needed if the id was minted for it. */
  readonly requestId?: string | undefined
  readonly namespace: string
  readonly task: string
  readonly version?: number | undefined
  readonly lane: string
  readonly class: string
  /** In canonical form, and part of the class. Absent if there are none. */
  readonly needs?: readonly string[] | undefined
  readonly priority: number
  readonly tags: readonly Tag[]
  readonly retry: RetryPolicy
  readonly delayMs?: number | undefined
  readonly attemptTimeoutMs?: number | undefined
  readonly totalTimeoutMs?: number | undefined
  readonly compensationTimeoutMs?: number | undefined
  readonly retentionMs: number
  /** Instead of the retention, for some outcomes. */
  readonly retentions?: Retentions | undefined
  /** How long after its end the id stays taken, if that is longer than the retention. */
  readonly dedupeMs?: number | undefined
  readonly payload?: BlobInput | undefined
  /** Limits that it needs permits of, each key once. */
  readonly limits?: readonly LimitRef[] | undefined
  /** The digest of the input, if the caller gave the id. */
  readonly digest?: string | undefined
  /** Whose share of the lane it uses. Its class has the mark of turns then. */
  readonly fairness?: Fairness | undefined
  /** If absent, a submit of the same input joins, and one of another input is refused. */
  readonly ifExists?: IfExists | undefined
  /** The schedule that creates it. */
  readonly schedule?: Execution['schedule']
  /** The span that submits it. */
  readonly trace?: string | undefined
  /** How it is combined with other submits, or held apart from them. Its id was minted for the submit then. */
  readonly shaping?: SubmitShaping | undefined
}

/** The key by which a submit is shaped, and how. */
export type SubmitShaping = { readonly key: string } & (
  | { readonly kind: 'debounce'; readonly waitMs: number; readonly maxMs: number }
  | { readonly kind: 'throttle'; readonly everyMs: number }
  | { readonly kind: 'singleton'; readonly ifTaken: 'join' | 'reject' | 'replace' }
  | { readonly kind: 'order'; readonly onFailure: OrderFailure }
)

/** What a submit does if its id exists, whatever its input. */
export type IfExists = 'join' | 'reject' | 'replace' | 'after'

/** Builds the record of an execution in its first state outside of a flow. */
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
    state: firstState(tx, input),
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
    version: input.version,
    refusals: undefined,
    unwinding: undefined,
    compensationTimeoutMs: input.compensationTimeoutMs,
    digest: input.digest,
    dedupeMs: longerThanRetention(input.dedupeMs, shortestRetention(input)),
    removed: undefined,
    followUp: undefined,
    payloadSlot: undefined,
    pastRequests: undefined,
    parent: undefined,
    run: undefined,
    needs: input.needs,
    fair: input.fairness === undefined ? undefined : { ...input.fairness, turn: 0 },
    limits: input.limits === undefined || input.limits.length === 0 ? undefined : input.limits,
    passes: undefined,
    schedule: input.schedule,
    awaitedBy: undefined,
    trace: input.trace,
    retentions: input.retentions,
    shaping: undefined,
  }
}

/** Returns how long an id stays taken, unless the retention covers it. */
export function longerThanRetention(dedupeMs: number | undefined, retentionMs: number): number | undefined {
  return dedupeMs !== undefined && dedupeMs > retentionMs ? dedupeMs : undefined
}

function shortestRetention({ retentionMs, retentions }: CreateInput): number {
  let shortest = retentionMs
  if (retentions === undefined) return shortest
  for (const ms of Object.values(retentions)) if (ms !== undefined && ms < shortest) shortest = ms
  return shortest
}

/** State and index follow from this one comparison, so a delay of zero cannot lose the execution. */
function firstState(tx: Tx, { delayMs, shaping }: CreateInput): ExecutionState {
  if (delayMs === undefined || delayMs <= 0) return { phase: 'eligible' }
  return { phase: 'delayed', until: tx.now + delayMs, cause: shaping?.kind === 'debounce' ? 'debounce' : 'submitted' }
}

export function storeExecution(tx: Tx, execution: Execution, input: CreateInput): void {
  tx.put(execution)
  if (input.payload !== undefined) tx.keep(payloadKeyOf(execution), input.payload.blob)
}

export function blobInfo(blob: BlobInput | undefined): BlobInfo | undefined {
  return blob === undefined ? undefined : { size: blob.size, encoding: blob.encoding }
}

export function delayOf(execution: Execution): Instant | undefined {
  return execution.state.phase === 'delayed' ? execution.state.until : undefined
}
