/**
 * The records of an execution partition. A record is a plain object with a type and an id. An operation gets a private copy,
 * changes it and puts it back. Absent values are `undefined`.
 */
import { attempt, execution, queue } from './execution-schema.ts'
import type { Attempt, Execution, Queue } from './execution-schema.ts'
import { edge, flow } from './flow-schema.ts'
import type { Edge, Flow } from './flow-schema.ts'
import { signal, step, waitpoint } from './journal-schema.ts'
import type { Signal, Step, Waitpoint } from './journal-schema.ts'

export type {
  BlobInfo,
  DelayCause,
  ExecutionId,
  Failure,
  FailureInput,
  FlowId,
  Instant,
  Outcome,
  PayloadEncoding,
  Tag,
} from './base-records.ts'
export type {
  Attempt,
  AttemptKind,
  AttemptOutcome,
  Backoff,
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
  RetryPolicy,
  Unwinding,
} from './execution-schema.ts'
export type {
  Edge,
  EdgeGroup,
  EdgeState,
  EdgeTolerance,
  Flow,
  FlowCancelPolicy,
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
  Submission,
} from './flow-schema.ts'

/** The schema of each record type. */
export const recordSchemas = { execution, attempt, queue, flow, edge, step, waitpoint, signal }

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
