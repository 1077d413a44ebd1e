/**
 * The records of all partitions. A record is a plain object with a type and an id. An operation gets a private copy,
 * changes it and puts it back. Absent values are `undefined`.
 */
import { auditEntry } from './audit-schema.ts'
import type { AuditEntry } from './audit-schema.ts'
import { consumer } from './consumer-schema.ts'
import type { Consumer } from './consumer-schema.ts'
import { duties } from './duties-schema.ts'
import type { Duties } from './duties-schema.ts'
import { attempt, execution, queue, rotation, share } from './execution-schema.ts'
import type { Attempt, Execution, Queue, Rotation, Share } from './execution-schema.ts'
import { edge, flow } from './flow-schema.ts'
import type { Edge, Flow } from './flow-schema.ts'
import { lane } from './lane-schema.ts'
import type { Lane } from './lane-schema.ts'
import { signal, step, waitpoint } from './journal-schema.ts'
import type { Signal, Step, Waitpoint } from './journal-schema.ts'
import { frameChunk, stream } from './stream-schema.ts'
import type { FrameChunk, Stream } from './stream-schema.ts'
import { worker } from './worker-schema.ts'
import type { Worker } from './worker-schema.ts'
import { schedule } from './schedule-schema.ts'
import type { Schedule } from './schedule-schema.ts'
import { shapingKey } from './shaping-schema.ts'
import type { ShapingKey } from './shaping-schema.ts'
import { gate, gauge, holding, limit } from './limit-schema.ts'
import type { Gate, Gauge, Holding, Limit } from './limit-schema.ts'
import { account, budget, charge, pastPeriod, reservation } from './budget-schema.ts'
import type { Account, Budget, Charge, PastPeriod, Reservation } from './budget-schema.ts'

export type {
  Backoff,
  BlobInfo,
  DelayCause,
  ExecutionId,
  Failure,
  FailureInput,
  Fairness,
  FiredId,
  FiringCause,
  FlowId,
  Instant,
  LimitRef,
  Outcome,
  PayloadEncoding,
  Retentions,
  RetryPolicy,
  Tag,
} from './base-records.ts'
export type {
  Attempt,
  AttemptKind,
  AttemptOutcome,
  BlockCause,
  CancelRequest,
  Execution,
  ExecutionState,
  Fence,
  FollowUp,
  InputRefusals,
  Lease,
  LeaseEnd,
  NextAttempt,
  Parent,
  Phase,
  Queue,
  Rotation,
  Share,
  Unadmitted,
  Unwinding,
} from './execution-schema.ts'
export type { Lane, LaneHold, LaneLimit } from './lane-schema.ts'
export type {
  Edge,
  EdgeGroup,
  EdgeState,
  EdgeTolerance,
  Flow,
  FlowCancelPolicy,
  FlowFollowUp,
  FlowOutcome,
  FlowState,
  FlowWalk,
  GivenInput,
  GroupPolicy,
  GroupVerdict,
  Handover,
  Losers,
  MemberCounts,
  Membership,
  OutcomeRule,
  PendingEdge,
  PendingGraph,
  PendingNode,
  Submission,
} from './flow-schema.ts'
export type { AuditEntry } from './audit-schema.ts'
export type { Duties } from './duties-schema.ts'
export type { FrameChunk, Stream } from './stream-schema.ts'
export type { Worker } from './worker-schema.ts'
export type { Gate, Gauge, Holding, Limit } from './limit-schema.ts'
export type { Consumer } from './consumer-schema.ts'
export type { Account, Budget, Charge, PastPeriod, Reservation } from './budget-schema.ts'
export type { Schedule } from './schedule-schema.ts'
export type { OrderFailure, ShapedBy, ShapingKey, ShapingKind } from './shaping-schema.ts'

/** The schema of each record type. */
export const recordSchemas = {
  execution,
  attempt,
  queue,
  flow,
  edge,
  step,
  waitpoint,
  signal,
  worker,
  share,
  rotation,
  lane,
  limit_definition: limit,
  gauge,
  holding,
  gate,
  duties,
  stream,
  frame_chunk: frameChunk,
  schedule,
  consumer,
  budget,
  account,
  reservation,
  charge,
  past_period: pastPeriod,
  shaping_key: shapingKey,
  audit_entry: auditEntry,
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
  worker: Worker
  share: Share
  rotation: Rotation
  lane: Lane
  limit_definition: Limit
  gauge: Gauge
  holding: Holding
  gate: Gate
  duties: Duties
  stream: Stream
  frame_chunk: FrameChunk
  schedule: Schedule
  consumer: Consumer
  budget: Budget
  account: Account
  reservation: Reservation
  charge: Charge
  past_period: PastPeriod
  shaping_key: ShapingKey
  audit_entry: AuditEntry
}

export type RecordType = keyof RecordTypes
export type AnyRecord = RecordTypes[RecordType]
