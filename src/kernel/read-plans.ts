/**
 * Plans what an operation will read, as far as its input shows. A remote store loads all of it in one round trip before
 * the operation runs. A plan is a hint: a read that it omits costs another pass, and a read in vain a little time.
 */
import { attemptId } from './lifecycle/attempts.ts'
import { childStepId } from './lifecycle/children/child-records.ts'
import type { ParentRef } from './lifecycle/children/child-records.ts'
import { resolvedRange } from './lifecycle/flows/inbound.ts'
import { frameChunkKey, liveFramesKey, payloadKey, resultKey } from './model/blob-keys.ts'
import type { CreateInput, SubmitShaping } from './lifecycle/new-execution.ts'
import { DUTIES_ID } from './model/duties-schema.ts'
import type { ClaimInput } from './operations/leases/claim-for-worker.ts'
import { lanesRange } from './operations/lanes/list-lanes.ts'
import type { LimitKey } from './lifecycle/limits/gauges.ts'
import { keysRange, listLimitsRange, namedHoldersRange } from './operations/limits/describe-limit.ts'
import { wakeRange } from './operations/limits/wake-waiting.ts'
import { listFlowsRange } from './operations/flows/describe-flow.ts'
import { accountId, accountIdOf, budgetId, chargeId, isBudgetId, raiseKey } from './model/budget-ids.ts'
import {
  PURGE_INDEX,
  attemptsIndex,
  edgeId,
  gateId,
  gatedIndex,
  gaugeId,
  holdingId,
  membersIndex,
  outboundIndex,
  queueId,
  readyIndex,
  shapingKeyId,
  shareId,
  turnScope,
} from './model/indexes.ts'
import {
  ATTEMPT_HISTORY_MAX,
  CLAIM_COUNT_MAX,
  CLAIM_DUE_COUNT,
  FRAME_PLAN_CHUNKS,
  GATE_RELEASE_MAX,
  INPUT_PAGE_MAX,
  MEMBER_PAGE_MAX,
  PURGE_COUNT_MAX,
  RESOLVE_PAGE_COUNT,
} from './limits.ts'
import { targetsOf } from './rules/condition.ts'
import { isFlowId } from './model/names.ts'
import { laneSettingsId } from './model/lane-names.ts'
import { DEFAULT_NAMESPACE, isFairClass, parseClass } from './model/task-class.ts'
import { frameChunkId, logIdIn } from './rules/stream-ids.ts'
import { mailboxOf, scopeIn, signalIdAt, stepIdIn, stepKey, waitpointIdIn } from './rules/journal-ids.ts'
import { takenRange } from './operations/journal/take-signals.ts'
import { openWaitpointsRange, signalsRange, stepsRange, waitpointsRange } from './operations/journal/read-journal.ts'
import { queuesRange } from './operations/executions/list-queues.ts'
import { listRange } from './operations/executions/list-executions.ts'
import { auditRange } from './operations/audit/list-audit-entries.ts'
import { listConsumersRange } from './operations/consumers/read-consumers.ts'
import type { Usage } from './lifecycle/budgets/charges.ts'
import type { AccountInput } from './operations/budgets/change-account.ts'
import type { BudgetName } from './operations/budgets/define-budget.ts'
import {
  accountsRange,
  chargesRange,
  keyId,
  listBudgetsRange,
  periodsRange,
} from './operations/budgets/describe-budget.ts'
import { treeRange } from './operations/budgets/delete-budget.ts'
import { reservationsRange } from './operations/budgets/reserve-budget.ts'
import { spendersRange } from './operations/upkeep/retire-accounts.ts'
import { keptQueuesRange, oldestKeptRange } from './operations/upkeep/read-kept.ts'
import { listSchedulesRange } from './operations/schedules/read-schedules.ts'
import { listWorkersRange } from './operations/workers/list-workers.ts'
import type { OperationInput, OperationName } from './operations.ts'
import type { RecordType } from './model/records.ts'
import { dueIndexes, dueLimit } from './operations/due/run-due.ts'
import type { Range } from './tx.ts'

