/** How each operation may run concurrently: what its reads must agree with, and whether it needs the lock. */
import type { OperationInput, OperationName } from './operations.ts'

/**
 * - `snapshot`: writes nothing. All that it reads must be of one moment.
 * - `loose`: may read at several moments, so its answer is not of one. Writes nothing, except that a reconciler repairs
 *   what it finds: a run that turns out to write counts only under the lock.
 * - `optimistic`: writes. Every range that it decides by is guarded or advisory, so conditions on records are enough.
 * - `locked`: may decide by a range without a guard and write.
 */
export type OperationClass = 'snapshot' | 'loose' | 'optimistic' | 'locked'

/** Where the class depends on the input, it is a function of it. */
type ClassFor<N extends OperationName> = OperationClass | ((input: OperationInput<N>) => OperationClass)

export const operationClasses: { readonly [N in OperationName]: ClassFor<N> } = {
  // A replaced execution may leave its queue empty, and an empty queue is removed.
  createExecution: (input) => (input.ifExists === 'replace' ? 'locked' : 'optimistic'),
  // Searches the active executions of a lane, and claims if it finds nothing.
  claimForWorker: (input) => (input.repeated === true ? 'locked' : 'optimistic'),
  renewLease: 'optimistic',
  completeExecution: (input) => (input.next?.repeated === true ? 'locked' : 'optimistic'),
  failExecution: 'optimistic',
  releaseExecution: 'optimistic',
  delayExecution: 'optimistic',
  updateProgress: 'optimistic',
  cancelExecution: 'optimistic',
  revokeLease: 'optimistic',
  changePriority: 'optimistic',
  setTags: 'optimistic',
  replayExecution: 'optimistic',
  runDue: 'optimistic',
  // Removes empty queues.
  purgeExecutions: 'locked',
  deleteExecution: 'locked',
  reconcileIndexes: 'loose',
  describeExecution: 'snapshot',
  listExecutions: 'snapshot',
  countExecutions: 'loose',
  explainExecution: 'snapshot',
  inspectPartition: 'loose',
  submitFlow: 'optimistic',
  createFlow: 'optimistic',
  addExecutionToFlow: 'optimistic',
  addDependency: 'optimistic',
  setEdgeGroupPolicy: 'optimistic',
  sealFlow: 'optimistic',
  cancelFlow: 'optimistic',
  setFlowTags: 'optimistic',
  waitForChildren: 'optimistic',
  skipExecution: 'optimistic',
  readInputs: 'snapshot',
  describeFlow: 'snapshot',
  listFlows: 'snapshot',
  listFlowMembers: 'snapshot',
  listEdges: 'snapshot',
  reconcileDependencies: 'loose',
  reconcileSiblingCancels: 'loose',
  reconcileFlowCancels: 'loose',
  // Compares the counts of a flow with its members: reads of two moments would differ without a fault.
  auditFlows: 'snapshot',
  recordStep: 'optimistic',
  suspendExecution: 'optimistic',
  createWaitpoint: 'optimistic',
  deliverSignal: 'optimistic',
  resumeExecution: 'optimistic',
  closeWaitpoint: 'optimistic',
  reissueWaitpoint: 'optimistic',
  readSteps: 'snapshot',
  readSignals: 'snapshot',
  listWaitpoints: 'snapshot',
  listOpenWaitpoints: 'snapshot',
  registerCompensation: 'optimistic',
  startChildren: 'optimistic',
  joinChildren: 'optimistic',
  listQueues: 'loose',
  countKept: 'loose',
  listKept: 'snapshot',
  registerWorker: 'optimistic',
  heartbeatWorker: 'optimistic',
  unregisterWorker: 'optimistic',
  drainWorker: 'optimistic',
  markWorkerDead: 'optimistic',
  listWorkers: 'snapshot',
  listUnsweptWorkers: 'loose',
  recordWorkerSweep: 'optimistic',
  // Decides by the active executions of a lane.
  revokeWorkerLeases: 'locked',
  configureLane: 'optimistic',
  applyLane: 'optimistic',
  confirmLane: 'optimistic',
  listLanes: 'snapshot',
  defineLimit: 'optimistic',
  deleteLimit: 'optimistic',
  listLimits: 'snapshot',
  describeLimit: 'snapshot',
  takePermits: 'optimistic',
  returnPermits: 'optimistic',
  renewPermits: 'optimistic',
  holdLimit: 'optimistic',
  liftHold: 'optimistic',
  // Decides by the keys of a limit.
  wakeWaiting: 'locked',
  readWakes: 'snapshot',
  confirmWakes: 'optimistic',
  reconcileLimits: 'loose',
  reconcileBlocked: 'loose',
  blockExecution: 'optimistic',
  openGates: 'optimistic',
  renewDuties: 'optimistic',
  leaveDuties: 'optimistic',
  appendFrames: 'optimistic',
  readFrames: 'snapshot',
  appendLogLines: 'optimistic',
  readLogLines: 'snapshot',
  takeSignals: 'optimistic',
  configureSchedule: 'optimistic',
  deleteSchedule: 'optimistic',
  describeSchedule: 'snapshot',
  fireSchedule: 'optimistic',
  holdSchedule: 'optimistic',
  listSchedules: 'snapshot',
  planSchedule: 'optimistic',
  readUnplanned: 'snapshot',
  retimeSchedule: 'optimistic',
  renewConsumer: 'optimistic',
  seekConsumer: 'optimistic',
  deleteConsumer: 'optimistic',
  describeConsumer: 'snapshot',
  listConsumers: 'snapshot',
  defineBudget: 'optimistic',
  // Searches the tree for budgets below it.
  deleteBudget: 'locked',
  planBudget: 'optimistic',
  freezeBudget: 'optimistic',
  raiseBudget: 'optimistic',
  resetBudget: 'optimistic',
  reserveBudget: 'optimistic',
  releaseReservation: 'optimistic',
  renewReservations: 'optimistic',
  settleReservation: 'optimistic',
  spendBudget: 'optimistic',
  listBudgets: 'snapshot',
  describeBudget: 'snapshot',
  readCharges: 'snapshot',
  readPeriods: 'snapshot',
  reconcileBudgets: 'loose',
  readReservations: 'snapshot',
  findSpenders: 'loose',
  // Decides by the ledger and the past periods of accounts.
  retireAccounts: 'locked',
  continueOrder: 'optimistic',
  changeWebhook: 'optimistic',
  awaitRoom: 'optimistic',
  // Numbers entries by the latest one.
  recordAuditEntry: 'locked',
  listAuditEntries: 'snapshot',
}

export function classOf<N extends OperationName>(name: N, input: OperationInput<N>): OperationClass {
  const classFor: ClassFor<N> = operationClasses[name]
  return typeof classFor === 'function' ? classFor(input) : classFor
}

/** Loose operations that write what they repair. */
const REPAIRING_OPERATIONS: readonly OperationName[] = [
  'reconcileIndexes',
  'reconcileDependencies',
  'reconcileSiblingCancels',
  'reconcileFlowCancels',
  'reconcileLimits',
  'reconcileBlocked',
  'reconcileBudgets',
]

/** Whether an operation never writes, so that a store may run it beside a writer. */
export function isReadOperation(name: OperationName): boolean {
  const declared = operationClasses[name]
  return declared === 'snapshot' || (declared === 'loose' && !REPAIRING_OPERATIONS.includes(name))
}
