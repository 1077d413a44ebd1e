/** Every operation under the name that it has everywhere: in stores, clients, routes, commands and metrics. */
import { cancelExecution } from './operations/executions/cancel-execution.ts'
import { deleteExecution } from './operations/executions/delete-execution.ts'
import { changePriority } from './operations/executions/change-priority.ts'
import { claimForWorker } from './operations/leases/claim-for-worker.ts'
import { leaveDuties } from './operations/duties/leave-duties.ts'
import { renewDuties } from './operations/duties/renew-duties.ts'
import { completeExecution } from './operations/leases/complete-execution.ts'
import { deleteConsumer, seekConsumer } from './operations/consumers/change-consumer.ts'
import { changeWebhook } from './operations/consumers/change-webhook.ts'
import { listAuditEntries } from './operations/audit/list-audit-entries.ts'
import { recordAuditEntry } from './operations/audit/record-audit-entry.ts'
import { describeConsumer, listConsumers } from './operations/consumers/read-consumers.ts'
import { renewConsumer } from './operations/consumers/renew-consumer.ts'
import { countExecutions } from './operations/executions/count-executions.ts'
import { createExecution } from './operations/executions/create-execution.ts'
import { delayExecution } from './operations/leases/delay-execution.ts'
import { describeExecution } from './operations/executions/describe-execution.ts'
import { explainExecution } from './operations/executions/explain-execution.ts'
import { failExecution } from './operations/leases/fail-execution.ts'
import { addDependency } from './operations/flows/add-dependency.ts'
import { addExecutionToFlow } from './operations/flows/add-execution-to-flow.ts'
import { auditFlows } from './operations/upkeep/audit-flows.ts'
import { cancelFlow } from './operations/flows/cancel-flow.ts'
import { createFlow } from './operations/flows/create-flow.ts'
import { describeFlow, listEdges, listFlowMembers, listFlows } from './operations/flows/describe-flow.ts'
import { readInputs } from './operations/flows/read-inputs.ts'
import { reconcileFlowCancels, reconcileSiblingCancels } from './operations/upkeep/reconcile-cancels.ts'
import { reconcileDependencies } from './operations/upkeep/reconcile-dependencies.ts'
import { sealFlow } from './operations/flows/seal-flow.ts'
import { setEdgeGroupPolicy } from './operations/flows/set-edge-group-policy.ts'
import { setFlowTags } from './operations/flows/set-flow-tags.ts'
import { submitFlow } from './operations/flows/submit-flow.ts'
import { skipExecution } from './operations/flows/skip-execution.ts'
import { waitForChildren } from './operations/flows/wait-for-children.ts'
import { configureLane } from './operations/lanes/configure-lane.ts'
import { applyLane, confirmLane } from './operations/lanes/copy-lane.ts'
import { listLanes } from './operations/lanes/list-lanes.ts'
import { closeWaitpoint, reissueWaitpoint } from './operations/journal/change-waitpoint.ts'
import { createWaitpoint } from './operations/journal/create-waitpoint.ts'
import { deliverSignal } from './operations/journal/deliver-signal.ts'
import { listOpenWaitpoints, listWaitpoints, readSignals, readSteps } from './operations/journal/read-journal.ts'
import { takeSignals } from './operations/journal/take-signals.ts'
import { appendFrames } from './operations/streams/append-frames.ts'
import { appendLogLines } from './operations/streams/append-log-lines.ts'
import { readFrames } from './operations/streams/read-frames.ts'
import { readLogLines } from './operations/streams/read-log-lines.ts'
import { joinChildren } from './operations/journal/join-children.ts'
import { recordStep } from './operations/journal/record-step.ts'
import { registerCompensation } from './operations/journal/register-compensation.ts'
import { resumeExecution } from './operations/journal/resume-execution.ts'
import { startChildren } from './operations/journal/start-children.ts'
import { suspendExecution } from './operations/journal/suspend-execution.ts'
import { inspectPartition } from './operations/upkeep/inspect-partition.ts'
import { defineLimit, deleteLimit } from './operations/limits/define-limit.ts'
import { describeLimit, listLimits } from './operations/limits/describe-limit.ts'
import { holdLimit, liftHold } from './operations/limits/hold-limit.ts'
import { openGates } from './operations/limits/open-gates.ts'
import { confirmWakes, readWakes, wakeWaiting } from './operations/limits/wake-waiting.ts'
import { renewPermits } from './operations/limits/renew-permits.ts'
import { returnPermits } from './operations/limits/return-permits.ts'
import { takePermits } from './operations/limits/take-permits.ts'
import { reconcileBlocked } from './operations/upkeep/reconcile-blocked.ts'
import { reconcileLimits } from './operations/upkeep/reconcile-limits.ts'
import { BATCH_WORK_LIMIT, OPERATION_WORK_LIMIT } from './limits.ts'
import { continueOrder } from './operations/shaping/continue-order.ts'
import { configureSchedule } from './operations/schedules/configure-schedule.ts'
import { deleteSchedule } from './operations/schedules/delete-schedule.ts'
import { fireSchedule } from './operations/schedules/fire-schedule.ts'
import { holdSchedule } from './operations/schedules/hold-schedule.ts'
import { planSchedule } from './operations/schedules/plan-schedule.ts'
import { describeSchedule, listSchedules, readUnplanned } from './operations/schedules/read-schedules.ts'
import { retimeSchedule } from './operations/schedules/retime-schedule.ts'
import { awaitRoom } from './operations/budgets/await-room.ts'
import { freezeBudget, raiseBudget, resetBudget } from './operations/budgets/change-account.ts'
import { defineBudget, planBudget } from './operations/budgets/define-budget.ts'
import { deleteBudget } from './operations/budgets/delete-budget.ts'
import { describeBudget, listBudgets, readCharges, readPeriods } from './operations/budgets/describe-budget.ts'
import {
  readReservations,
  releaseReservation,
  renewReservations,
  reserveBudget,
} from './operations/budgets/reserve-budget.ts'
import { settleReservation, spendBudget } from './operations/budgets/spend-budget.ts'
import { reconcileBudgets } from './operations/upkeep/reconcile-budgets.ts'
import { findSpenders, retireAccounts } from './operations/upkeep/retire-accounts.ts'
import { listQueues } from './operations/executions/list-queues.ts'
import { listExecutions } from './operations/executions/list-executions.ts'
import { countKept, listKept } from './operations/upkeep/read-kept.ts'
import { purgeExecutions } from './operations/upkeep/purge-executions.ts'
import { reconcileIndexes } from './operations/upkeep/reconcile-indexes.ts'
import { releaseExecution } from './operations/leases/release-execution.ts'
import { blockExecution } from './operations/leases/block-execution.ts'
import { renewLease } from './operations/leases/renew-lease.ts'
import { replayExecution } from './operations/executions/replay-execution.ts'
import { revokeLease } from './operations/leases/revoke-lease.ts'
import { revokeWorkerLeases } from './operations/leases/revoke-worker-leases.ts'
import { runDue } from './operations/due/run-due.ts'
import { setTags } from './operations/executions/set-tags.ts'
import { updateProgress } from './operations/leases/update-progress.ts'
import { drainWorker } from './operations/workers/drain-worker.ts'
import { heartbeatWorker } from './operations/workers/heartbeat-worker.ts'
import { listWorkers } from './operations/workers/list-workers.ts'
import { markWorkerDead } from './operations/workers/mark-worker-dead.ts'
import { registerWorker } from './operations/workers/register-worker.ts'
import { listUnsweptWorkers, recordWorkerSweep } from './operations/workers/sweep-workers.ts'
import { unregisterWorker } from './operations/workers/unregister-worker.ts'

