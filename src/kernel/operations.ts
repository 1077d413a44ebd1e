/** Every operation under the name that it has everywhere: in stores, clients, routes, commands and metrics. */
import { cancelExecution } from './cancel-execution.ts'
import { changePriority } from './change-priority.ts'
import { claimForWorker } from './claim-for-worker.ts'
import { completeExecution } from './complete-execution.ts'
import { countExecutions } from './count-executions.ts'
import { createExecution } from './create-execution.ts'
import { delayExecution } from './delay-execution.ts'
import { describeExecution } from './describe-execution.ts'
import { explainExecution } from './explain-execution.ts'
import { failExecution } from './fail-execution.ts'
import { addDependency } from './flows/add-dependency.ts'
import { addExecutionToFlow } from './flows/add-execution-to-flow.ts'
import { auditFlows } from './flows/audit-flows.ts'
import { cancelFlow } from './flows/cancel-flow.ts'
import { createFlow } from './flows/create-flow.ts'
import { describeFlow, listEdges, listFlowMembers, listFlows } from './flows/describe-flow.ts'
import { readInputs } from './flows/member-inputs.ts'
import { reconcileFlowCancels, reconcileSiblingCancels } from './flows/reconcile-cancels.ts'
import { reconcileDependencies } from './flows/reconcile-dependencies.ts'
import { sealFlow } from './flows/seal-flow.ts'
import { setEdgeGroupPolicy } from './flows/set-edge-group-policy.ts'
import { setFlowTags } from './flows/set-flow-tags.ts'
import { submitFlow } from './flows/submit-flow.ts'
import { waitForChildren } from './flows/wait-for-children.ts'
import { closeWaitpoint, reissueWaitpoint } from './journal/change-waitpoint.ts'
import { createWaitpoint } from './journal/create-waitpoint.ts'
import { deliverSignal } from './journal/deliver-signal.ts'
import { listOpenWaitpoints, listWaitpoints, readSignals, readSteps } from './journal/read-journal.ts'
import { recordStep } from './journal/record-step.ts'
import { resumeExecution } from './journal/resume-execution.ts'
import { suspendExecution } from './journal/suspend-execution.ts'
import { inspectPartition } from './inspect-partition.ts'
import { CALL_WORK_LIMIT, OPERATION_WORK_LIMIT } from './limits.ts'
import { listExecutions } from './list-executions.ts'
import { purgeExecutions } from './purge-executions.ts'
import { reconcileIndexes } from './reconcile-indexes.ts'
import { releaseExecution } from './release-execution.ts'
import { renewLease } from './renew-lease.ts'
import { replayExecution } from './replay-execution.ts'
import { revokeLease } from './revoke-lease.ts'
import { runDue } from './run-due.ts'
import { setTags } from './set-tags.ts'
import { updateProgress } from './update-progress.ts'

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
  setTags,
  replayExecution,
  runDue,
  purgeExecutions,
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
  'reconcileDependencies',
  'reconcileSiblingCancels',
  'reconcileFlowCancels',
  'suspendExecution',
  'resumeExecution',
  'closeWaitpoint',
]

/** Whether an operation may be committed while another batch holds the lock: a lease must not run out behind it. */
export function passesLock(name: OperationName): boolean {
  return name === 'renewLease'
}

/**
 * Whether an operation reads nothing of ready and due indexes but what a claim reads: a batch of such operations may assume that
 * nothing is ready or due if its commit checks that.
 */
export function readsOnlyAsClaims(name: OperationName): boolean {
  return name === 'createExecution' || name === 'claimForWorker' || name === 'completeExecution'
}

/** Whether an operation brings work to its end or frees what it held, so that even a store without room should take it. */
export function finishesWork(name: OperationName): boolean {
  return FINISHING_OPERATIONS.includes(name)
}

/** Operations that may do alone what else a whole call may. */
const LARGE_OPERATIONS: readonly OperationName[] = ['submitFlow', 'suspendExecution']

/** How many records an operation may put or remove; one that it writes again counts once. */
export function workLimitOf(name: OperationName): number {
  return LARGE_OPERATIONS.includes(name) ? CALL_WORK_LIMIT : OPERATION_WORK_LIMIT
}