/** Collects the planned reads. */
export interface Plan {
  readonly record: (type: RecordType, id: string) => void
  /** A record that is expected to be absent: a store may assume so, and check it at the commit. */
  readonly absent: (type: RecordType, id: string) => void
  readonly blob: (key: string) => void
  /** The first entries of an index, with their executions. Operations of one batch each get their own entries. */
  readonly head: (index: string, limit: number) => void
  /** The same together with the executions' payloads. */
  readonly work: (index: string, limit: number) => void
  /** The head of a ready index for a claim of `count`, with payloads. One entry more shows whether anything remains. */
  readonly claim: (index: string, count: number) => void
  /** Up to `count` due records of `due` or of another index of timers, and the entry after them, which is the next timer. */
  readonly due: (count: number, index?: string) => void
  /** A ready index that gets an entry: a claim of the same batch may find it there. */
  readonly makesReady: (index: string) => void
  /** Members of a flow may become ready: a claim of the same batch may find them. */
  readonly releases: () => void
  /** Any range, with the journal records that it names. */
  readonly page: (range: Range) => void
  /** The same together with their blobs. */
  readonly contents: (range: Range) => void
}

type PlanOf<N extends OperationName> = (plan: Plan, input: OperationInput<N>) => void

export const plans: { readonly [N in OperationName]: PlanOf<N> } = {
  createExecution: (plan, input) => {
    planNew(plan, 'execution', input.executionId, isMinted(input))
    planQueue(plan, input)
    if (input.shaping !== undefined) plan.record('shaping_key', shapingKeyOf(input, input.shaping))
    if ((input.delayMs ?? 0) <= 0) plan.makesReady(readyIndex(input.lane, input.class))
  },
  claimForWorker: planClaim,
  renewLease: planExecution,
  completeExecution: (plan, input) => {
    plan.record('execution', input.executionId)
    planMember(plan, input)
    planParent(plan, input.parent)
    if (input.next !== undefined) planClaim(plan, input.next)
  },
  failExecution: (plan, input) => {
    plan.record('execution', input.executionId)
    plan.record('attempt', attemptId(input.executionId, input.fence.attempt))
    planMember(plan, input)
    planParent(plan, input.parent)
  },
  releaseExecution: planExecution,
  delayExecution: planExecution,
  updateProgress: planExecution,
  cancelExecution: planExecution,
  revokeLease: planExecution,
  changePriority: planExecution,
  deleteExecution: planExecution,
  setTags: planExecution,
  replayExecution: planExecution,
  // A pass that continues further on is rare, and loads what it needs there.
  runDue: (plan, input) => {
    const count = input.from?.id === undefined ? dueLimit(input) : 0
    for (const index of dueIndexes(input)) plan.due(count, index)
  },
  countKept: (plan, input) => plan.page(keptQueuesRange(input)),
  listKept: (plan, input) => plan.page(oldestKeptRange(input)),
  purgeExecutions: (plan, input) => {
    // What a task keeps is read as far as it is removed, and loaded by the second pass.
    if (input.kept === undefined) plan.head(PURGE_INDEX, PURGE_COUNT_MAX + 1)
  },
  reconcileIndexes: () => undefined,
  describeExecution: (plan, input) => {
    plan.record('execution', input.executionId)
    if (input.payload === true) plan.blob(payloadKey(input.executionId))
    if (input.result === true) plan.blob(resultKey(input.executionId))
    if (input.attempts === true) plan.head(attemptsIndex(input.executionId), ATTEMPT_HISTORY_MAX + 1)
  },
  listExecutions: (plan, input) => {
    if (input.flowId !== undefined) plan.record('flow', input.flowId)
    plan.page(listRange(input))
  },
  countExecutions: () => undefined,
  listQueues: (plan, input) => plan.page(queuesRange(input)),
  renewDuties: planDuties,
  leaveDuties: planDuties,
  explainExecution: planExecution,
  inspectPartition: () => undefined,
  submitFlow: (plan, input) => {
    const isNew = isMinted(input)
    planNew(plan, 'flow', input.flowId, isNew && input.nodesBefore === 0 && input.edgesBefore === 0)
    plan.releases()
    const created: Record<string, boolean> = {}
    for (const { create } of input.nodes) {
      created[create.executionId] = true
      planNew(plan, 'execution', create.executionId, isNew && isMinted(create))
      planQueue(plan, create)
    }
    for (const { upstreamId, downstreamId } of input.edges) {
      if (created[upstreamId] !== true) plan.record('execution', upstreamId)
      if (created[downstreamId] !== true) plan.record('execution', downstreamId)
      planNew(plan, 'edge', edgeId(upstreamId, downstreamId), isNew)
    }
  },
  createFlow: planFlow,
  addExecutionToFlow: (plan, input) => {
    plan.record('flow', input.flowId)
    plan.record('execution', input.executionId)
    if (input.create !== undefined) planQueue(plan, input.create)
    for (const { upstreamId } of input.after) {
      plan.record('execution', upstreamId)
      plan.record('edge', edgeId(upstreamId, input.executionId))
    }
    if (input.holder === undefined) return
    plan.record('execution', input.holder.executionId)
    plan.record('edge', edgeId(input.executionId, input.holder.executionId))
  },
  addDependency: (plan, input) => {
    plan.record('flow', input.flowId)
    plan.record('execution', input.upstreamId)
    plan.record('execution', input.downstreamId)
    plan.record('edge', edgeId(input.upstreamId, input.downstreamId))
  },
  setEdgeGroupPolicy: (plan, input) => {
    plan.record('flow', input.flowId)
    plan.record('execution', input.executionId)
  },
  sealFlow: planFlow,
  cancelFlow: (plan, input) => {
    plan.record('flow', input.flowId)
    plan.head(membersIndex(input.flowId), MEMBER_PAGE_MAX + 1)
  },
  setFlowTags: planFlow,
  waitForChildren: planExecution,
  skipExecution: (plan, input) => {
    plan.record('execution', input.executionId)
    planMember(plan, input)
  },
  readInputs: (plan, input) => {
    plan.record('execution', input.executionId)
    if (input.flowId !== undefined) plan.record('flow', input.flowId)
    plan.page(resolvedRange(input.executionId, input.from, INPUT_PAGE_MAX + 1))
  },
  describeFlow: planFlow,
  listFlows: (plan, input) => plan.page(listFlowsRange(input)),
  listFlowMembers: planFlow,
  listEdges: planExecution,
  reconcileDependencies: () => undefined,
  reconcileSiblingCancels: () => undefined,
  reconcileFlowCancels: () => undefined,
  auditFlows: () => undefined,
  recordStep: (plan, input) => {
    plan.record('execution', input.executionId)
    plan.record('step', stepIdIn(input.executionId, stepKey(input.stepKind, input.name)))
  },
  suspendExecution: (plan, input) => {
    plan.record('execution', input.executionId)
    plan.record('step', stepIdIn(input.executionId, stepKey(input.stepKind, input.name)))
    for (const target of targetsOf(input.nodes)) plan.record('waitpoint', waitpointIdIn(input.executionId, target))
  },
  registerCompensation: planExecution,
  createWaitpoint: (plan, input) => {
    plan.record('execution', input.executionId)
    plan.record('step', stepIdIn(input.executionId, stepKey('waitpoint', input.target)))
    plan.record('waitpoint', waitpointIdIn(input.executionId, input.target))
  },
  deliverSignal: (plan, input) => {
    plan.record('execution', input.executionId)
    const waitpointId = waitpointIdIn(input.executionId, input.target)
    plan.record('waitpoint', waitpointId)
    plan.record('signal', signalIdAt(waitpointId, 1, input.key))
  },
  resumeExecution: planExecution,
  closeWaitpoint: planWaitpoint,
  reissueWaitpoint: planWaitpoint,
  readSteps: (plan, input) => {
    plan.record('execution', input.executionId)
    const range = stepsRange(input.executionId, input.from ?? 0, input.limit)
    if (input.values === true) plan.contents(range)
    else plan.page(range)
  },
  readSignals: (plan, input) => {
    plan.record('execution', input.executionId)
    const range = signalsRange(input.executionId, input)
    if (input.payloads === true) plan.contents(range)
    else plan.page(range)
  },
  listWaitpoints: (plan, input) => {
    plan.record('execution', input.executionId)
    plan.page(waitpointsRange(input.executionId, input.cursor))
  },
  listOpenWaitpoints: (plan, input) => plan.page(openWaitpointsRange(input)),
  startChildren: (plan, input) => {
    plan.record('execution', input.executionId)
    if (input.join !== undefined) plan.record('step', stepIdIn(input.executionId, stepKey('join', input.join.name)))
    for (const { name, create } of input.children) {
      plan.record('step', stepIdIn(input.executionId, stepKey('child', name)))
      plan.absent('execution', create.executionId)
      planQueue(plan, create)
    }
  },
  configureLane: (plan, input) => plan.record('lane', laneSettingsId(input.lane, input.namespace ?? DEFAULT_NAMESPACE)),
  applyLane: (plan, input) => plan.record('lane', input.lane.id),
  confirmLane: (plan, input) => plan.record('lane', input.lane),
  listLanes: (plan, input) => plan.page(lanesRange(input)),
  defineLimit: planLimit,
  deleteLimit: planLimit,
  listLimits: (plan, input) => plan.page(listLimitsRange(input)),
  describeLimit: (plan, input) => {
    planLimit(plan, input)
    if (input.key === undefined) plan.page(keysRange(input))
    else {
      const id = gaugeId(input.name, input.key)
      plan.record('gauge', id)
      plan.page(namedHoldersRange(id))
    }
  },
  readWakes: (plan, { id }) => plan.record('gauge', id),
  confirmWakes: (plan, { limit, keys, wakeAt }) => {
    for (const { key } of keys) plan.record('gauge', gaugeId(limit, key))
    if (wakeAt !== undefined) plan.record('budget', limit)
  },
  wakeWaiting: (plan, input) => {
    if (isBudgetId(input.name)) plan.record('budget', input.name)
    else planLimit(plan, input)
    plan.page(wakeRange(input))
  },
  takePermits: (plan, input) => planPermits(plan, input.requests, input.workerInstanceId),
  returnPermits: (plan, input) => planPermits(plan, input.returns, input.workerInstanceId),
  renewPermits: (plan, input) => {
    for (const { limit, key } of input.keys) plan.record('holding', holdingId(limit, key, input.workerInstanceId))
  },
  holdLimit: planLimitKey,
  liftHold: planLimitKey,
  reconcileLimits: () => undefined,
  reconcileBlocked: () => undefined,
  blockExecution: (plan, input) => {
    plan.record('execution', input.executionId)
    plan.record('gate', gateId(input.limit, input.key))
  },
  openGates: (plan, input) => {
    for (const { executionId } of input.executions ?? []) plan.record('execution', executionId)
    for (const { limit, key, permits, afterMs } of input.gates) {
      const id = gateId(limit, key)
      plan.record('gate', id)
      if (afterMs <= 0) plan.head(gatedIndex(id), Math.min(permits, GATE_RELEASE_MAX) + 1)
    }
  },
  joinChildren: (plan, input) => {
    plan.record('execution', input.executionId)
    plan.record('step', stepIdIn(input.executionId, stepKey('join', input.name)))
    for (const name of input.children) plan.record('step', stepIdIn(input.executionId, stepKey('child', name)))
  },
  registerWorker: planWorker,
  heartbeatWorker: planWorker,
  unregisterWorker: planWorker,
  drainWorker: planWorker,
  markWorkerDead: planWorker,
  listWorkers: (plan, input) => {
    if (input.workerInstanceId === undefined) plan.page(listWorkersRange(input))
    else plan.record('worker', input.workerInstanceId)
  },
  listUnsweptWorkers: () => undefined,
  recordWorkerSweep: planWorker,
  revokeWorkerLeases: () => undefined,
  appendFrames: (plan, { executionId, chunk }) => {
    plan.record('execution', executionId)
    plan.record('stream', executionId)
    if (chunk?.extend !== undefined) plan.record('frame_chunk', frameChunkId(executionId, chunk.extend))
  },
  readFrames: (plan, { executionId, chunk, liveAfter = 0 }) => {
    plan.record('execution', executionId)
    plan.record('stream', executionId)
    if (liveAfter > 0) plan.blob(liveFramesKey(executionId))
    for (let i = 0; chunk !== undefined && i < FRAME_PLAN_CHUNKS; i++) {
      const id = frameChunkId(executionId, chunk + i)
      plan.record('frame_chunk', id)
      plan.blob(frameChunkKey(id))
    }
  },
  appendLogLines: (plan, { executionId, chunk }) => {
    const log = logIdIn(executionId)
    plan.record('execution', executionId)
    plan.record('stream', log)
    if (chunk.extend !== undefined) plan.record('frame_chunk', frameChunkId(log, chunk.extend))
  },
  readLogLines: (plan, { executionId, chunk }) => {
    const log = logIdIn(executionId)
    plan.record('execution', executionId)
    plan.record('stream', log)
    for (let i = 0; i < FRAME_PLAN_CHUNKS; i++) {
      const id = frameChunkId(log, chunk + i)
      plan.record('frame_chunk', id)
      plan.blob(frameChunkKey(id))
    }
  },
  takeSignals: (plan, input) => {
    plan.record('execution', input.executionId)
    const mailboxId = waitpointIdIn(input.executionId, mailboxOf(input.name))
    plan.record('waitpoint', mailboxId)
    plan.contents(takenRange(mailboxId, input))
  },
  configureSchedule: planScheduleOf,
  deleteSchedule: planScheduleOf,
  describeSchedule: planScheduleOf,
  fireSchedule: (plan, input) => {
    planScheduleOf(plan, input)
    for (const { executionId } of input.firings) plan.record(isFlowId(executionId) ? 'flow' : 'execution', executionId)
  },
  holdSchedule: planScheduleOf,
  listSchedules: (plan, input) => plan.page(listSchedulesRange(input)),
  planSchedule: planScheduleOf,
  readUnplanned: (plan, input) => {
    for (const id of input.scheduleIds) plan.record('schedule', id)
  },
  retimeSchedule: planScheduleOf,
  renewConsumer: planConsumer,
  seekConsumer: planConsumer,
  deleteConsumer: planConsumer,
  describeConsumer: planConsumer,
  listConsumers: (plan, input) => plan.page(listConsumersRange(input)),
  recordAuditEntry: (plan, { entryId }) => plan.absent('audit_entry', entryId),
  listAuditEntries: (plan, input) => plan.page(auditRange(input)),
  defineBudget: (plan, input) => {
    planBudgetOf(plan, input)
    if (input.parent !== undefined) plan.record('budget', budgetId(input.root, input.parent))
  },
  deleteBudget: (plan, input) => {
    planBudgetOf(plan, input)
    plan.page(treeRange(input))
  },
  planBudget: planBudgetOf,
  freezeBudget: planBudgetOf,
  raiseBudget: (plan, input) => {
    planAccount(plan, input)
    plan.absent('charge', chargeId(input.root, raiseKey(input.name, input.key, input.requestId)))
  },
  resetBudget: planAccount,
  reserveBudget: planUsage,
  releaseReservation: (plan, { root, key }) => plan.record('reservation', chargeId(root, key)),
  renewReservations: (plan, input) => {
    for (const { root, key } of input.reservations) plan.record('reservation', chargeId(root, key))
  },
  settleReservation: planUsage,
  spendBudget: (plan, input) => {
    for (const { name, key } of input.accounts) planAccount(plan, { root: input.root, name, key })
    plan.absent('charge', chargeId(input.root, input.key))
  },
  listBudgets: (plan, input) => plan.page(listBudgetsRange(input)),
  describeBudget: (plan, input) => {
    planBudgetOf(plan, input)
    if (input.key === undefined) plan.page(accountsRange(input))
    else plan.record('account', keyId(input))
  },
  readCharges: (plan, input) => plan.page(chargesRange(input)),
  readPeriods: (plan, input) => plan.page(periodsRange(input)),
  reconcileBudgets: () => undefined,
  readReservations: (plan, input) => plan.page(reservationsRange(input)),
  findSpenders: (plan, input) => {
    for (const id of input.owners) plan.record('execution', id)
    plan.page(spendersRange(input))
  },
  retireAccounts: (plan, input) => {
    for (const id of input.accounts) plan.record('account', id)
  },
  continueOrder: planExecution,
  changeWebhook: planConsumer,
  awaitRoom: (plan, { root, accounts }) => {
    for (const account of accounts) planAccount(plan, { root, ...account })
  },
}