export const operations = {
  createExecution,
  claimForWorker,
  renewLease,
  completeExecution,
  failExecution,
  releaseExecution,
  delayExecution,
  updateProgress,
  cancelExecution,
  revokeLease,
  changePriority,
  deleteExecution,
  setTags,
  replayExecution,
  runDue,
  purgeExecutions,
  countKept,
  listKept,
  reconcileIndexes,
  describeExecution,
  listExecutions,
  countExecutions,
  explainExecution,
  inspectPartition,
  submitFlow,
  createFlow,
  addExecutionToFlow,
  addDependency,
  setEdgeGroupPolicy,
  sealFlow,
  cancelFlow,
  setFlowTags,
  waitForChildren,
  skipExecution,
  readInputs,
  describeFlow,
  listFlows,
  listFlowMembers,
  listEdges,
  reconcileDependencies,
  reconcileSiblingCancels,
  reconcileFlowCancels,
  auditFlows,
  recordStep,
  suspendExecution,
  createWaitpoint,
  deliverSignal,
  resumeExecution,
  closeWaitpoint,
  reissueWaitpoint,
  readSteps,
  readSignals,
  listWaitpoints,
  listOpenWaitpoints,
  registerCompensation,
  startChildren,
  joinChildren,
  listQueues,
  registerWorker,
  heartbeatWorker,
  unregisterWorker,
  drainWorker,
  markWorkerDead,
  listWorkers,
  listUnsweptWorkers,
  recordWorkerSweep,
  revokeWorkerLeases,
  configureLane,
  applyLane,
  confirmLane,
  listLanes,
  defineLimit,
  deleteLimit,
  listLimits,
  describeLimit,
  takePermits,
  returnPermits,
  renewPermits,
  holdLimit,
  liftHold,
  wakeWaiting,
  readWakes,
  confirmWakes,
  reconcileLimits,
  reconcileBlocked,
  blockExecution,
  openGates,
  renewDuties,
  leaveDuties,
  appendFrames,
  readFrames,
  appendLogLines,
  readLogLines,
  takeSignals,
  configureSchedule,
  deleteSchedule,
  describeSchedule,
  fireSchedule,
  holdSchedule,
  listSchedules,
  planSchedule,
  readUnplanned,
  retimeSchedule,
  renewConsumer,
  seekConsumer,
  deleteConsumer,
  describeConsumer,
  listConsumers,
  defineBudget,
  deleteBudget,
  planBudget,
  freezeBudget,
  raiseBudget,
  resetBudget,
  reserveBudget,
  releaseReservation,
  renewReservations,
  settleReservation,
  spendBudget,
  listBudgets,
  describeBudget,
  readCharges,
  readPeriods,
  reconcileBudgets,
  readReservations,
  findSpenders,
  retireAccounts,
  continueOrder,
  changeWebhook,
  awaitRoom,
  recordAuditEntry,
  listAuditEntries,
}

