/**
 * Which operations a remote client may run, and what they need. Those of engines run in the server, and those that repair or look into
 * a store need its location.
 */
import type { OperationName } from '../../kernel/index.ts'
import type { Role, Scope } from '../auth/principal.ts'

export interface OperationAccess {
  readonly role: Role
  /** The role of a caller that presents the fence of the execution. */
  readonly asHolder?: Role
  /** `store`: concerns all namespaces, so a credential of one namespace is refused. */
  readonly scope: Scope
  /** Whether a credential of one namespace gets only what belongs to it, by the field `namespace` of the input. */
  readonly isFiltered?: true
}

const viewer = { role: 'viewer', scope: 'namespace' } as const
const filtered = { ...viewer, isFiltered: true } as const
const overview = { role: 'viewer', scope: 'store' } as const
const worker = { role: 'worker', scope: 'namespace' } as const
const operator = { role: 'operator', scope: 'namespace' } as const
const holder = { ...operator, asHolder: 'worker' } as const
const storeOperator = { role: 'operator', scope: 'store' } as const
const admin = { role: 'admin', scope: 'namespace' } as const
const storeAdmin = { role: 'admin', scope: 'store' } as const

/** Undefined: the operation is refused. */
export const operationAccess: { readonly [N in OperationName]: OperationAccess | undefined } = {
  // Reads.
  describeExecution: viewer,
  explainExecution: viewer,
  listExecutions: filtered,
  readSteps: viewer,
  readSignals: viewer,
  readInputs: viewer,
  readFrames: viewer,
  readLogLines: viewer,
  listWaitpoints: viewer,
  listOpenWaitpoints: filtered,
  describeFlow: viewer,
  listFlows: filtered,
  listFlowMembers: viewer,
  listEdges: viewer,
  describeSchedule: viewer,
  listSchedules: filtered,
  describeConsumer: viewer,
  listConsumers: filtered,
  listWorkers: filtered,
  listQueues: filtered,
  countExecutions: overview,
  listLanes: overview,
  listLimits: overview,
  describeLimit: overview,
  listBudgets: overview,
  describeBudget: overview,
  readPeriods: overview,
  readCharges: viewer,

  // What programs submit and send.
  createExecution: worker,
  submitFlow: worker,
  createFlow: worker,
  addExecutionToFlow: worker,
  addDependency: worker,
  setEdgeGroupPolicy: worker,
  sealFlow: worker,
  deliverSignal: worker,
  renewConsumer: worker,

  // What workers claim and report.
  claimForWorker: worker,
  renewLease: worker,
  completeExecution: worker,
  failExecution: worker,
  releaseExecution: worker,
  delayExecution: worker,
  blockExecution: worker,
  skipExecution: worker,
  updateProgress: worker,
  recordStep: worker,
  suspendExecution: worker,
  createWaitpoint: worker,
  registerCompensation: worker,
  startChildren: worker,
  joinChildren: worker,
  waitForChildren: worker,
  takeSignals: worker,
  appendFrames: worker,
  appendLogLines: worker,
  registerWorker: worker,
  heartbeatWorker: worker,
  unregisterWorker: worker,
  takePermits: worker,
  returnPermits: worker,
  renewPermits: worker,
  wakeWaiting: worker,
  confirmWakes: worker,
  openGates: worker,
  reserveBudget: worker,
  awaitRoom: worker,
  releaseReservation: worker,
  renewReservations: worker,
  settleReservation: worker,
  spendBudget: worker,

  // Limits and budgets that code declares come with what it submits. Other definitions are those of operators.
  defineLimit: storeOperator,
  defineBudget: storeOperator,
  holdLimit: worker,

  // Operators.
  cancelExecution: holder,
  deleteExecution: operator,
  closeWaitpoint: holder,
  reissueWaitpoint: operator,
  resumeExecution: operator,
  replayExecution: operator,
  continueOrder: operator,
  changePriority: operator,
  setTags: operator,
  revokeLease: operator,
  cancelFlow: operator,
  setFlowTags: operator,
  configureSchedule: operator,
  deleteSchedule: operator,
  holdSchedule: operator,
  fireSchedule: operator,
  planSchedule: operator,
  retimeSchedule: operator,
  seekConsumer: operator,
  deleteConsumer: operator,
  configureLane: storeOperator,
  deleteLimit: storeOperator,
  liftHold: storeOperator,
  freezeBudget: storeOperator,
  deleteBudget: storeOperator,
  resetBudget: storeOperator,
  raiseBudget: storeOperator,
  listAuditEntries: { ...operator, isFiltered: true },
  drainWorker: storeOperator,
  changeWebhook: admin,
  markWorkerDead: storeAdmin,

  // Engines, and tools for a store.
  runDue: undefined,
  purgeExecutions: undefined,
  reconcileIndexes: undefined,
  reconcileDependencies: undefined,
  reconcileSiblingCancels: undefined,
  reconcileFlowCancels: undefined,
  reconcileLimits: undefined,
  reconcileBlocked: undefined,
  reconcileBudgets: undefined,
  readReservations: undefined,
  readWakes: undefined,
  findSpenders: undefined,
  retireAccounts: undefined,
  auditFlows: undefined,
  renewDuties: undefined,
  leaveDuties: undefined,
  readUnplanned: undefined,
  planBudget: undefined,
  listUnsweptWorkers: undefined,
  recordWorkerSweep: undefined,
  revokeWorkerLeases: undefined,
  applyLane: undefined,
  confirmLane: undefined,
  inspectPartition: undefined,
  countKept: undefined,
  listKept: undefined,
  recordAuditEntry: undefined,
}