/** Plans the reads of a call. */
export function planCall<N extends OperationName>(plan: Plan, operation: N, input: OperationInput<N>): void {
  const planOf: PlanOf<N> = plans[operation]
  planOf(plan, input)
}

/** Whether an id was minted for this call, so that it exists only if the call is a repetition. */
function isMinted(input: { readonly key?: string | undefined }): boolean {
  return input.key === undefined
}

function planNew(plan: Plan, type: RecordType, id: string, isNew: boolean): void {
  if (isNew) plan.absent(type, id)
  else plan.record(type, id)
}

/** The queue of a new execution, and its place in the fair order of its lane. */
function planQueue(plan: Plan, { lane, class: className, priority, fairness }: CreateInput): void {
  plan.record('queue', queueId(lane, className))
  plan.absent('lane', lane)
  if (fairness === undefined) return
  const scope = turnScope(lane, className, priority)
  plan.record('rotation', scope)
  plan.record('share', shareId(scope, fairness.key))
}

function shapingKeyOf({ namespace, task }: CreateInput, { kind, key }: SubmitShaping): string {
  return shapingKeyId(namespace, kind, task, key)
}

function planExecution(plan: Plan, input: { readonly executionId: string }): void {
  plan.record('execution', input.executionId)
}

/** The id of a waitpoint in the first life of its execution, usually the only one. */
function planWaitpoint(plan: Plan, input: { readonly executionId: string; readonly target: string }): void {
  plan.record('execution', input.executionId)
  plan.record('waitpoint', waitpointIdIn(input.executionId, input.target))
}

