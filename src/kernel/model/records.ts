/**
 * The records of an execution partition. A record is a plain object with a type and an id; an operation gets a private
 * copy, changes it and puts it back. Absent values are `undefined` and nothing else. An object within a record whose fields
 * are all `readonly` is replaced and never changed, so copies share it.
 */
import type { BlobInfo, ExecutionId, Failure, FlowId, Instant } from './base-records.ts'
import type { Journal, Signal, Step, Waitpoint } from './journal-records.ts'

export interface FailureInput {
  /** `permanent` and `cancelled` are never retried; any other word is judged by the retry policy. */
  readonly category: string
  readonly message: string
  readonly stack?: string | undefined
}

export type { BlobInfo, ExecutionId, Failure, FlowId, Instant, PayloadEncoding } from './base-records.ts'

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

export type DelayCause = 'submitted' | 'retry' | 'worker' | 'resume'
export type BlockCause = 'dependencies' | 'budget' | 'limit' | 'operator' | 'hold'

export type ExecutionState =
  | { readonly phase: 'eligible' }
  | { readonly phase: 'delayed'; readonly until: Instant; readonly cause: DelayCause }
  | { readonly phase: 'blocked'; readonly by: BlockCause }
  | {
      phase: 'active'
      lease: Lease
      timeoutAt: Instant | undefined
      cancel: CancelRequest | undefined
      /** Since when its time counts against the attempt's timeout: since the claim, unless its holder began later. */
      runningSince: Instant
    }
  | {
      phase: 'suspended'
      /** The kind and name of the step that it waits in. */
      step: string
      reason: string
      /** When it goes on, or what was said for that case happens, if nothing comes before. */
      until: Instant | undefined
      remindAt: Instant | undefined
    }
  | {
      readonly phase: 'ended'
      readonly outcome: Outcome
      readonly at: Instant
      readonly reason: string | undefined
      readonly by: string | undefined
    }

export type Phase = ExecutionState['phase']

export type Backoff =
  | { readonly kind: 'fixed'; readonly delayMs: number }
  | { readonly kind: 'exponential'; readonly initialMs: number; readonly maxMs: number; readonly factor: number }

