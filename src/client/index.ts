export type { Calls } from './calls.ts'
export { storedNodeName } from './checks/hashed-names.ts'
export {
  FABRIC_PREFIX,
  checkKey,
  checkNamespace,
  checkPrincipal,
  checkTagName,
  invalidInput,
  show,
} from './checks/names.ts'
export { checkNeeds } from './checks/needs.ts'
export { decodeValue, encodeValue } from './checks/payload.ts'
export { Client } from './client.ts'
export { APPROVE, REJECT, approval } from './define/approval.ts'
export type { Vote } from './define/approval.ts'
export type {
  ProgressReport,
  StepContext,
  StepFunction,
  StepOptions,
  TaskContext,
  TokenOptions,
} from './define/context.ts'
export { parseDuration } from './define/duration.ts'
export type { Duration } from './define/duration.ts'
export {
  CategorisedError,
  ChildFailedError,
  ChildrenFailedError,
  ExecutionCancelledError,
  ExecutionEndedError,
  LeaseLostError,
  PermanentError,
  PostponeError,
  RetryAfterError,
  StepFailedError,
} from './define/errors.ts'
export type { FlowNode } from './define/flow-node.ts'
export { flow, isFlow } from './define/flow.ts'
export type { AnyFlow, FlowBuilder, FlowDefinition } from './define/flow.ts'
export { budget, checkSpending, usd } from './define/budget.ts'
export type { BudgetUse, Spending } from './define/budget.ts'
export { limit, limitReference } from './define/limit.ts'
export type { LimitDefinition, LimitOptions, LimitUse } from './define/limit.ts'
export type { RetentionOptions } from './define/retention.ts'
export type { RetryOptions } from './define/retry.ts'
export { signal } from './define/signal-wait.ts'
export type { SignalAnswer } from './define/signal-wait.ts'
export type { TaskSettings, TimeoutOptions } from './define/task-settings.ts'
export type { AnyTask, Handler, Task } from './define/task.ts'
export { fieldOf, formOf, jsonSchemaOf } from './define/json-schema.ts'
export type { JsonSchema } from './define/json-schema.ts'
export { isHandler, isTask, task } from './define/task.ts'
export type { UpstreamOutcome } from './define/upstream-outcome.ts'
export { allOf, anyOf, ended, quorum, upstream } from './define/upstreams.ts'
export type { Upstream, Upstreams } from './define/upstreams.ts'
export { callbackAt } from './define/plain-waits.ts'
export type { ReceivedSignal, Waitable } from './define/waitable.ts'
export { when } from './define/when.ts'
export { eventFamilyNames } from './events/event-families.ts'
export type { EventFilterOptions } from './events/event-filter.ts'
export type { ConsumerDescription, ConsumerSummary } from './consumers/consumer-listing.ts'
export type { Delivery } from './webhooks/webhook-calls.ts'
export type { WebhookSummary } from './webhooks/webhook-listing.ts'
export type { SubscribeOptions, SubscriptionItem } from './events/subscription.ts'
export type { CancelOptions } from './executions/cancel-options.ts'
export { describe } from './executions/description.ts'
export type { ExecutionDescription, ExecutionSummary } from './executions/description.ts'
export type { ReplayOptions } from './executions/execution-calls.ts'
export { ExecutionHandle } from './executions/execution-handle.ts'
export { prepareSubmit } from './executions/submit.ts'
export type { SubmitItem, SubmitOptions } from './executions/submit.ts'
export { shapingNames } from './define/shaping.ts'
export { summariseFlow, summariseMember } from './flows/flow-description.ts'
export type { FlowDescription, FlowSummary } from './flows/flow-description.ts'
export { FlowHandle } from './flows/flow-handle.ts'
export type { FlowCancelled, FlowHandleCancelOptions } from './flows/flow-handle.ts'
export { FlowMember } from './flows/flow-member.ts'
export { OpenFlow } from './flows/open-flow.ts'
export type { FrameItem } from './streams/read-frames.ts'
export { logLevels } from './streams/log-line.ts'
export type { LogLineLevel } from './streams/log-line.ts'
export type { LogItem } from './streams/read-logs.ts'
export type { Summary } from './streams/stream-calls.ts'
export type { AskedByToken } from './journal/asked-by-token.ts'
export type { ScheduleDescription, ScheduleSummary } from './schedules/schedule-description.ts'
export type { SignalReceipt } from './journal/journal-calls.ts'
export { approvedAmounts, asksText } from './budgets/budget-question.ts'
export { COSTS_EXAMINE_MAX } from './budgets/budget-costs.ts'
export { ACTIVITY_BUCKETS_MAX, ACTIVITY_EXAMINE_MAX } from './lists/activity.ts'
export type { FailureGroup } from './lists/failure-groups.ts'
export type { FlowPage, ListFlowsOptions } from './lists/flow-listing.ts'
export type { HoldLaneOptions, LaneHandle, LaneStatus } from './lanes/lane-handle.ts'
export type { AnyFlowScheduleOptions, AnyScheduleOptions, FiringTimes } from './define/schedule.ts'
export type { LaneSummary } from './lanes/lane-listing.ts'
export type { ClaimedLease } from './leases/claimed-lease.ts'
export type { LimitDescription, LimitKeyUsage } from './limits/limit-listing.ts'
export type { BudgetDescription, BudgetInfo, LedgerEntry } from './budgets/budget-listing.ts'

export type { ExecutionPage, ListOptions } from './lists/listing.ts'
export type { SignalSummary, StepSummary } from './lists/step-listing.ts'
export type { WaitpointPage, WaitpointSummary } from './lists/waitpoint-listing.ts'
export type { AuditedAction } from './audit/audit-listing.ts'
export type { ListWorkersOptions, WorkerInfo } from './workers/worker-listing.ts'
export { KeyFile, changeKeyFile, readKeyFile } from './tokens/key-file.ts'
export { KEY_GRACE_DEFAULT_MS, KeyRing, isWithin, mintKey } from './tokens/key-ring.ts'
export type { KeySource } from './tokens/key-ring.ts'
export { KEYS_FILE_VARIABLE } from './tokens/keys-option.ts'
export { parsePrivateJson, privateFileVersion, readPrivateFile } from './tokens/private-file.ts'
export type { PrivateFileErrors, PrivateText } from './tokens/private-file.ts'
export { changePrivateFile } from './tokens/private-file-change.ts'
export { READ_TOKEN_PREFIX, TOKEN_MAX_LENGTH } from './tokens/token.ts'
export type { ReadClaims } from './tokens/token.ts'
export { unwrap } from './transport/unwrap.ts'
export {
  executionIdFromKey,
  flowIdFromKey,
  hasFlowIdForm,
  isExecutionId,
  childIdOf,
  memberIdOf,
  mintExecutionId,
  partitionOf,
  shapedExecutionId,
} from './transport/ids.ts'
export { firingAt, memberIdIn } from '../calendar/firing.ts'
export { spendingPrefixOf } from './leases/idempotency-key.ts'
export { keyForHolder } from './checks/signal-names.ts'
export { principalOf } from './checks/visible-text.ts'
export { checkTarget } from './webhooks/webhook-url.ts'