function planWorker(plan: Plan, input: { readonly workerInstanceId: string }): void {
  plan.record('worker', input.workerInstanceId)
}

function planLimit(plan: Plan, input: { readonly name: string }): void {
  plan.record('limit_definition', input.name)
}

function planLimitKey(plan: Plan, { limit, key }: LimitKey): void {
  plan.record('limit_definition', limit)
  plan.record('gauge', gaugeId(limit, key))
}

function planPermits(plan: Plan, keys: readonly LimitKey[], workerInstanceId: string): void {
  for (const { limit, key } of keys) {
    planGauge(plan, { limit, key })
    plan.record('holding', holdingId(limit, key, workerInstanceId))
  }
}

function planBudgetOf(plan: Plan, { root, name }: BudgetName): void {
  plan.record('budget', budgetId(root, name))
}

function planAccount(plan: Plan, { root, name, key }: AccountInput): void {
  plan.record('budget', budgetId(root, name))
  plan.record('account', accountId(root, name, key))
}

function planUsage(plan: Plan, { root, key, accounts }: Usage): void {
  for (const account of accounts) planAccount(plan, { root, ...account })
  plan.absent('charge', chargeId(root, key))
  plan.record('reservation', chargeId(root, key))
}

/** The gauge of a key, and the account that may hold it back. */
function planGauge(plan: Plan, { limit, key }: LimitKey): void {
  if (isBudgetId(limit)) {
    plan.record('budget', limit)
    plan.record('account', accountIdOf(limit, key))
  } else plan.record('limit_definition', limit)
  plan.record('gauge', gaugeId(limit, key))
}

