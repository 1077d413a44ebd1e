/**
 * The transition table: every operation in every phase, with the phases it may lead to and the codes that refuse it.
 * The compiler requires each cell, the table test proves that exactly these happen, and the page on states is generated
 * from it.
 */
import type { ErrorCode } from './errors.ts'
import type { OperationName, OperationResult } from './operations.ts'
import type { Phase } from './model/records.ts'

/** A phase of an execution, or its absence. */
export type Place = Phase | 'absent'

export const places: readonly Place[] = ['absent', 'eligible', 'delayed', 'blocked', 'active', 'suspended', 'ended']

export interface Transition<C extends ErrorCode = ErrorCode> {
  /** Includes the execution's own phase if the operation may leave it there. */
  readonly to: readonly Place[]
  readonly refused: readonly C[]
}

type RefusalOf<N extends OperationName> = Extract<OperationResult<N>, { readonly kind: 'refused' }>['code']

export type Transitions = {
  readonly [N in OperationName]: Readonly<Record<Place, Transition<RefusalOf<N>>>>
}

function to(...possible: Place[]): Transition<never> {
  return { to: possible, refused: [] }
}

function refuse<C extends ErrorCode>(...codes: C[]): Transition<C> {
  return { to: [], refused: codes }
}

function either<C extends ErrorCode>(possible: readonly Place[], codes: readonly C[]): Transition<C> {
  return { to: possible, refused: codes }
}

const notFound = refuse('execution_not_found')
const notHeld = refuse('execution_not_active')
/** The refusals of a fence: how its lease was lost, or that the execution is not active. */
const lost = refuse('execution_not_active', 'lease_expired', 'lease_revoked')

/** The operations of a holder, and the refusals of a former one. */
function whileHeld(...possible: Place[]): Transition<'stale_lease' | 'lease_expired'> {
  return { to: possible, refused: ['stale_lease', 'lease_expired'] }
}

/** A read leaves the phase unchanged. */
const untouched = {
  eligible: to('eligible'),
  delayed: to('delayed'),
  blocked: to('blocked'),
  active: to('active'),
  suspended: to('suspended'),
  ended: to('ended'),
}

/** An operation on a flow leaves the phase unchanged. */
function inAnyCase<C extends ErrorCode>(...codes: C[]): Readonly<Record<Place, Transition<C>>> {
  return {
    absent: either(['absent'], codes),
    eligible: either(['eligible'], codes),
    delayed: either(['delayed'], codes),
    blocked: either(['blocked'], codes),
    active: either(['active'], codes),
    suspended: either(['suspended'], codes),
    ended: either(['ended'], codes),
  }
}

/** The id belongs to an execution already, or the flow's id to a flow. */
const taken = ['flow_exists', 'input_differs', 'flow_in_progress', 'execution_exists', 'graph_limit_exceeded'] as const

/** Why an execution may not be replaced. */
const noReplacement = [
  'execution_exists',
  'input_differs',
  'execution_in_progress',
  'execution_in_flow',
  'execution_is_child',
] as const

/** Why a flow accepts no member, in any phase of the member. */
const noMember = [
  'flow_not_found',
  'flow_ended',
  'flow_sealed',
  'flow_busy',
  'execution_not_found',
  'execution_not_in_flow',
  'graph_limit_exceeded',
  'invalid_input',
] as const

/** Why a flow accepts no edge to a member, in any phase of the member. */
const noEdge = [
  'self_referencing_edge',
  'flow_not_found',
  'execution_not_found',
  'execution_not_in_flow',
  'dependency_already_exists',
  'flow_ended',
  'flow_sealed',
  'flow_busy',
  'stale_graph_revision',
] as const

/** Why a member that has not ended may not get another dependency. */
const notNow = ['edge_group_already_fired', 'graph_limit_exceeded', 'cycle_detected'] as const

