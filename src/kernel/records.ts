/**
 * The records of an execution partition. A record is a plain object with a type and an id; an operation gets a private
 * copy, changes it and puts it back. Absent values are `undefined` and nothing else.
 */

declare const brand: unique symbol

/** Milliseconds since the epoch, by the store's clock. */
export type Instant = number

/** `<partition>-<uuid>`: the id says where the execution lives. */
export type ExecutionId = string & { readonly [brand]: 'ExecutionId' }

export type Outcome = 'completed' | 'failed' | 'cancelled' | 'expired' | 'skipped'

/** The exclusive, time-limited right of one worker process to change an active execution. */
export interface Lease {
  id: string
  workerId: string
  workerInstanceId: string
  acquiredAt: Instant
  expiresAt: Instant
}

/** What a holder presents with every call: valid for one contiguous interval of one execution's life. */
export interface Fence {
  readonly leaseId: string
  readonly epoch: number
  readonly attempt: number
}

/** A wish to cancel an active execution: told to its holder, and carried out at `forceAt` whatever the holder does. */
export interface CancelRequest {
  reason: string
  by: string
  at: Instant
  forceAt: Instant
}

export type DelayCause = 'submitted' | 'retry' | 'worker'
export type BlockCause = 'dependencies' | 'budget' | 'limit' | 'operator' | 'hold'

export type ExecutionState =
  | { phase: 'eligible' }
  | { phase: 'delayed'; until: Instant; cause: DelayCause }
  | { phase: 'blocked'; by: BlockCause }
  | {
      phase: 'active'
      lease: Lease
      timeoutAt: Instant | undefined
      cancel: CancelRequest | undefined
      /** Since when its time counts against the attempt's timeout: since the claim, unless its holder began later. */
      runningSince: Instant
    }
  | { phase: 'suspended'; suspensionId: string }
  | { phase: 'ended'; outcome: Outcome; at: Instant; reason: string | undefined; by: string | undefined }

export type Phase = ExecutionState['phase']

export type Backoff =
  { kind: 'fixed'; delayMs: number } | { kind: 'exponential'; initialMs: number; maxMs: number; factor: number }

/** `attempts` counts the first try. With `onlyCategories`, a failure of any other category is final. */
export interface RetryPolicy {
  attempts: number
  backoff: Backoff
  jitter: boolean
  onlyCategories: string[]
}

export type PayloadEncoding = 'json' | 'bytes'

/** What the record knows of bytes that are stored beside it. */
export interface BlobInfo {
  size: number
  encoding: PayloadEncoding
}

export interface Tag {
  name: string
  value: string
  /** Whether executions can be listed by this tag from an index of its own. */
  indexed: boolean
}

/** How a new attempt comes about; `continue` goes on with the attempt that was handed back or parked. */
export type AttemptKind = 'initial' | 'retry' | 'reclaim' | 'replay'
export type NextAttempt = AttemptKind | 'continue'

export interface Failure {
  category: string
  message: string
  stack: string | undefined
  at: Instant
}

/** The attempt that runs now, or ran last. Its history record is written only when it ends other than by completing. */
export interface CurrentAttempt {
  number: number
  kind: AttemptKind
  startedAt: Instant
  /** Time it has already run under earlier leases, counted against the attempt timeout. */
  usedMs: number
  workerId: string
  workerInstanceId: string
}

export interface Progress {
  percent: number | undefined
  message: string | undefined
  at: Instant
}

export type LeaseEnd =
  | 'completed'
  | 'failed'
  | 'cancelled'
  | 'expired'
  | 'released'
  | 'delayed'
  | 'timed_out'
  | 'lease_expired'
  | 'lease_revoked'

/** How the latest lease ended, kept until the next one: a holder that repeats its last call is answered as before. */
export interface EndedLease {
  id: string
  epoch: number
  how: LeaseEnd
  /** When the execution becomes eligible again, if ending the lease delayed it. */
  until: Instant | undefined
}

export interface Replay {
  requestId: string
  reason: string | undefined
  by: string | undefined
  at: Instant
}

export interface Execution {
  type: 'execution'
  id: ExecutionId
  /** The caller's own id, from which `id` was derived. */
  key: string | undefined
  /** The submit call that made this run, so that its repetition is recognised. */
  requestId: string | undefined
  namespace: string
  task: string
  lane: string
  /** What a worker must offer to take it; with the lane it names the queue. */
  class: string
  priority: number
  tags: Tag[]
  retry: RetryPolicy
  attemptTimeoutMs: number | undefined
  totalTimeoutMs: number | undefined
  deadlineAt: Instant | undefined
  retentionMs: number
  payload: BlobInfo | undefined
  result: BlobInfo | undefined
  createdAt: Instant
  /** When the present phase began. */
  changedAt: Instant
  startedAt: Instant | undefined
  state: ExecutionState
  next: NextAttempt
  /** The fencing counter: rises with every lease, never falls. */
  epoch: number
  attempt: CurrentAttempt | undefined
  /** Failed attempts since the execution was created or last replayed. */
  failureCount: number
  /** Leases lost since the execution was created or last replayed. */
  reclaimCount: number
  replayCount: number
  failure: Failure | undefined
  progress: Progress | undefined
  lastLease: EndedLease | undefined
  lastReplay: Replay | undefined
}

export type AttemptOutcome =
  'completed' | 'failed' | 'timed_out' | 'cancelled' | 'expired' | 'lease_expired' | 'lease_revoked'

/** History of one attempt. Its id is the execution's id and the attempt's number. */
export interface Attempt {
  type: 'attempt'
  id: string
  executionId: ExecutionId
  number: number
  kind: AttemptKind
  startedAt: Instant
  endedAt: Instant
  epoch: number
  workerId: string
  workerInstanceId: string
  outcome: AttemptOutcome
  failure: Failure | undefined
}

/** One lane's executions of one class: what a worker claims from. Registered by the first submit. */
export interface Queue {
  type: 'queue'
  id: string
  lane: string
  class: string
  createdAt: Instant
}

export interface RecordTypes {
  execution: Execution
  attempt: Attempt
  queue: Queue
}

export type RecordType = keyof RecordTypes
export type AnyRecord = RecordTypes[RecordType]