function planScheduleOf(plan: Plan, input: { readonly scheduleId: string }): void {
  plan.record('schedule', input.scheduleId)
}

function planConsumer(plan: Plan, input: { readonly consumerId: string }): void {
  plan.record('consumer', input.consumerId)
}

function planDuties(plan: Plan): void {
  plan.record('duties', DUTIES_ID)
}

function planFlow(plan: Plan, input: { readonly flowId: string }): void {
  plan.record('flow', input.flowId)
}

/** The reads of the flow at the end of a member. Members that it releases are often claimed in the same batch. */
function planMember(plan: Plan, input: { readonly executionId: string; readonly flowId?: string | undefined }): void {
  if (input.flowId === undefined) return
  plan.record('flow', input.flowId)
  plan.releases()
  plan.work(outboundIndex(input.executionId), RESOLVE_PAGE_COUNT + 1)
}

/** The records of the parent at the end of a child. The parent is often claimed in the same batch. */
function planParent(plan: Plan, parent: ParentRef | undefined): void {
  if (parent === undefined) return
  const { executionId, life, join } = parent
  plan.record('execution', executionId)
  plan.record('step', childStepId(parent))
  if (join !== undefined) plan.record('step', stepIdIn(scopeIn(executionId, life), join))
  plan.releases()
}

function planClaim(plan: Plan, input: ClaimInput): void {
  plan.due(CLAIM_DUE_COUNT)
  const count = Math.min(input.count, CLAIM_COUNT_MAX)
  for (const queue of input.queues) {
    plan.claim(readyIndex(queue.lane, queue.class), count)
    plan.absent('lane', queue.lane)
    const { namespace } = parseClass(queue.class)
    if (namespace !== DEFAULT_NAMESPACE) plan.absent('lane', laneSettingsId(queue.lane, namespace))
    // Most executions have no priority.
    if (isFairClass(queue.class)) plan.record('rotation', turnScope(queue.lane, queue.class, 0))
  }
  for (const { limit, key, count: held, takesBlocked } of input.permits ?? []) {
    if (takesBlocked === true) plan.head(gatedIndex(gateId(limit, key)), Math.min(held, count))
  }
  for (const { limit, key } of input.exhausted ?? []) plan.record('gate', gateId(limit, key))
}