export type OperationName = keyof typeof operations
export type OperationInput<N extends OperationName> = Parameters<(typeof operations)[N]>[1]
export type OperationResult<N extends OperationName> = ReturnType<(typeof operations)[N]>

const FINISHING_OPERATIONS: readonly OperationName[] = [
  'renewLease',
  'completeExecution',
  'failExecution',
  'releaseExecution',
  'delayExecution',
  'updateProgress',
  'cancelExecution',
  'revokeLease',
  'runDue',
  'purgeExecutions',
  'cancelFlow',
  'waitForChildren',
  'skipExecution',
  'reconcileDependencies',
  'reconcileSiblingCancels',
  'reconcileFlowCancels',
  'suspendExecution',
  'joinChildren',
  'resumeExecution',
  'closeWaitpoint',
  'heartbeatWorker',
  'unregisterWorker',
  'revokeWorkerLeases',
  'returnPermits',
  'renewPermits',
  'reconcileLimits',
  'reconcileBlocked',
  'blockExecution',
  'openGates',
  'releaseReservation',
  'renewReservations',
  'settleReservation',
  'spendBudget',
  'reconcileBudgets',
  'retireAccounts',
]

/** Operations that read no ready or due index, or only as a claim does. Those that write nothing read no edges. */
const CLAIMING_OPERATIONS: readonly OperationName[] = [
  'claimForWorker',
  'completeExecution',
  'createExecution',
  'submitFlow',
  'describeExecution',
  'describeFlow',
]

/** Whether an operation may be committed while another batch holds the lock, so that no lease expires meanwhile. */
export function passesLock(name: OperationName): boolean {
  return name === 'renewLease'
}

/**
 * Whether an operation reads ready and due indexes only as a claim does. A batch of such operations may assume that
 * nothing is ready or due if its commit checks that.
 */
export function readsOnlyAsClaims(name: OperationName): boolean {
  return CLAIMING_OPERATIONS.includes(name)
}

/** Whether an operation ends work or releases it, so that even a full store should accept it. */
export function finishesWork(name: OperationName): boolean {
  return FINISHING_OPERATIONS.includes(name)
}

/** Operations that may use the work limit of a whole call. */
const LARGE_OPERATIONS: readonly OperationName[] = ['submitFlow', 'suspendExecution', 'startChildren']

/** How many records an operation may put or remove; a record that it writes again counts once. */
export function workLimitOf(name: OperationName): number {
  return LARGE_OPERATIONS.includes(name) ? BATCH_WORK_LIMIT : OPERATION_WORK_LIMIT
}
