/** What a program imports from `flowfabric`. */
export { task } from './client/task.ts'
export type {
  Handler,
  HandlerFunction,
  HandlerOptions,
  Task,
  TaskOptions,
  TaskPolicy,
  TaskSettings,
  TimeoutOptions,
} from './client/task.ts'
export type { ProgressReport, TaskContext } from './client/context.ts'
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

export type { CancelOptions, DescribedParts, ListQuery, ReplayOptions, RevokeOptions } from './client/calls.ts'
export type { SubmitManyItem, SubmitOutcome } from './client/client.ts'
export type { ExecutionDescription, ExecutionSummary } from './client/description.ts'
export type { ExecutionHandle, WaitOptions } from './client/execution-handle.ts'
export type { ExecutionPage, LaneSummary, ListOptions } from './client/listing.ts'
export type { StagedResult, StagedSubmitOptions } from './client/staging.ts'
export type { SubmitOptions } from './client/submit.ts'
export type { SubscribeOptions, SubscriptionItem } from './client/subscription.ts'
export type { LogLevel } from './client/log.ts'
export type { Log, LogFields } from './runtime/log.ts'
export type { Runtime, Timer } from './runtime/runtime.ts'
export { migrateStore } from './stores/migrate-store.ts'
export type { MigrateStoreOptions, MigrateStoreResult, MigrationStep } from './stores/migrate-store.ts'
export type { StoredEvent, StoreReport, TransactionHandle } from './stores/store.ts'
export type { PostgresOptions } from './stores/postgres/postgres-options.ts'
export type { ValkeyOptions } from './stores/valkey/valkey-options.ts'
export type {
  Attempt,
  AttemptKind,
  AttemptOutcome,
  CancelResult,
  CreateResult,
  ErrorCode,
  EventType,
  ExecutionId,
  ExplainResult,
  Explanation,
  Failure,
  Lease,
  Outcome,
  Progress,
  PublicState,
  PriorityResult,
  RefusalDetail,
  Refused,
  ReplayResult,
  RetryPolicy,
  RevokeResult,
  SetTagsResult,
  TenantFilter,
} from './kernel/index.ts'
