export { errorCatalogue } from './errors.ts'
export type { ErrorCode, ErrorEntry } from './errors.ts'
export type { LeaseRefusal } from './lifecycle/fence.ts'
export { PARENT_STOPPED, SIBLING_FAILED } from './lifecycle/endings/cancel-children.ts'
export { countChange } from './lifecycle/flow-counts.ts'
export type { HolderInput } from './lifecycle/flows/flow-guards.ts'
export { nextRank } from './lifecycle/flows/rank-order.ts'
export type { MemberInput, UpstreamEnd } from './lifecycle/flows/upstream-results.ts'
export type { WaitpointView } from './lifecycle/journal/waitpoint-records.ts'
export type { CreateInput, IfExists, SubmitShaping } from './lifecycle/new-execution.ts'
export {
  AHEAD_COUNT_MAX,
  ATTEMPTS_MAX,
  ATTEMPT_HISTORY_MAX,
  BATCH_BYTES,
  BATCH_OPERATION_LIMIT,
  BATCH_REPLY_BYTES,
  BATCH_WORK_LIMIT,
  BUDGET_PAGE_MAX,
  OWN_ACCOUNT_IDLE_MS,
  RESERVATION_RENEW_MAX,
  SPENDER_ACCOUNT_MAX,
  SPENDER_SCAN_COUNT,
  BUDGET_PERIOD_MIN_MS,
  BUDGET_PLAN_MAX,
  CHARGE_RETENTION_MS,
  BUFFERED_SIGNAL_MAX,
  CANCEL_GRACE_DEFAULT_MS,
  CHILD_DEPTH_MAX,
  CHILD_JOIN_MAX,
  CHILD_MAX,
  CHILD_START_MAX,
  CLAIM_BLOB_MAX,
  CLAIM_COUNT_MAX,
  CLAIM_DUE_COUNT,
  CLAIM_INPUT_BYTES,
  CLAIM_INPUT_COUNT,
  CLAIM_PAYLOAD_BYTES,
  CLAIM_QUEUE_COUNT_MAX,
  CLASS_NEEDS_BYTES,
  CLAIM_RECOVERY_SCAN_COUNT,
  COMPENSATION_MAX,
  COMPENSATION_RECLAIM_COUNT,
  COMPENSATION_TIMEOUT_DEFAULT_MS,
  COMPENSATION_WAIT_MS,
  CONDITION_DEPTH_MAX,
  CONDITION_NEED_MAX,
  CONDITION_NODE_MAX,
  CONDITION_SOURCE_MAX,
  COUNT_MAX,
  DELETED_LIMIT_MS,
  DUE_HIDDEN_MS,
  DUE_SCAN_COUNT,
  DURATION_MAX_MS,
  AUDIT_ENTRY_MAX,
  AUDIT_KEEP_MS,
  AUDIT_TARGET_MAX,
  AUDIT_TEXT_LENGTH,
  DUTY_TTL_MS,
  EDGE_PAGE_MAX,
  EXPIRED_WAITPOINT_COUNT,
  FAILURE_MESSAGE_BYTES,
  FLOW_ATOMIC_NODE_MAX,
  FOLLOW_UP_EDGE_MAX,
  FOLLOW_UP_NODE_MAX,
  FRAME_APPEND_BYTES,
  FRAME_APPEND_COUNT,
  FRAME_BYTES,
  FRAME_CHUNK_BYTES,
  FRAME_CHUNK_COUNT,
  FRAME_MAX,
  FRAME_TOTAL_BYTES,
  FRAME_TRIM_COUNT,
  LIVE_FRAME_BYTES,
  LIVE_FRAME_MAX,
  LOG_LINE_BYTES,
  LOG_LINE_MAX,
  LOG_TOTAL_BYTES,
  SUMMARY_BYTES,
  FLOW_EDGE_MAX,
  FLOW_MEMBER_MAX,
  FLOW_RECONCILE_COUNT,
  BLOCKED_RECONCILE_COUNT,
  GATE_OPEN_MAX,
  GATE_RELEASE_MAX,
  GATE_WAIT_MAX_MS,
  GRAPH_SEARCH_MAX,
  INCOMPLETE_RUN_MAX,
  INDEXED_TAG_COUNT_MAX,
  INPUT_NAME_BYTES,
  INPUT_PAGE_MAX,
  IN_DEGREE_MAX,
  KEY_BYTES,
  LANE_BYTES,
  LEASE_TTL_DEFAULT_MS,
  LANE_TASK_COUNT_MAX,
  LANE_WEIGHT_MAX,
  LANE_WEIGHT_MIN,
  SHAPING_MEMORY_MS,
  SHAPING_MERGED_MAX,
  SCHEDULE_BACKFILL_MAX,
  SCHEDULE_FIRE_MAX,
  SCHEDULE_MISSED_AFTER_MS,
  SCHEDULE_MISSED_MAX,
  CONSUMER_ERROR_LENGTH,
  SCHEDULE_PAGE_MAX,
  SCHEDULE_PLAN_MAX,
  SCHEDULE_PLAN_RETRY_MS,
  SCHEDULE_QUEUE_MAX,
  SCHEDULE_READ_MAX,
  SHARE_CHECK_MS,
  SPARE_PERMIT_SHARE,
  LEASE_TTL_MIN_MS,
  LIMIT_HOLD_MAX_MS,
  CLAIM_PERMIT_MAX,
  LIMIT_OVERDUE_MS,
  LIMIT_PAGE_MAX,
  LIMIT_PROBE_MS,
  LIMIT_WAKE_COUNT,
  LINK_BUFFERED_MAX,
  LIST_PAGE_MAX,
  LIST_SCAN_COUNT,
  MEMBER_PAGE_MAX,
  NAME_BYTES,
  NEEDS_BYTES,
  NEEDS_CLASS_MAX,
  NEED_COUNT_MAX,
  NODE_NAME_BYTES,
  OPEN_WAITPOINT_MAX,
  OPERATION_WORK_LIMIT,
  PAST_REQUEST_MAX,
  PAYLOAD_BYTES,
  PERMIT_REQUEST_MAX,
  PRIORITY_MAX,
  PROGRESS_MESSAGE_BYTES,
  PURGE_COUNT_MAX,
  QUEUE_SCAN_COUNT,
  READS_PER_UNIT,
  REASON_BYTES,
  RECLAIM_CAP,
  RECONCILE_SCAN_COUNT,
  REFUSAL_LIMIT_DEFAULT,
  REFUSING_BUILD_LIMIT_DEFAULT,
  REFUSING_BUILD_LIMIT_MAX,
  REPLAY_CAP,
  RESOLVE_PAGE_COUNT,
  RESULT_BYTES,
  RETENTION_DEFAULT_MS,
  RETRY_DELAY_MAX_MS,
  SENDER_MAX,
  SENDER_SIGNAL_MAX,
  SIGNAL_MAX,
  SIGNAL_PAGE_MAX,
  SIGNAL_PAYLOAD_BYTES,
  STACK_BYTES,
  STEP_MAX,
  STEP_NAME_BYTES,
  STEP_PAGE_BYTES,
  STEP_PAGE_MAX,
  STEP_TOTAL_BYTES,
  STEP_VALUE_BYTES,
  SUBMISSION_IDLE_MS,
  TAG_COUNT_MAX,
  TAG_VALUE_BYTES,
  WAITPOINT_EXPIRY_MAX_MS,
  WAITPOINT_PAGE_MAX,
  WINDOW_ENTRY_MAX,
  WORKER_FORGET_MS,
  WORKER_REASON_BYTES,
  WORKER_TASK_MAX,
  WORKER_TTL_DEFAULT_MS,
  WORKER_TTL_MIN_MS,
} from './limits.ts'
export type {
  BlobInfo,
  ExecutionId,
  Failure,
  FailureInput,
  FiredId,
  FlowId,
  Instant,
  LimitRef,
  Outcome,
  RetryPolicy,
  Tag,
} from './model/base-records.ts'
export {
  flowInputKey,
  followUpKey,
  payloadKey,
  payloadKeyOf,
  resultKey,
  scheduleInputKey,
  scheduleNodeKey,
  signalPayloadKey,
  stepValueKey,
} from './model/blob-keys.ts'
export { valueKeyOf } from './rules/step-value.ts'
export { UNKNOWN_VALUES } from './model/codec.ts'
export type { Cell, Field, FieldKind, Variant } from './model/codec.ts'
export { copyRecord } from './model/copy-record.ts'
export {
  concernsHolder,
  eventFields,
  eventOf,
  eventTypes,
  flowSubject,
  isEndEvent,
  laneSubject,
  workerSubject,
} from './model/events.ts'
export type { EventDetail, EventSubject, EventType, FabricEvent } from './model/events.ts'
export type {
  Attempt,
  AttemptKind,
  AttemptOutcome,
  BlockCause,
  CancelRequest,
  Execution,
  ExecutionState,
  Fence,
  InputRefusals,
  Lease,
  Phase,
  Progress,
  Queue,
  Unwinding,
} from './model/execution-schema.ts'
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
  GroupPolicy,
  GroupVerdict,
  Handover,
  Losers,
  MemberCounts,
  Membership,
  OutcomeRule,
  PendingNode,
} from './model/flow-schema.ts'
export type { PartitionFamily } from './model/families.ts'
export { guardOf, recordsNamedBy, recordsReadAfter } from './model/index-guards.ts'
export type { IndexGuard } from './model/index-guards.ts'
export { addAmounts, equalAmounts } from './rules/budget-amounts.ts'
export { accountIdOf, budgetId, isBudgetId, nameInBudgetId, rootInId } from './model/budget-ids.ts'
export {
  CANCEL_BACKLOG_INDEX,
  CREATED_INDEX,
  DUE_INDEX,
  FLOWS_INDEX,
  INBOUND_PREFIX,
  OPEN_EDGES,
  OPEN_WAITPOINTS_INDEX,
  OUTBOUND_PREFIX,
  PURGE_INDEX,
  SIBLING_CANCELS_INDEX,
  WORKERS_INDEX,
  attemptsIndex,
  bufferedSignalsIndex,
  edgeId,
  inboundIndex,
  isNameIndex,
  isReadyIndex,
  isTimersIndex,
  queueOfIndex,
  laneIndex,
  membersIndex,
  outboundIndex,
  queueId,
  readyIndex,
  SHARES_INDEX,
  shareId,
  turnScope,
  signalsIndex,
  stepsIndex,
  consumerId,
  webhookId,
  scheduleId,
  shapingKeyId,
  tagIndex,
  timersIndex,
  waitpointsIndex,
} from './model/indexes.ts'
export type {
  ConditionNode,
  CountBy,
  Join,
  JoinPolicy,
  JoinVerdict,
  Journal,
  SenderCount,
  Signal,
  SignalEffect,
  SignalSource,
  SourceType,
  Step,
  StepKind,
  StepState,
  TimeoutBehaviour,
  Wait,
  WaitEnd,
  Waitpoint,
} from './model/journal-schema.ts'
export type { Gate, Gauge, Holding, Limit, LimitCause, Rate } from './model/limit-schema.ts'
export { SEPARATOR, isFlowId, joinName } from './model/names.ts'
export { DEFAULT_NAMESPACE, fairClass, parseClass, taskClass, taskOfClass } from './model/task-class.ts'
export type { NeedsName } from './model/task-class.ts'
export { NEEDS_SEPARATOR, canonicalNeeds, missingNeeds } from './rules/needs.ts'
export { namedTypes } from './model/named-types.ts'
export { compareKeyed } from './model/order.ts'
export type { IndexEntry, Position } from './model/order.ts'
export { publicState, publicStates } from './model/public-state.ts'
export type { PublicState } from './model/public-state.ts'
export type { AppendFramesInput, AppendFramesResult } from './operations/streams/append-frames.ts'
export type { AppendLogLinesInput } from './operations/streams/append-log-lines.ts'
export type { FramesPage } from './operations/streams/read-frames.ts'
export type {
  Account,
  AnyRecord,
  AuditEntry,
  Budget,
  Charge,
  Duties,
  PastPeriod,
  Reservation,
  FrameChunk,
  Stream,
  FiringCause,
  Consumer,
  Schedule,
  ShapingKey,
  ShapingKind,
  Lane,
  LaneHold,
  LaneLimit,
  RecordType,
  RecordTypes,
  Rotation,
  Share,
  Worker,
} from './model/records.ts'
export {
  DATA_VERSION,
  fieldsOf,
  packEvent,
  packRecord,
  recordTypes,
  unpackEvent,
  unpackRecord,
} from './model/schema.ts'
export { classOf, isReadOperation, operationClasses } from './operation-classes.ts'
export type { OperationClass } from './operation-classes.ts'
export { refuseOutside } from './lifecycle/namespace-boundary.ts'
export { finishesWork, operations, passesLock, readsOnlyAsClaims, workLimitOf } from './operations.ts'
export type { OperationInput, OperationName, OperationResult } from './operations.ts'
export type { DueCaseName } from './operations/due/due-case.ts'
export { dueCases, flowDueCases, runDue } from './operations/due/run-due.ts'
export type { DueInput, DueResult } from './operations/due/run-due.ts'
export { cancelExecution } from './operations/executions/cancel-execution.ts'
export type { CancelResult } from './operations/executions/cancel-execution.ts'
export { changePriority } from './operations/executions/change-priority.ts'
export type { PriorityResult } from './operations/executions/change-priority.ts'
export type { ListedQueue } from './operations/executions/list-queues.ts'
export { countExecutions } from './operations/executions/count-executions.ts'
export type { LaneCounts } from './operations/executions/count-executions.ts'
export { createExecution } from './operations/executions/create-execution.ts'
export type { CreateResult } from './operations/executions/create-execution.ts'
export { describeExecution } from './operations/executions/describe-execution.ts'
export type { DescribeResult } from './operations/executions/describe-execution.ts'
export { explainExecution } from './operations/executions/explain-execution.ts'
export type { ExplainResult, Explanation, LimitBlock, LineBlock } from './operations/executions/explain-execution.ts'
export { listExecutions, matchesListing } from './operations/executions/list-executions.ts'
export type { ListInput } from './operations/executions/list-executions.ts'
export { replayExecution } from './operations/executions/replay-execution.ts'
export type { ReplayFrom, ReplayInput, ReplayResult } from './operations/executions/replay-execution.ts'
export { setTags } from './operations/executions/set-tags.ts'
export type { SetTagsResult } from './operations/executions/set-tags.ts'
export type { AddDependencyInput, AddDependencyResult } from './operations/flows/add-dependency.ts'
export type { AddExecutionInput, AddExecutionResult, UpstreamInput } from './operations/flows/add-execution-to-flow.ts'
export type { CancelFlowInput, CancelFlowResult } from './operations/flows/cancel-flow.ts'
export type { CreateFlowInput, CreateFlowResult } from './operations/flows/create-flow.ts'
export type { FlowInput } from './lifecycle/flows/new-flow.ts'
export type { EdgeInput, NodeInput } from './lifecycle/flows/new-graph.ts'
export type {
  DescribeFlowResult,
  FlowView,
  ListEdgesResult,
  ListMembersResult,
  MemberView,
} from './operations/flows/describe-flow.ts'
export type { SealResult } from './operations/flows/seal-flow.ts'
export type { SetPolicyResult } from './operations/flows/set-edge-group-policy.ts'
export type { SetFlowTagsResult } from './operations/flows/set-flow-tags.ts'
export type { FlowIfExists, SubmitFlowInput, SubmitFlowResult } from './operations/flows/submit-flow.ts'
export type { CloseWaitpointResult, ReissueWaitpointResult } from './operations/journal/change-waitpoint.ts'
export type { CreateWaitpointInput, CreateWaitpointResult } from './operations/journal/create-waitpoint.ts'
export type { DeliverSignalInput, DeliverSignalResult, TokenBinding } from './operations/journal/deliver-signal.ts'
export type { ListedWaitpoint, ReadStepsResult, StepView } from './operations/journal/read-journal.ts'
export type { JoinChildrenInput, JoinChildrenResult } from './operations/journal/join-children.ts'
export type {
  ChildInput,
  StartChildrenInput,
  StartChildrenResult,
  StartedChild,
} from './operations/journal/start-children.ts'
export type { RecordStepInput, RecordStepResult, StepOutcome } from './operations/journal/record-step.ts'
export type { ResumeResult } from './operations/journal/resume-execution.ts'
export type { SuspendInput, SuspendResult } from './operations/journal/suspend-execution.ts'
export type { ContinueOrderResult } from './operations/shaping/continue-order.ts'
export type { ConfigureScheduleInput, ConfigureScheduleResult } from './operations/schedules/configure-schedule.ts'
export type { KeptTask } from './operations/upkeep/read-kept.ts'
export type { DeleteExecutionResult } from './operations/executions/delete-execution.ts'
export type { FireScheduleInput } from './operations/schedules/fire-schedule.ts'
export type { PlanScheduleInput } from './operations/schedules/plan-schedule.ts'
export type { FiringView } from './operations/schedules/read-schedules.ts'
export type { MissedPolicy, Overlap, PlannedFiring, ScheduleTiming, SkipReason } from './model/schedule-schema.ts'
export type {
  ConsumerPosition,
  NewConsumer,
  RenewConsumerInput,
  RenewConsumerResult,
} from './operations/consumers/renew-consumer.ts'
export type { WebhookChange } from './operations/consumers/change-webhook.ts'
export type { ConsumerFailure, ConsumerShare, EventFilter, SealedSecret } from './model/consumer-schema.ts'
export { isMissed, lacksBoundaries } from './rules/schedule-state.ts'
export type { ConfigureLaneInput } from './operations/lanes/configure-lane.ts'
export type { AccountRef, Amounts, BreachPolicy, BudgetPeriod, Spender } from './model/budget-schema.ts'
export type { BudgetWake } from './lifecycle/budgets/accounts.ts'
export { budgetsOf, laneLimitOf, sharedLimitsOf } from './lifecycle/limits/claim-admission.ts'
export { OPEN_RESERVATIONS } from './lifecycle/budgets/charges.ts'
export type { Overrun } from './lifecycle/budgets/charges.ts'
export type { RaiseBudgetInput } from './operations/budgets/change-account.ts'
export type { DefineBudgetInput } from './operations/budgets/define-budget.ts'
export { exhaustedOf, lacksBudgetBoundaries, lastBoundary, nextReset } from './rules/budget-state.ts'
export { ownerInKey } from './model/budget-ids.ts'
export type { AccountName, BudgetCursor } from './operations/upkeep/reconcile-budgets.ts'
export type { DefineLimitInput } from './operations/limits/define-limit.ts'
export type { Holder, KeyUsage } from './operations/limits/describe-limit.ts'
export type { KeyWake, WakeCursor } from './operations/limits/wake-waiting.ts'
export type { PermitReturn, ReturnAnswer } from './operations/limits/return-permits.ts'
export type { NextRoom } from './rules/limit-usage.ts'
export { laneLimitName, laneOfLimit } from './rules/lane-state.ts'
export { parseLaneSettingsId } from './model/lane-names.ts'
export { parseStoredKey, storedKey } from './model/limit-keys.ts'
export type { LimitKey } from './lifecycle/limits/gauges.ts'
export type { Closing } from './lifecycle/limits/gates.ts'
export type { PermitsAtHand } from './lifecycle/limits/claim-admission.ts'
export type { PermitRequest, TakeAnswer, TakeInput } from './operations/limits/take-permits.ts'
export { claimForWorker } from './operations/leases/claim-for-worker.ts'
export type { QueueName } from './operations/leases/claim-candidates.ts'
export type { ClaimInput, ClaimResult, Claimed } from './operations/leases/claim-for-worker.ts'
export type { PlainPlace } from './operations/leases/plain-work.ts'
export { completeExecution } from './operations/leases/complete-execution.ts'
export { delayExecution } from './operations/leases/delay-execution.ts'
export { failExecution } from './operations/leases/fail-execution.ts'
export type { FailInput, FailResult } from './operations/leases/fail-execution.ts'
export { releaseExecution } from './operations/leases/release-execution.ts'
export type { InputRefusal, ReleaseInput } from './operations/leases/release-execution.ts'
export { renewLease } from './operations/leases/renew-lease.ts'
export type { RenewResult } from './operations/leases/renew-lease.ts'
export { revokeLease } from './operations/leases/revoke-lease.ts'
export type { RevokeResult } from './operations/leases/revoke-lease.ts'
export { updateProgress } from './operations/leases/update-progress.ts'
export type { RevokeCursor } from './operations/leases/revoke-worker-leases.ts'
export type { WorkerFacts } from './operations/workers/register-worker.ts'
export type { UnsweptWorker } from './operations/workers/sweep-workers.ts'
export type { AuditCursor, FlowDrift } from './operations/upkeep/audit-flows.ts'
export type { IndexProblem } from './operations/upkeep/index-repair.ts'
export { inspectPartition } from './operations/upkeep/inspect-partition.ts'
export type { Backlog } from './operations/upkeep/inspect-partition.ts'
export { purgeExecutions } from './operations/upkeep/purge-executions.ts'
export type { PurgeInput } from './operations/upkeep/purge-executions.ts'
export type { SiblingCancelOutcome } from './operations/upkeep/reconcile-cancels.ts'
export type { DependencyCursor, DependencyProblem } from './operations/upkeep/reconcile-dependencies.ts'
export type { BlockedCursor, BlockedProblem } from './operations/upkeep/reconcile-blocked.ts'
export type { LimitCursor, LimitProblem } from './operations/upkeep/reconcile-limits.ts'
export { reconcileIndexes } from './operations/upkeep/reconcile-indexes.ts'
export type { ReconcileCursor } from './operations/upkeep/reconcile-indexes.ts'
export { planCall, plans } from './read-plans.ts'
export type { Plan } from './read-plans.ts'
export { restOf } from './rest-of-call.ts'
export { refused } from './results.ts'
export type { RefusalDetail, Refused } from './results.ts'
export { beginCounting, countSignal, isMet } from './rules/condition.ts'
export type { SignalFacts } from './rules/condition.ts'
export { ALL_OF, countEffect, edgeEffect, newGroup, verdictOf } from './rules/edge-group.ts'
export type { PolicyInput } from './rules/edge-group.ts'
export { IN_LINE, UNDER_LEASE } from './lifecycle/phases.ts'
export { dueAt, isAtRest, isKeptForParent, keptMsOf, unwindingUntil } from './rules/execution-state.ts'
export {
  BY_FLOW,
  CONDITION_NOT_MET,
  DEPENDENCY_IMPOSSIBLE,
  LOST_TO_CONDITION,
  LOST_TO_FAILURE,
  LOST_TO_SIBLING,
  UPSTREAM_CONDITION_NOT_MET,
  bucketOf,
  isExcused,
  isFailure,
  noMembers,
  publicFlowState,
  publicFlowStates,
} from './rules/flow-state.ts'
export type { MemberBucket, PublicFlowState } from './rules/flow-state.ts'
export { entriesOf } from './rules/index-entries.ts'
export { isMailbox, mailboxOf, scopeIn, signalIdAt, stepIdIn, stepKey, waitpointIdIn } from './rules/journal-ids.ts'
export { mayRetry, retryDelayMs } from './rules/retry-policy.ts'
export { nextSeed } from './rules/seeded-random.ts'
export type { TenantFilter } from './rules/tenant-filter.ts'
export type { BlobInput, Range, Tx } from './tx.ts'
