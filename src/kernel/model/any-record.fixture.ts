/** Arbitraries of every record and event that the schema can describe. */
import fc from 'fast-check'
import type { Cell } from './codec.ts'
import { eventTypes } from './events.ts'
import type { FabricEvent } from './events.ts'
import type { Journal, Signal, Step, StepState, Wait, Waitpoint } from './journal-records.ts'
import type {
  AnyRecord,
  Attempt,
  Edge,
  EdgeGroup,
  Execution,
  ExecutionId,
  ExecutionState,
  Failure,
  Flow,
  FlowId,
  FlowState,
  Membership,
  Queue,
} from './records.ts'

/** Plain objects, as the kernel makes them. */
function object<T>(fields: { [K in keyof T]: fc.Arbitrary<T[K]> }): fc.Arbitrary<T> {
  return fc.record(fields, { noNullPrototype: true })
}

const text = fc.string()
const instant = fc.integer({ min: 0, max: 4_000_000_000_000 })
const count = fc.nat(1_000)
const id = text as fc.Arbitrary<ExecutionId>
const flowId = text as fc.Arbitrary<FlowId>

function maybe<T>(value: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> {
  return fc.option(value, { nil: undefined })
}

const outcome = fc.constantFrom('completed', 'failed', 'cancelled', 'expired', 'skipped')
const attemptKind = fc.constantFrom('initial', 'retry', 'reclaim', 'replay')
const failure: fc.Arbitrary<Failure> = object({ category: text, message: text, stack: maybe(text), at: instant })
const blobInfo = object({ size: count, encoding: fc.constantFrom('json', 'bytes') })
const tags = fc.array(object({ name: text, value: text, indexed: fc.boolean() }))
const delayCause = fc.constantFrom('submitted', 'retry', 'worker', 'resume')

const state: fc.Arbitrary<ExecutionState> = fc.oneof(
  object({ phase: fc.constant('eligible') }),
  object({
    phase: fc.constant('delayed'),
    until: instant,
    cause: delayCause,
  }),
  object({
    phase: fc.constant('blocked'),
    by: fc.constantFrom('dependencies', 'budget', 'limit', 'operator', 'hold'),
  }),
  object({
    phase: fc.constant('active'),
    lease: object({
      id: text,
      workerId: text,
      workerInstanceId: text,
      acquiredAt: instant,
      expiresAt: instant,
    }),
    timeoutAt: maybe(instant),
    cancel: maybe(object({ reason: text, by: text, at: instant, forceAt: instant })),
    runningSince: instant,
  }),
  object({
    phase: fc.constant('suspended'),
    step: text,
    reason: text,
    until: maybe(instant),
    remindAt: maybe(instant),
  }),
  object({ phase: fc.constant('ended'), outcome, at: instant, reason: maybe(text), by: maybe(text) }),
)

const group: fc.Arbitrary<EdgeGroup> = object({
  policy: fc.constantFrom('all_of', 'any_of', 'quorum'),
  need: count,
  losers: fc.constantFrom('cancel', 'let_run'),
  total: count,
  completed: count,
  failed: count,
  skipped: count,
  verdict: fc.constantFrom('pending', 'satisfied', 'impossible'),
  decidedAt: maybe(instant),
  owedFrom: maybe(text),
})

const member: fc.Arbitrary<Membership> = object({
  flowId,
  name: text,
  rank: count,
  group: maybe(group),
  delay: maybe(object({ until: instant, cause: delayCause })),
  inputCount: count,
  given: fc.array(object({ name: text, upstreamId: id, result: maybe(blobInfo) }), { maxLength: 3 }),
  payloadEdgeCount: count,
  payloadFrom: maybe(id),
  owesEdges: fc.boolean(),
})

const journal: fc.Arbitrary<Journal> = object({
  life: count,
  firstLife: count,
  nextPosition: count,
  stepCount: count,
  stepBytes: count,
  round: count,
  signalCount: count,
  bufferedCount: count,
  open: fc.array(object({ target: text, since: instant, expiresAt: maybe(instant) }), { maxLength: 3 }),
  cuts: fc.array(object({ from: count, to: count }), { maxLength: 3 }),
  era: count,
  resumed: maybe(object({ step: text, cause: fc.constantFrom('signal', 'operator', 'timeout', 'step_retry') })),
  isRemoving: fc.boolean(),
})

export const execution: fc.Arbitrary<Execution> = object({
  type: fc.constant('execution'),
  id,
  key: maybe(text),
  requestId: maybe(text),
  namespace: text,
  task: text,
  lane: text,
  class: text,
  priority: count,
  tags,
  retry: object({
    attempts: count,
    backoff: fc.oneof(
      object({ kind: fc.constant('fixed'), delayMs: count }),
      object({
        kind: fc.constant('exponential'),
        initialMs: count,
        maxMs: count,
        factor: fc.double({ min: 1, max: 100, noNaN: true }),
      }),
    ),
    jitter: fc.boolean(),
    onlyCategories: fc.array(text),
  }),
  attemptTimeoutMs: maybe(count),
  totalTimeoutMs: maybe(count),
  deadlineAt: maybe(instant),
  retentionMs: count,
  payload: maybe(blobInfo),
  result: maybe(blobInfo),
  createdAt: instant,
  changedAt: instant,
  startedAt: maybe(instant),
  state,
  next: fc.constantFrom('initial', 'retry', 'reclaim', 'replay', 'continue'),
  epoch: count,
  attempt: maybe(
    object({
      number: count,
      kind: attemptKind,
      startedAt: instant,
      usedMs: count,
      workerId: text,
      workerInstanceId: text,
    }),
  ),
  failureCount: count,
  reclaimCount: count,
  replayCount: count,
  failure: maybe(failure),
  progress: maybe(object({ percent: maybe(count), message: maybe(text), at: instant })),
  lastLease: maybe(
    object({
      id: text,
      epoch: count,
      how: fc.constantFrom(
        'completed',
        'failed',
        'cancelled',
        'expired',
        'released',
        'delayed',
        'timed_out',
        'lease_expired',
        'lease_revoked',
        'skipped',
        'parked',
        'suspended',
      ),
      until: maybe(instant),
    }),
  ),
  lastReplay: maybe(object({ requestId: text, reason: maybe(text), by: maybe(text), at: instant })),
  member: maybe(member),
  journal: maybe(journal),
})

const attempt: fc.Arbitrary<Attempt> = object({
  type: fc.constant('attempt'),
  id: text,
  executionId: id,
  number: count,
  kind: attemptKind,
  startedAt: instant,
  endedAt: instant,
  epoch: count,
  workerId: text,
  workerInstanceId: text,
  outcome: fc.constantFrom(
    'completed',
    'failed',
    'timed_out',
    'cancelled',
    'expired',
    'lease_expired',
    'lease_revoked',
  ),
  failure: maybe(failure),
})

const queue: fc.Arbitrary<Queue> = object({
  type: fc.constant('queue'),
  id: text,
  lane: text,
  class: text,
  createdAt: instant,
})

const edge: fc.Arbitrary<Edge> = object({
  type: fc.constant('edge'),
  id: text,
  flowId,
  upstreamId: id,
  downstreamId: id,
  hands: maybe(
    fc.oneof(object({ as: fc.constant('input'), name: text }), object({ as: fc.constant<'payload'>('payload') })),
  ),
  state: fc.constantFrom('open', 'satisfied', 'impossible'),
  result: maybe(blobInfo),
  createdAt: instant,
  resolvedAt: maybe(instant),
})

const flowState: fc.Arbitrary<FlowState> = fc.oneof(
  object({ phase: fc.constant('held'), until: maybe(instant) }),
  object({ phase: fc.constant('open') }),
  object({ phase: fc.constant('sealed') }),
  object({ phase: fc.constant('ended'), outcome: fc.constantFrom('completed', 'failed'), at: instant }),
  object({
    phase: fc.constant('cancelled'),
    policy: fc.constantFrom('cancel_all', 'cancel_pending', 'flow_only'),
    at: instant,
    reason: text,
    by: text,
    force: fc.boolean(),
    graceMs: count,
  }),
)

const flow: fc.Arbitrary<Flow> = object({
  type: fc.constant('flow'),
  id: flowId,
  key: maybe(text),
  requestId: maybe(text),
  namespace: text,
  name: text,
  tags,
  outcomeRule: fc.constantFrom('all_members', 'sinks'),
  retentionMs: count,
  createdAt: instant,
  changedAt: instant,
  state: flowState,
  submission: maybe(object({ digest: text, nodeCount: count, edgeCount: count })),
  memberCount: count,
  edgeCount: count,
  counts: object({
    waiting: count,
    delayed: count,
    rate_limited: count,
    waiting_children: count,
    active: count,
    suspended: count,
    completed: count,
    failed: count,
    cancelled: count,
    expired: count,
    skipped: count,
    superseded: count,
  }),
  failedSinkCount: count,
  shortGroupCount: count,
  cancelsLosers: fc.boolean(),
  hasReplays: fc.boolean(),
  walk: maybe(
    object({
      purpose: fc.constantFrom('release', 'cancel', 'replay', 'remove'),
      fromRank: maybe(count),
      fromId: maybe(text),
      rootId: maybe(id),
    }),
  ),
  version: count,
})

const stepState: fc.Arbitrary<StepState> = fc.oneof(
  object({ phase: fc.constant('completed'), at: instant, value: maybe(blobInfo) }),
  object({ phase: fc.constant('failed'), at: instant, round: count, failure }),
  object({ phase: fc.constant('retrying'), at: instant, until: instant, round: count, failure }),
  object({ phase: fc.constant('open'), since: instant }),
  object({
    phase: fc.constant('closed'),
    at: instant,
    how: fc.constantFrom('satisfied', 'operator', 'timed_out', 'ended'),
    by: maybe(text),
    reason: maybe(text),
  }),
)

const wait: fc.Arbitrary<Wait> = object({
  reason: text,
  until: maybe(instant),
  onTimeout: fc.constantFrom('fail', 'cancel', 'expire', 'resume', 'resume_with_signal', 'escalate'),
  nodes: fc.array(
    object({
      kind: fc.constantFrom('group', 'leaf', 'operator', 'timeout'),
      parent: maybe(count),
      need: count,
      by: fc.constantFrom('once', 'signals', 'sources', 'waitpoints'),
      name: maybe(text),
      from: fc.array(text, { maxLength: 3 }),
      targets: fc.array(text, { maxLength: 3 }),
      has: count,
      seen: fc.array(text, { maxLength: 3 }),
    }),
    { maxLength: 3 },
  ),
  targets: fc.array(text, { maxLength: 3 }),
  resumeDelayMs: maybe(count),
  remindEveryMs: maybe(count),
  reminderCount: count,
  satisfiers: fc.array(count, { maxLength: 3 }),
  closer: maybe(count),
  isEscalated: fc.boolean(),
})

const step: fc.Arbitrary<Step> = object({
  type: fc.constant('step'),
  id: text,
  executionId: id,
  kind: fc.constantFrom('call', 'now', 'waitpoint', 'sleep', 'wait'),
  name: text,
  position: count,
  createdAt: instant,
  attemptCount: count,
  size: count,
  state: stepState,
  wait: maybe(wait),
})

const waitpoint: fc.Arbitrary<Waitpoint> = object({
  type: fc.constant('waitpoint'),
  id: text,
  executionId: id,
  target: text,
  createdAt: instant,
  round: count,
  generation: count,
  keyId: maybe(text),
  signalCount: count,
  bufferedCount: count,
  openedAfter: count,
  senders: fc.array(object({ identity: text, count }), { maxLength: 3 }),
  lastSignalAt: maybe(instant),
  closedAt: maybe(instant),
  closeReason: maybe(text),
  answeredBy: maybe(text),
})

const signal: fc.Arbitrary<Signal> = object({
  type: fc.constant('signal'),
  id: text,
  executionId: id,
  target: text,
  sequence: count,
  round: count,
  key: text,
  name: text,
  source: object({ type: fc.constantFrom('token', 'caller', 'operator', 'engine'), identity: text }),
  payload: maybe(blobInfo),
  effect: fc.constantFrom('resumed', 'counted', 'counted_before', 'not_awaited', 'buffered'),
  isWaiting: fc.boolean(),
  at: instant,
})

export const event: fc.Arbitrary<FabricEvent> = object({
  type: fc.constantFrom(...eventTypes),
  at: instant,
  executionId: id,
  namespace: text,
  task: text,
  lane: text,
  tags: fc.array(text),
  attempt: maybe(count),
  epoch: maybe(count),
  workerId: maybe(text),
  workerInstanceId: maybe(text),
  outcome: maybe(outcome),
  until: maybe(instant),
  reason: maybe(text),
  by: maybe(text),
  category: maybe(text),
  percent: maybe(count),
  priority: maybe(count),
  flowId: maybe(text),
  step: maybe(text),
  waitpoint: maybe(text),
  signal: maybe(text),
  effect: maybe(text),
})

export const record: fc.Arbitrary<AnyRecord> = fc.oneof(execution, attempt, queue, flow, edge, step, waitpoint, signal)

/** A value that a newer schema wrote behind the fields which this one knows. */
export const cell: fc.Arbitrary<Cell> = fc.oneof(text, count, fc.constant<false>(false), fc.array(text))
