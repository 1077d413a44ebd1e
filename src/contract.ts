/**
 * What a program imports from `flowfabric/contract`: all that defines work, and nothing that runs it. Reaches no module of
 * Node and no store, so a browser can import tasks and flows and share their types and schemas.
 */
export { approval } from './client/define/approval.ts'
export type { ApprovalAnswer, ApprovalOptions, Vote, WaitpointReference } from './client/define/approval.ts'
export type {
  Child,
  ChildCalls,
  ChildHandle,
  ChildOptions,
  ChildOutcome,
  ChildRaceOptions,
  ChildWinner,
  DetachedChild,
  SpawnOptions,
} from './client/define/children.ts'
export type {
  BudgetOverrun,
  BudgetReservation,
  HandlerWaitpoint,
  ProgressReport,
  SpendOptions,
  SpendReceipt,
  StepContext,
  StepFunction,
  StepOptions,
  TaskContext,
  TokenOptions,
  WaitpointOptions,
} from './client/define/context.ts'
export type { Duration } from './client/define/duration.ts'
export {
  CategorisedError,
  ChildFailedError,
  ChildrenFailedError,
  ExecutionCancelledError,
  ExecutionEndedError,
  LeaseLostError,
  PermanentError,
  BudgetExceededError,
  PostponeError,
  RetryAfterError,
  StepFailedError,
  StepRefusedError,
} from './client/define/errors.ts'
export type { FlowNode, NodeOptions, NodeSettings } from './client/define/flow-node.ts'
export { flow } from './client/define/flow.ts'
export type {
  FlowBuilder,
  FlowDefinition,
  FlowOptions,
  FlowOutput,
  FlowReturn,
  FlowSettings,
} from './client/define/flow.ts'
export type {
  AddMemberOptions,
  AddedMember,
  DependOptions,
  MemberFlow,
  MemberReference,
} from './client/define/member-flow.ts'
export type {
  ExponentialBackoff,
  FixedBackoff,
  RetryOptions,
  ShouldRetry,
  StepRetryOptions,
} from './client/define/retry.ts'
export { budget, usd } from './client/define/budget.ts'
export type {
  BudgetDefinition,
  BudgetEvery,
  BudgetKey,
  BudgetOptions,
  BudgetTerms,
  BudgetUse,
  Spending,
} from './client/define/budget.ts'
export { limit } from './client/define/limit.ts'
export type {
  LimitDefinition,
  LimitOptions,
  LimitTerms,
  LimitedOptions,
  LimitUse,
  RateOptions,
  UseOptions,
} from './client/define/limit.ts'
export type {
  FrameCalls,
  FrameEmitter,
  FrameOptions,
  FrameSchemas,
  InboxMessage,
  SignalSchemas,
  SummaryCalls,
} from './client/define/frames.ts'
export { signal } from './client/define/signal-wait.ts'
export type {
  ConditionPart,
  Sender,
  SignalAnswer,
  SignalOptions,
  SignalWait,
  Unanswered,
} from './client/define/signal-wait.ts'
export type { TaskPolicy, TaskSettings, TimeoutOptions } from './client/define/task-settings.ts'
export type { BatchContext, BatchFunction, BatchItem, BatchOptions } from './client/define/batch.ts'
export { task } from './client/define/task.ts'
export type {
  AnySignals,
  Handler,
  HandlerFunction,
  HandlerOptions,
  SignalsSent,
  Task,
  TaskOptions,
} from './client/define/task.ts'
export type { UpstreamOutcome } from './client/define/upstream-outcome.ts'
export { allOf, anyOf, ended, quorum, upstream } from './client/define/upstreams.ts'
export type {
  AnyInputs,
  OnFailure,
  RaceOptions,
  Upstream,
  UpstreamOptions,
  UpstreamSource,
  Upstreams,
} from './client/define/upstreams.ts'
export type { OnTimeout, WaitSettings } from './client/define/wait-options.ts'
export type { Jsonify } from './client/define/jsonify.ts'
export type { NamedWaitable, ReceivedSignal, Waitable } from './client/define/waitable.ts'
export { when } from './client/define/when.ts'
export type { ConditionAnswer, ConditionWait, CountOptions, OperatorAnswer, Part } from './client/define/when.ts'
export type { Tags } from './client/checks/names.ts'
export { EngineError } from './kernel/engine-error.ts'
export type { ErrorDetail } from './kernel/engine-error.ts'