/** Why an execution that has not ended accepts no signal. */
const noSignal = [
  'waitpoint_not_found',
  'waitpoint_closed',
  'token_expired',
  'signal_limit_exceeded',
  'signal_buffer_full',
  // Its time is over, and no due pass has ended it yet.
  'execution_ended',
] as const

const noPolicy = [
  'flow_not_found',
  'execution_not_in_flow',
  'flow_ended',
  'flow_sealed',
  'flow_busy',
  'edge_group_policy_fixed',
] as const

export const transitions: Transitions = {
  createExecution: {
    absent: either(['absent', 'eligible', 'delayed', 'blocked'], ['singleton_taken']),
    eligible: either(['eligible', 'delayed'], noReplacement),
    delayed: either(['delayed', 'eligible'], noReplacement),
    blocked: either(['blocked', 'eligible', 'delayed'], ['execution_exists', 'input_differs', 'execution_in_flow']),
    active: either(['active'], noReplacement),
    suspended: either(['suspended'], noReplacement),
    ended: either(
      ['ended', 'eligible', 'delayed'],
      ['execution_exists', 'input_differs', 'execution_in_flow', 'execution_is_child', 'children_stopping'],
    ),
  },
  claimForWorker: {
    absent: to('absent'),
    eligible: to('eligible', 'active', 'blocked', 'ended'),
    delayed: to('delayed', 'active', 'ended'),
    blocked: to('blocked', 'active', 'ended'),
    active: to('eligible', 'active', 'delayed', 'ended'),
    suspended: to('suspended', 'eligible', 'active', 'blocked', 'ended'),
    ended: to('ended'),
  },
  renewLease: {
    absent: notFound,
    eligible: lost,
    delayed: notHeld,
    blocked: notHeld,
    active: whileHeld('active'),
    suspended: notHeld,
    ended: lost,
  },
  completeExecution: {
    absent: notFound,
    // Its follow-up has begun.
    eligible: either(['eligible'], lost.refused),
    delayed: either(['delayed'], notHeld.refused),
    blocked: notHeld,
    active: whileHeld('ended', 'eligible', 'delayed'),
    suspended: notHeld,
    ended: either(['ended'], lost.refused),
  },
  failExecution: {
    absent: notFound,
    eligible: either(['eligible'], lost.refused),
    delayed: either(['delayed'], notHeld.refused),
    blocked: notHeld,
    active: whileHeld('active', 'delayed', 'eligible', 'ended'),
    suspended: notHeld,
    ended: either(['ended'], lost.refused),
  },
  releaseExecution: {
    absent: notFound,
    eligible: either(['eligible'], lost.refused),
    delayed: either(['delayed'], notHeld.refused),
    blocked: notHeld,
    active: whileHeld('delayed', 'eligible', 'ended'),
    suspended: notHeld,
    ended: either(['ended'], lost.refused),
  },
  delayExecution: {
    absent: notFound,
    eligible: either(['eligible'], lost.refused),
    delayed: either(['delayed'], notHeld.refused),
    blocked: notHeld,
    active: whileHeld('delayed', 'eligible', 'ended'),
    suspended: notHeld,
    ended: either(['ended'], lost.refused),
  },
  updateProgress: {
    absent: notFound,
    eligible: lost,
    delayed: notHeld,
    blocked: notHeld,
    active: whileHeld('active'),
    suspended: notHeld,
    ended: lost,
  },
  appendFrames: {
    absent: notFound,
    eligible: lost,
    delayed: notHeld,
    blocked: notHeld,
    active: either(['active'], [...whileHeld().refused, 'invalid_input']),
    suspended: notHeld,
    ended: lost,
  },
  readFrames: { ...untouched, absent: notFound },
  appendLogLines: {
    absent: notFound,
    eligible: either(['eligible'], ['stale_lease', 'invalid_input']),
    delayed: either(['delayed'], ['stale_lease', 'invalid_input']),
    blocked: either(['blocked'], ['stale_lease', 'invalid_input']),
    active: either(['active'], ['stale_lease', 'invalid_input']),
    suspended: either(['suspended'], ['stale_lease', 'invalid_input']),
    // Nothing is added to an execution that is being removed.
    ended: either(['ended'], ['execution_not_found', 'stale_lease', 'invalid_input']),
  },
  readLogLines: { ...untouched, absent: notFound },
  takeSignals: {
    absent: notFound,
    eligible: lost,
    delayed: notHeld,
    blocked: notHeld,
    active: whileHeld('active'),
    suspended: notHeld,
    ended: lost,
  },
  cancelExecution: {
    absent: notFound,
    eligible: either(['eligible', 'ended'], lost.refused),
    delayed: either(['delayed', 'ended'], notHeld.refused),
    blocked: either(['eligible', 'ended'], notHeld.refused),
    active: whileHeld('active', 'ended', 'eligible', 'delayed'),
    suspended: either(['eligible', 'ended'], notHeld.refused),
    ended: either(['ended'], ['execution_ended']),
  },
  revokeLease: {
    absent: notFound,
    eligible: either(['eligible'], ['no_active_lease']),
    delayed: refuse('no_active_lease'),
    blocked: refuse('no_active_lease'),
    active: either(['eligible', 'ended'], ['stale_lease']),
    suspended: refuse('no_active_lease'),
    ended: either(['ended'], ['no_active_lease']),
  },
  changePriority: {
    ...untouched,
    absent: notFound,
    ended: refuse('execution_ended'),
  },
  deleteExecution: {
    absent: notFound,
    eligible: refuse('execution_not_ended'),
    delayed: refuse('execution_not_ended'),
    blocked: refuse('execution_not_ended'),
    active: refuse('execution_not_ended'),
    suspended: refuse('execution_not_ended'),
    ended: either(['absent'], ['execution_in_flow', 'execution_is_child', 'children_stopping', 'execution_not_found']),
  },
  setTags: {
    absent: notFound,
    eligible: either(['eligible'], ['invalid_input']),
    delayed: either(['delayed'], ['invalid_input']),
    blocked: either(['blocked'], ['invalid_input']),
    active: either(['active'], ['invalid_input']),
    suspended: either(['suspended'], ['invalid_input']),
    ended: either(['ended'], ['invalid_input', 'retention_over']),
  },
  replayExecution: {
    absent: notFound,
    eligible: either(['eligible'], ['execution_not_ended']),
    delayed: refuse('execution_not_ended'),
    blocked: either(['blocked'], ['execution_not_ended']),
    active: refuse('execution_not_ended'),
    suspended: refuse('execution_not_ended'),
    ended: either(
      ['eligible', 'blocked'],
      [
        'replays_exhausted',
        'flow_ended',
        'flow_busy',
        'upstream_not_replayed',
        'step_not_found',
        'retention_over',
        'execution_is_child',
        'children_stopping',
      ],
    ),
  },
  runDue: {
    absent: to('absent'),
    eligible: to('eligible', 'ended'),
    delayed: to('delayed', 'eligible', 'ended'),
    blocked: to('blocked', 'eligible', 'delayed', 'ended'),
    active: to('active', 'eligible', 'delayed', 'ended'),
    suspended: to('suspended', 'eligible', 'blocked', 'ended'),
    ended: to('ended'),
  },
  purgeExecutions: { ...untouched, absent: to('absent'), ended: to('ended', 'absent') },
  reconcileIndexes: { ...untouched, absent: to('absent') },
  describeExecution: { ...untouched, absent: notFound },
  listExecutions: { ...untouched, absent: to('absent') },
  countExecutions: { ...untouched, absent: to('absent') },
  listQueues: { ...untouched, absent: to('absent') },
  countKept: { ...untouched, absent: to('absent') },
  listKept: { ...untouched, absent: to('absent') },
  renewDuties: { ...untouched, absent: to('absent') },
  leaveDuties: { ...untouched, absent: to('absent') },
  explainExecution: { ...untouched, absent: notFound },
  inspectPartition: { ...untouched, absent: to('absent') },
  submitFlow: {
    absent: either(
      ['absent', 'eligible', 'blocked'],
      [
        'flow_exists',
        'input_differs',
        'flow_in_progress',
        'graph_limit_exceeded',
        'execution_not_found',
        'cycle_detected',
        'unreachable_quorum',
        'invalid_input',
      ],
    ),
    eligible: either(['eligible'], taken),
    delayed: either(['delayed'], taken),
    blocked: either(['blocked', 'eligible'], taken),
    active: either(['active'], taken),
    suspended: either(['suspended'], taken),
    ended: either(['ended', 'absent'], taken),
  },
  createFlow: inAnyCase('flow_exists'),
  addExecutionToFlow: {
    absent: either(['eligible', 'blocked', 'ended'], noMember),
    eligible: either(
      ['eligible', 'blocked', 'ended'],
      [...noMember, 'execution_in_flow', 'execution_is_child', 'not_runnable', ...lost.refused],
    ),
    delayed: either(
      ['delayed', 'blocked', 'ended'],
      [...noMember, 'execution_in_flow', 'execution_is_child', 'not_runnable', ...notHeld.refused],
    ),
    blocked: either(['blocked'], [...noMember, 'execution_in_flow', 'not_runnable', ...notHeld.refused]),
    active: either(
      ['active'],
      [
        ...noMember,
        'execution_in_flow',
        'execution_is_child',
        'not_runnable',
        'edge_group_already_fired',
        ...whileHeld('active').refused,
      ],
    ),
    suspended: either(
      ['suspended'],
      [...noMember, 'execution_in_flow', 'execution_is_child', 'not_runnable', ...notHeld.refused],
    ),
    ended: either(
      ['ended'],
      [...noMember, 'execution_in_flow', 'execution_is_child', 'execution_ended', ...lost.refused],
    ),
  },
  addDependency: {
    absent: refuse('flow_not_found', 'execution_not_found', 'self_referencing_edge'),
    eligible: either(
      ['blocked', 'eligible', 'ended'],
      [...noEdge, ...notNow, 'not_runnable', 'invalid_input', ...lost.refused],
    ),
    delayed: either(
      ['blocked', 'delayed', 'ended'],
      [...noEdge, ...notNow, 'not_runnable', 'invalid_input', ...notHeld.refused],
    ),
    blocked: either(
      ['blocked', 'eligible', 'ended'],
      [...noEdge, ...notNow, 'not_runnable', 'invalid_input', ...notHeld.refused],
    ),
    active: either(['active'], [...noEdge, ...notNow, 'not_runnable', ...whileHeld('active').refused]),
    suspended: either(['suspended'], [...noEdge, 'not_runnable', ...notHeld.refused]),
    ended: either(['ended'], [...noEdge, 'execution_ended', ...lost.refused]),
  },
  setEdgeGroupPolicy: {
    absent: refuse('flow_not_found', 'execution_not_found'),
    eligible: either(['eligible'], noPolicy),
    delayed: either(['delayed'], noPolicy),
    blocked: either(['blocked'], noPolicy),
    active: either(['active'], noPolicy),
    suspended: either(['suspended'], noPolicy),
    ended: either(['ended'], noPolicy),
  },
  sealFlow: {
    ...inAnyCase('flow_not_found', 'flow_ended', 'flow_busy', 'unreachable_quorum'),
    blocked: either(
      ['blocked', 'eligible', 'delayed', 'ended'],
      ['flow_not_found', 'flow_ended', 'flow_busy', 'flow_sealed', 'unreachable_quorum'],
    ),
  },
  cancelFlow: {
    absent: either(['absent'], ['flow_not_found']),
    eligible: either(['eligible', 'ended'], ['flow_not_found']),
    delayed: either(['delayed', 'ended'], ['flow_not_found']),
    blocked: either(['blocked', 'eligible', 'delayed', 'ended'], ['flow_not_found']),
    active: either(['active', 'ended'], ['flow_not_found']),
    suspended: either(['suspended', 'ended'], ['flow_not_found']),
    ended: either(['ended'], ['flow_not_found', 'flow_ended']),
  },
  setFlowTags: inAnyCase('flow_not_found', 'retention_over', 'invalid_input'),
  waitForChildren: {
    absent: notFound,
    eligible: lost,
    delayed: notHeld,
    blocked: either(['blocked'], notHeld.refused),
    active: either(['active', 'blocked', 'ended'], [...whileHeld('active').refused, 'execution_not_in_flow']),
    suspended: notHeld,
    ended: either(['ended'], lost.refused),
  },
  skipExecution: {
    absent: notFound,
    eligible: lost,
    delayed: notHeld,
    blocked: notHeld,
    active: either(['active', 'ended'], [...whileHeld('active').refused, 'execution_not_in_flow', 'invalid_input']),
    suspended: notHeld,
    ended: either(['ended'], lost.refused),
  },
  readInputs: { ...untouched, absent: notFound },
  describeFlow: inAnyCase('flow_not_found'),
  listFlows: { ...untouched, absent: to('absent') },
  listFlowMembers: inAnyCase('flow_not_found'),
  listEdges: { ...untouched, absent: notFound },
  reconcileDependencies: { ...untouched, absent: to('absent'), blocked: to('blocked', 'eligible', 'ended') },
  reconcileSiblingCancels: { ...untouched, absent: to('absent') },
  reconcileFlowCancels: {
    ...untouched,
    absent: to('absent'),
    eligible: to('eligible', 'ended'),
    delayed: to('delayed', 'ended'),
    blocked: to('blocked', 'eligible', 'ended'),
    suspended: to('suspended', 'ended'),
  },
  auditFlows: { ...untouched, absent: to('absent') },
  recordStep: {
    absent: notFound,
    eligible: either(['eligible'], lost.refused),
    delayed: either(['delayed'], notHeld.refused),
    blocked: either(['blocked'], notHeld.refused),
    active: either(
      ['active', 'suspended', 'ended'],
      [...whileHeld('active').refused, 'step_limit_exceeded', 'step_bytes_exceeded'],
    ),
    suspended: either(['suspended'], notHeld.refused),
    ended: either(['ended'], lost.refused),
  },
  suspendExecution: {
    absent: notFound,
    eligible: either(['eligible'], lost.refused),
    delayed: either(['delayed'], notHeld.refused),
    blocked: either(['blocked'], notHeld.refused),
    active: either(
      ['active', 'suspended', 'ended'],
      [
        ...whileHeld('active').refused,
        'step_limit_exceeded',
        'waitpoint_not_found',
        'waitpoint_closed',
        'waitpoint_limit_exceeded',
      ],
    ),
    suspended: either(['suspended'], notHeld.refused),
    ended: either(['ended'], lost.refused),
  },
  createWaitpoint: {
    absent: notFound,
    eligible: lost,
    delayed: notHeld,
    blocked: notHeld,
    active: either(['active'], [...whileHeld('active').refused, 'step_limit_exceeded', 'waitpoint_limit_exceeded']),
    suspended: notHeld,
    ended: lost,
  },
  registerCompensation: {
    absent: notFound,
    eligible: lost,
    delayed: notHeld,
    blocked: notHeld,
    active: either(['active'], [...whileHeld('active').refused, 'step_limit_exceeded']),
    suspended: notHeld,
    ended: lost,
  },
  deliverSignal: {
    absent: notFound,
    eligible: either(['eligible'], noSignal),
    // After its deadline, an execution with steps to undo is stopped first.
    delayed: either(['delayed', 'eligible'], noSignal),
    blocked: either(['blocked', 'eligible'], noSignal),
    active: either(['active', 'eligible'], noSignal),
    suspended: either(['suspended', 'eligible', 'delayed', 'blocked'], noSignal),
    ended: either(['ended'], ['execution_ended', 'waitpoint_not_found', 'token_expired']),
  },
  resumeExecution: {
    absent: notFound,
    eligible: refuse('execution_not_suspended'),
    delayed: refuse('execution_not_suspended'),
    blocked: refuse('execution_not_suspended'),
    active: refuse('execution_not_suspended'),
    suspended: either(['eligible', 'blocked'], ['waits_elsewhere']),
    ended: refuse('execution_not_suspended'),
  },
  closeWaitpoint: {
    absent: notFound,
    eligible: either(['eligible'], ['waitpoint_not_found', ...lost.refused]),
    delayed: either(['delayed'], ['waitpoint_not_found', ...notHeld.refused]),
    blocked: either(['blocked'], ['waitpoint_not_found', ...notHeld.refused]),
    active: either(['active'], ['waitpoint_not_found', ...whileHeld('active').refused]),
    suspended: either(['suspended'], ['waitpoint_not_found', 'waitpoint_awaited', ...notHeld.refused]),
    ended: either(['ended'], ['waitpoint_not_found', ...lost.refused]),
  },
  reissueWaitpoint: {
    absent: notFound,
    eligible: either(['eligible'], ['waitpoint_not_found', 'waitpoint_closed']),
    delayed: either(['delayed'], ['waitpoint_not_found', 'waitpoint_closed']),
    blocked: either(['blocked'], ['waitpoint_not_found', 'waitpoint_closed']),
    active: either(['active'], ['waitpoint_not_found', 'waitpoint_closed']),
    suspended: either(['suspended'], ['waitpoint_not_found', 'waitpoint_closed']),
    ended: refuse('waitpoint_not_found', 'waitpoint_closed'),
  },
  readSteps: { ...untouched, absent: notFound },
  readSignals: { ...untouched, absent: notFound },
  listWaitpoints: { ...untouched, absent: notFound },
  listOpenWaitpoints: { ...untouched, absent: to('absent') },
  configureLane: { ...untouched, absent: to('absent') },
  applyLane: { ...untouched, absent: to('absent') },
  confirmLane: { ...untouched, absent: to('absent') },
  listLanes: { ...untouched, absent: to('absent') },
  startChildren: {
    absent: notFound,
    eligible: either(['eligible'], lost.refused),
    delayed: either(['delayed'], notHeld.refused),
    blocked: either(['blocked'], notHeld.refused),
    active: either(
      ['active', 'suspended', 'ended'],
      [
        ...whileHeld('active').refused,
        'step_limit_exceeded',
        'execution_exists',
        'child_limit_exceeded',
        'child_depth_exceeded',
        'invalid_input',
      ],
    ),
    suspended: either(['suspended'], notHeld.refused),
    ended: either(['ended'], lost.refused),
  },
  joinChildren: {
    absent: notFound,
    eligible: either(['eligible'], lost.refused),
    delayed: either(['delayed'], notHeld.refused),
    blocked: either(['blocked'], notHeld.refused),
    active: either(
      ['active', 'suspended', 'ended'],
      [...whileHeld('active').refused, 'step_limit_exceeded', 'step_not_found', 'invalid_input'],
    ),
    suspended: either(['suspended'], notHeld.refused),
    ended: either(['ended'], lost.refused),
  },
  registerWorker: inAnyCase('instance_in_use'),
  heartbeatWorker: { ...untouched, absent: to('absent') },
  unregisterWorker: { ...untouched, absent: to('absent') },
  drainWorker: inAnyCase('worker_not_found', 'worker_not_live'),
  markWorkerDead: inAnyCase('worker_not_found'),
  listWorkers: { ...untouched, absent: to('absent') },
  listUnsweptWorkers: { ...untouched, absent: to('absent') },
  recordWorkerSweep: { ...untouched, absent: to('absent') },
  revokeWorkerLeases: { ...untouched, absent: to('absent'), active: to('active', 'eligible', 'ended') },
  // Limits have records of their own.
  defineLimit: { absent: to('absent'), ...untouched },
  deleteLimit: inAnyCase('limit_not_found'),
  listLimits: { absent: to('absent'), ...untouched },
  describeLimit: inAnyCase('limit_not_found'),
  takePermits: { absent: to('absent'), ...untouched },
  returnPermits: { absent: to('absent'), ...untouched },
  renewPermits: { absent: to('absent'), ...untouched },
  holdLimit: inAnyCase('limit_not_found'),
  liftHold: inAnyCase('limit_not_found'),
  wakeWaiting: { absent: to('absent'), ...untouched },
  readWakes: { absent: to('absent'), ...untouched },
  confirmWakes: { absent: to('absent'), ...untouched },
  reconcileBlocked: { absent: to('absent'), ...untouched, blocked: to('blocked', 'eligible') },
  reconcileLimits: { absent: to('absent'), ...untouched },
  blockExecution: {
    absent: notFound,
    eligible: lost,
    delayed: notHeld,
    blocked: either(['blocked'], notHeld.refused),
    active: either(['blocked', 'ended'], [...whileHeld('active').refused, 'limit_not_needed']),
    suspended: notHeld,
    ended: lost,
  },
  openGates: {
    absent: to('absent'),
    ...untouched,
    blocked: to('blocked', 'eligible'),
    delayed: to('delayed', 'eligible'),
  },
  // Schedules have records of their own, and create executions.
  configureSchedule: inAnyCase('schedule_owned'),
  deleteSchedule: inAnyCase('schedule_not_found', 'schedule_owned'),
  describeSchedule: inAnyCase('schedule_not_found'),
  fireSchedule: inAnyCase('schedule_not_found'),
  holdSchedule: inAnyCase('schedule_not_found'),
  listSchedules: { absent: to('absent'), ...untouched },
  planSchedule: inAnyCase('schedule_not_found'),
  readUnplanned: { absent: to('absent'), ...untouched },
  retimeSchedule: inAnyCase('schedule_not_found'),
  // Consumers have records of their own.
  renewConsumer: inAnyCase('consumer_not_found'),
  seekConsumer: inAnyCase('consumer_not_found'),
  deleteConsumer: inAnyCase('consumer_not_found'),
  describeConsumer: inAnyCase('consumer_not_found'),
  listConsumers: { absent: to('absent'), ...untouched },
  // The audit trail has records of its own.
  recordAuditEntry: { absent: to('absent'), ...untouched },
  listAuditEntries: { absent: to('absent'), ...untouched },
  // Budgets have records of their own.
  defineBudget: inAnyCase('budget_not_found', 'budget_tree_too_deep'),
  deleteBudget: inAnyCase('budget_not_found', 'budget_has_children'),
  planBudget: inAnyCase('budget_not_found'),
  freezeBudget: inAnyCase('budget_not_found'),
  raiseBudget: inAnyCase('budget_not_found', 'amount_too_large'),
  resetBudget: inAnyCase('budget_not_found'),
  reserveBudget: inAnyCase('budget_not_found', 'stale_lease', 'amount_too_large'),
  releaseReservation: { absent: to('absent'), ...untouched },
  renewReservations: { absent: to('absent'), ...untouched },
  settleReservation: inAnyCase('budget_not_found', 'amount_too_large'),
  spendBudget: inAnyCase('budget_not_found', 'amount_too_large'),
  listBudgets: { absent: to('absent'), ...untouched },
  describeBudget: inAnyCase('budget_not_found'),
  readCharges: { absent: to('absent'), ...untouched },
  readPeriods: { absent: to('absent'), ...untouched },
  reconcileBudgets: { absent: to('absent'), ...untouched },
  readReservations: { absent: to('absent'), ...untouched },
  findSpenders: { absent: to('absent'), ...untouched },
  retireAccounts: { absent: to('absent'), ...untouched },
  continueOrder: { absent: refuse('execution_not_found'), ...untouched },
  changeWebhook: inAnyCase('webhook_not_found'),
  awaitRoom: inAnyCase('budget_not_found'),
}
