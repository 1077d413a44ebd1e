/** What a program imports from `flowfabric`: the contract, and what submits and runs work. */
export * from './contract.ts'

export { callModel, tokenCost, tokenUsage } from './client/define/model-call.ts'
export type { ModelCall, TokenPrices, TokenUsage } from './client/define/model-call.ts'
export { createFabric } from './fabric/fabric.ts'
export type {
  DeliverWebhooksOptions,
  EngineSettings,
  Fabric,
  FabricOptions,
  FabricWorkerOptions,
} from './fabric/fabric.ts'
export type { SweepOffloadedOptions } from './fabric/sweep-offloaded.ts'
export type { Middleware } from './worker/attempt/middleware.ts'
export type { WorkerOptions } from './worker/worker-options.ts'
export type { Settled } from './worker/attempt/report-outcome.ts'
export type { WorkerState, WorkerStats, WorkerSummary } from './worker/worker-stats.ts'
export type { Worker, WorkerCloseOptions } from './worker/worker.ts'
export type { Engine, ScannerStatus } from './engine/engine.ts'
export type { MetricsRegistry } from './runtime/metrics.ts'
export type { OpenTelemetryApi } from './runtime/tracing.ts'

export type { WebhookDeliverer } from './fabric/webhooks/deliverer.ts'
export type {
  DefinedWebhook,
  Delivery,
  HoldWebhookOptions,
  ListDeliveriesOptions,
  RotateWebhookOptions,
  WebhookCalls,
  WebhookOptions,
} from './client/webhooks/webhook-calls.ts'
export type { WebhookSummary } from './client/webhooks/webhook-listing.ts'
export type { Consumer } from './client/consumers/consumer.ts'
export type { ConsumerHandle, SeekOptions } from './client/consumers/consumer-handle.ts'
export type {
  ConsumerDescription,
  ConsumerPartition,
  ConsumerSummary,
  ListConsumersOptions,
} from './client/consumers/consumer-listing.ts'
export type {
  ConsumeContext,
  ConsumeOptions,
  ConsumerFilter,
  ConsumerGap,
  EventHandler,
} from './client/consumers/consumer-options.ts'
export type { AnswerResult } from './client/journal/answer-result.ts'
export type {
  ContinueOrderOptions,
  DescribedParts,
  ReplayOptions,
  RevokeOptions,
} from './client/executions/execution-calls.ts'
export type { CancelOptions } from './client/executions/cancel-options.ts'
export type {
  ChildSummary,
  Dependencies,
  ExecutionDescription,
  ExecutionSummary,
  JournalCounts,
  ParentSummary,
  ShapingOrigin,
  Suspension,
} from './client/executions/description.ts'
export type { ExecutionHandle } from './client/executions/execution-handle.ts'
export type {
  AnswerOptions,
  CloseWaitpointOptions,
  ReissueOptions,
  ResumeOptions,
  SignalReceipt,
  SignalSendOptions,
} from './client/journal/journal-calls.ts'
export type { JoinSummary, ReadOptions, SignalSummary, StepSummary, WaitSummary } from './client/lists/step-listing.ts'
export type {
  ExecutionWaitpointsOptions,
  ListWaitpointsOptions,
  WaitpointPage,
  WaitpointSummary,
} from './client/lists/waitpoint-listing.ts'
export type { CreateFlowOptions, FlowCancelOptions, FlowSubmitOptions } from './client/flows/flow-options.ts'
export type {
  FlowCancel,
  FlowDescription,
  FlowSummary,
  MemberSummary,
  UpstreamSummary,
} from './client/flows/flow-description.ts'
export type { FlowCancelled, FlowHandle, FlowHandleCancelOptions, MembersOptions } from './client/flows/flow-handle.ts'
export type { Activity, ActivityBucket, ActivityOptions, Latencies } from './client/lists/activity.ts'
export type { Costs, CostsOptions } from './client/budgets/budget-costs.ts'
export type { FailureGroup, FailureGroups, FailuresOptions } from './client/lists/failure-groups.ts'
export type { Bulk, BulkFilter, BulkOptions, BulkPreview } from './fabric/bulk.ts'
export type { BulkOutcome } from './fabric/bulk-task.ts'
export type { RetentionOptions } from './client/define/retention.ts'
export type { FlowPage, FlowQuery, ListFlowsOptions } from './client/lists/flow-listing.ts'
export type { FlowMember } from './client/flows/flow-member.ts'
export type { FlowProgress } from './client/flows/flow-submission.ts'
export type { HoldLaneOptions, LaneHandle, LaneSettings, LaneStatus } from './client/lanes/lane-handle.ts'
export type { LaneSummary, LanesOptions } from './client/lanes/lane-listing.ts'
export type { LaneRates } from './client/lanes/lane-rates.ts'
export { schedule } from './client/define/schedule.ts'
export type {
  FiringTimes,
  FlowScheduleOptions,
  FlowScheduleTimes,
  ScheduleDefinition,
  ScheduleOptions,
  ScheduleTimes,
} from './client/define/schedule.ts'
export type {
  BudgetCalls,
  BudgetChange,
  BudgetHistory,
  BudgetKeyOptions,
  DefineBudgetOptions,
  DescribeBudgetOptions,
  HistoryOptions,
  Ledger,
  RaiseBudgetOptions,
  ResetBudgetOptions,
} from './client/budgets/budget-calls.ts'
export type {
  BudgetDescription,
  BudgetInfo,
  DimensionUse,
  KeySpending,
  LedgerEntry,
  PeriodSums,
} from './client/budgets/budget-listing.ts'
export type {
  HoldLimitOptions,
  LimitCalls,
  LimitChange,
  LimitHeld,
  LimitKeyOptions,
} from './client/limits/limit-calls.ts'
export type { DescribeLimitOptions, LimitDescription, LimitInfo, LimitKeyUsage } from './client/limits/limit-listing.ts'
export type {
  BackfillOptions,
  Backfilled,
  DescribeScheduleOptions,
  HoldScheduleOptions,
  ScheduleHandle,
} from './client/schedules/schedule-handle.ts'
export type {
  Fired,
  NextFiring,
  ScheduleDescription,
  ScheduleSummary,
} from './client/schedules/schedule-description.ts'
export type { ListSchedulesOptions, SchedulePage } from './client/schedules/schedule-listing.ts'
export type { FairShare } from './client/define/fairness.ts'
export type { ReadToken, ReadTokenOptions } from './client/journal/read-token.ts'
export { KeyRing } from './client/tokens/key-ring.ts'
export type { KeyRingDocument, KeySource, SigningKey } from './client/tokens/key-ring.ts'
export type { KeysOption } from './client/tokens/keys-option.ts'
export type { ExecutionPage, ListOptions, ListQuery } from './client/lists/listing.ts'
export type { DependencyOptions, OpenFlow } from './client/flows/open-flow.ts'
export type { StagedResult, StagedSubmitOptions } from './client/executions/staging.ts'
export type { SubmitManyItem, SubmitOutcome } from './client/executions/submit-many.ts'
export type { SubmitOptions } from './client/executions/submit.ts'
export type {
  DebounceOptions,
  OrderOptions,
  ShapingOptions,
  SingletonOptions,
  ThrottleOptions,
} from './client/define/shaping.ts'
export type { SubscribeOptions, SubscriptionItem } from './client/events/subscription.ts'
export type { WaitOptions } from './client/events/await-end.ts'
export type { FrameItem, FrameMark, FramesOptions } from './client/streams/read-frames.ts'
export {
  dropCodecKey,
  encryption,
  fileBucket,
  mintCodecKeys,
  offload,
  rotateCodecKeys,
  s3Bucket,
} from './codec/index.ts'
export type {
  Bucket,
  BucketObject,
  CodecKey,
  CodecKeysDocument,
  CodecKeysOption,
  EncryptionOptions,
  OffloadOptions,
  S3BucketOptions,
  S3Credentials,
  SweepReport,
  ValueCodec,
  ValueContext,
} from './codec/index.ts'
export { SealedValue } from './stores/opened-value.ts'
export type { LogItem, LogLine, LogsOptions } from './client/streams/read-logs.ts'
export type { LogLineLevel } from './client/streams/log-line.ts'
export type { Summary, SummaryOptions } from './client/streams/stream-calls.ts'
export type {
  DrainWorkerOptions,
  MarkWorkerDeadOptions,
  WorkerDeath,
  WorkerHandle,
} from './client/workers/worker-handle.ts'
export type { AuditOptions, AuditedAction, AuditedPage } from './client/audit/audit-listing.ts'
export type { ListWorkersOptions, WorkerInfo, WorkerPage } from './client/workers/worker-listing.ts'
export type { LogLevel } from './fabric/create-log.ts'
export type { Log, LogFields } from './runtime/log.ts'
export type { Runtime, Timer } from './runtime/runtime.ts'
export { migrateStore } from './stores/open/migrate-store.ts'
export type {
  LevelMigration,
  MigrateStoreOptions,
  MigrateStoreResult,
  MigrationStep,
  MovedCounts,
  ProcessInfo,
} from './stores/open/migrate-store.ts'
export type { StoredEvent, StoreReport, TransactionHandle } from './stores/store.ts'
export type { PostgresOptions } from './stores/postgres/options/postgres-options.ts'
export type { ValkeyOptions } from './stores/valkey/options/valkey-options.ts'
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
  FiringView,
  FlowCancelPolicy,
  FlowId,
  FlowOutcome,
  GroupPolicy,
  JoinPolicy,
  JoinVerdict,
  Lease,
  Losers,
  MemberCounts,
  MissedPolicy,
  Outcome,
  OutcomeRule,
  Overlap,
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
  SkipReason,
  SourceType,
  StepKind,
  TenantFilter,
} from './kernel/index.ts'