/** `attempts` counts the first try. With `onlyCategories`, a failure of any other category is final. */
export interface RetryPolicy {
  readonly attempts: number
  readonly backoff: Backoff
  readonly jitter: boolean
  readonly onlyCategories: readonly string[]
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
  | 'skipped'
  | 'parked'
  | 'suspended'

/** How the latest lease ended, kept until the next one: a holder that repeats its last call is answered as before. */
export interface EndedLease {
  readonly id: string
  readonly epoch: number
  readonly how: LeaseEnd
  /** When the execution becomes eligible again, if ending the lease delayed it. */
  readonly until: Instant | undefined
}

export interface Replay {
  requestId: string
  reason: string | undefined
  by: string | undefined
  at: Instant
}

/** `all_of` wants every upstream completed, `any_of` one of them, `quorum` as many as its number says. */
export type GroupPolicy = 'all_of' | 'any_of' | 'quorum'

/** What becomes of the upstreams that still run once a group of `any_of` or `quorum` is decided. */
export type Losers = 'cancel' | 'let_run'
export type GroupVerdict = 'pending' | 'satisfied' | 'impossible'

/** All inbound edges of one member, judged together. `total` is the sum of the three buckets and of the open edges. */
export interface EdgeGroup {
  policy: GroupPolicy
  /** How many must complete: the number of a quorum, one of `any_of`; of `all_of` it is not looked at. */
  need: number
  losers: Losers
  total: number
  completed: number
  /** Upstreams that failed, expired or were cancelled. */
  failed: number
  skipped: number
  verdict: GroupVerdict
  decidedAt: Instant | undefined
  /** While it owes cancels to those that lost: the upstream behind which they go on, in the order of ids; first ''. */
  owedFrom: string | undefined
}

/** A delay that a dependency has pushed aside; it counts again once the dependency is met. */
export interface DisplacedDelay {
  until: Instant
  cause: DelayCause
}

/** A result that a satisfied edge hands on under a name. */
export interface GivenInput {
  name: string
  upstreamId: ExecutionId
  result: BlobInfo | undefined
}

/** What makes an execution part of a flow. */
export interface Membership {
  flowId: FlowId
  /** The node's name, unique in its flow as far as its maker named it. */
  name: string
  /** Every edge leads from a lower rank to a higher one. */
  rank: number
  /** Absent as long as no edge leads here and nobody has set a policy. */
  group: EdgeGroup | undefined
  delay: DisplacedDelay | undefined
  /** Edges that hand their upstream's result on under a name. */
  inputCount: number
  /** What it has been given so far, if it is to be given only a few: then nobody has to look for it when it is claimed. */
  given: GivenInput[]
  /** Edges that hand their upstream's result on as the payload. */
  payloadEdgeCount: number
  /** The upstream whose result is this member's payload. */
  payloadFrom: ExecutionId | undefined
  /** It has ended, and not all edges that lead from it have been told. */
  owesEdges: boolean
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
  member: Membership | undefined
  /** Absent as long as nothing was recorded, awaited or signalled. */
  journal: Journal | undefined
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

export type EdgeState = 'open' | 'satisfied' | 'impossible'

/** Hands an upstream's result on: under a name, or as the payload itself. */
export type Handover = { as: 'input'; name: string } | { as: 'payload' }

/** One dependency. Its id is the upstream's id and the downstream's: there is one edge between two members at most. */
export interface Edge {
  type: 'edge'
  id: string
  flowId: FlowId
  upstreamId: ExecutionId
  downstreamId: ExecutionId
  hands: Handover | undefined
  state: EdgeState
  /** What the upstream's result is, once it has completed. */
  result: BlobInfo | undefined
  createdAt: Instant
  resolvedAt: Instant | undefined
}

/** Members by their public state; those that lost to a satisfied group count as superseded, not as cancelled. */
export interface MemberCounts {
  waiting: number
  delayed: number
  rate_limited: number
  waiting_children: number
  active: number
  suspended: number
  completed: number
  failed: number
  cancelled: number
  expired: number
  skipped: number
  superseded: number
}

export type FlowCancelPolicy = 'cancel_all' | 'cancel_pending' | 'flow_only'

/** `all_members`: no member may fail. `sinks`: only members that nothing depends on count. */
export type OutcomeRule = 'all_members' | 'sinks'
export type FlowOutcome = 'completed' | 'failed'

/** Guards what may be done to a flow. Held: nothing of it runs yet. Sealed: it takes no more members and will end. */
export type FlowState =
  | {
      phase: 'held'
      /** When a submission that nobody goes on with is given up. */
      until: Instant | undefined
    }
  | { phase: 'open' }
  | { phase: 'sealed' }
  | { phase: 'ended'; outcome: FlowOutcome; at: Instant }
  | {
      phase: 'cancelled'
      policy: FlowCancelPolicy
      at: Instant
      reason: string
      by: string
      force: boolean
      graceMs: number
    }

/** What a submission in several calls brings in the end. */
export interface Submission {
  digest: string
  nodeCount: number
  edgeCount: number
}

/** Work on all members of a flow, one after the other in the order of their ranks, as far as it has come. */
export interface FlowWalk {
  purpose: 'release' | 'cancel' | 'replay' | 'remove'
  fromRank: number | undefined
  fromId: string | undefined
  /** The member that a replay begins with: it stays back until the walk is over. */
  rootId: ExecutionId | undefined
}

export interface Flow {
  type: 'flow'
  id: FlowId
  /** The caller's own id, from which `id` was derived. */
  key: string | undefined
  requestId: string | undefined
  namespace: string
  /** The name of its definition. */
  name: string
  tags: Tag[]
  outcomeRule: OutcomeRule
  retentionMs: number
  createdAt: Instant
  changedAt: Instant
  state: FlowState
  submission: Submission | undefined
  memberCount: number
  edgeCount: number
  counts: MemberCounts
  /** Members that nothing depends on and that ended other than completed; counted where the outcome rule asks for it. */
  failedSinkCount: number
  /** Groups that need more upstreams than they have. */
  shortGroupCount: number
  /** Whether any group cancels those that it does not need. */
  cancelsLosers: boolean
  /** Whether any member was replayed, so that its result may not be the one that others have been told of. */
  hasReplays: boolean
  walk: FlowWalk | undefined
  /** Rises with every change, so that a count over several calls can tell whether it is still true. */
  version: number
}

export interface RecordTypes {
  execution: Execution
  attempt: Attempt
  queue: Queue
  flow: Flow
  edge: Edge
  step: Step
  waitpoint: Waitpoint
  signal: Signal
}

export type RecordType = keyof RecordTypes
export type AnyRecord = RecordTypes[RecordType]
