/** What a program imports from `flowfabric`. */
export { flow } from './client/flow.ts'
export type { FlowBuilder, FlowDefinition, FlowOptions, FlowOutput, FlowReturn, FlowSettings } from './client/flow.ts'
export type { FlowNode, NodeOptions, NodeSettings } from './client/flow-node.ts'
export { allOf, anyOf, quorum } from './client/upstreams.ts'
export type { AnyInputs, RaceOptions, Upstream, UpstreamSource, Upstreams } from './client/upstreams.ts'
export { task } from './client/task.ts'
export type {
  AnySignals,
  Handler,
  HandlerFunction,
  HandlerOptions,
  SignalSchemas,
  SignalsSent,
  Task,
  TaskOptions,
} from './client/task.ts'
export { approval } from './client/approval.ts'
export type { ApprovalAnswer, ApprovalOptions, Vote, WaitpointReference } from './client/approval.ts'
export { signal } from './client/signal-wait.ts'
export type {
  ConditionPart,
  Sender,
  SignalAnswer,
  SignalOptions,
  SignalWait,
  Unanswered,
} from './client/signal-wait.ts'
export { when } from './client/when.ts'
export type { ConditionAnswer, ConditionWait, CountOptions, OperatorAnswer, Part } from './client/when.ts'
export type { ReceivedSignal, Waitable } from './client/wait.ts'
export type { OnTimeout, WaitSettings } from './client/wait-options.ts'
export type { TaskPolicy, TaskSettings, TimeoutOptions } from './client/task-settings.ts'
export type {
  HandlerWaitpoint,
  ProgressReport,
  StepContext,
  StepFunction,
  StepOptions,
  TaskContext,
  WaitpointOptions,
} from './client/context.ts'
export type { AddMemberOptions, AddedMember, DependOptions, MemberFlow, MemberReference } from './client/member-flow.ts'
export type { Duration } from './client/duration.ts'
export type { Tags } from './client/names.ts'
export type { ExponentialBackoff, FixedBackoff, RetryOptions } from './client/retry.ts'

export {
  CategorisedError,
  ExecutionEndedError,
  LeaseLostError,
  PermanentError,
  PostponeError,
  RetryAfterError,
  StepFailedError,
  StepRefusedError,
} from './client/errors.ts'
export { EngineError } from './stores/engine-error.ts'
export type { ErrorDetail } from './stores/engine-error.ts'

export { createFabric } from './worker/fabric.ts'
export type { EngineSettings, Fabric, FabricOptions, FabricWorkerOptions } from './worker/fabric.ts'
export type { Middleware } from './worker/middleware.ts'
export type { WorkerOptions } from './worker/options.ts'
export type { Settled } from './worker/settlement.ts'
export type { WorkerState, WorkerStats, WorkerSummary } from './worker/worker-stats.ts'
export type { Worker, WorkerCloseOptions } from './worker/worker.ts'
export type { Engine, ScannerStatus } from './engine/engine.ts'
export type { MetricsRegistry } from './engine/metrics.ts'

export type { AnswerResult } from './client/answer-result.ts'
export type { DescribedParts, ListQuery, ReplayOptions, RevokeOptions } from './client/calls.ts'
export type { CancelOptions } from './client/cancel-options.ts'
export type {
  Dependencies,
  ExecutionDescription,
  ExecutionSummary,
  JournalCounts,
  Suspension,
} from './client/description.ts'
export type { ExecutionHandle, SignalReceipt } from './client/execution-handle.ts'
export type {
  AnswerOptions,
  CloseWaitpointOptions,
  ReissueOptions,
  ResumeOptions,
  SignalAtOptions,
  SignalSendOptions,
} from './client/journal-calls.ts'
export type { ReadOptions, SignalSummary, StepSummary, WaitSummary } from './client/step-listing.ts'
export type {
  ExecutionWaitpointsOptions,
  ListWaitpointsOptions,
  WaitpointPage,
  WaitpointSummary,
} from './client/waitpoint-listing.ts'
export type { CreateFlowOptions, FlowCancelOptions, FlowQuery, FlowSubmitOptions } from './client/flow-options.ts'
export type {
  FlowCancel,
  FlowDescription,
  FlowSummary,
  MemberSummary,
  UpstreamSummary,
} from './client/flow-description.ts'
export type { FlowCancelled, FlowHandle, FlowHandleCancelOptions, MembersOptions } from './client/flow-handle.ts'
export type { FlowPage, ListFlowsOptions } from './client/flow-listing.ts'
export type { FlowMember } from './client/flow-member.ts'
export type { FlowProgress } from './client/flow-submission.ts'
export { KeyRing } from './client/key-ring.ts'
export type { KeyRingDocument, KeySource, SigningKey } from './client/key-ring.ts'
export type { KeysOption } from './client/keys-option.ts'
export type { ExecutionPage, LaneSummary, ListOptions } from './client/listing.ts'
export type { DependencyOptions, OpenFlow } from './client/open-flow.ts'
export type { StagedResult, StagedSubmitOptions } from './client/staging.ts'
export type { SubmitManyItem, SubmitOutcome } from './client/submit-many.ts'
export type { SubmitOptions } from './client/submit.ts'
export type { SubscribeOptions, SubscriptionItem } from './client/subscription.ts'
export type { TokenOptions } from './client/token-options.ts'
export type { WaitOptions } from './client/wait-for-end.ts'
export type { LogLevel } from './client/log.ts'
export type { Log, LogFields } from './runtime/log.ts'
export type { Runtime, Timer } from './runtime/runtime.ts'
export { migrateStore } from './stores/migrate-store.ts'
export type {
  LevelMigration,
  MigrateStoreOptions,
  MigrateStoreResult,
  MigrationStep,
  MovedCounts,
  ProcessInfo,
} from './stores/migrate-store.ts'
export type { StoredEvent, StoreReport, TransactionHandle } from './stores/store.ts'
export type { PostgresOptions } from './stores/postgres/postgres-options.ts'
export type { ValkeyOptions } from './stores/valkey/valkey-options.ts'
export type {
  Attempt,
  AttemptKind,
  AttemptOutcome,
  CancelResult,
  CloseWaitpointResult,
  CreateResult,
  DeliverSignalResult,
  ErrorCode,
  EventType,
  ExecutionId,
  ExplainResult,
  Explanation,
  Failure,
  FlowCancelPolicy,
  FlowId,
  FlowOutcome,
  GroupPolicy,
  Lease,
  Losers,
  MemberCounts,
  Outcome,
  OutcomeRule,
  PolicyInput,
  Progress,
  PublicFlowState,
  PublicState,
  PriorityResult,
  RefusalDetail,
  Refused,
  ReissueWaitpointResult,
  ReplayResult,
  ResumeResult,
  RetryPolicy,
  RevokeResult,
  SetTagsResult,
  SignalEffect,
  SourceType,
  StepKind,
  TenantFilter,
} from './kernel/index.ts'
