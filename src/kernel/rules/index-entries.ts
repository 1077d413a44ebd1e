/**
 * Derives index membership: which entries a record has. A store applies the difference between the entries before and after a
 * write, and no other code writes an index, so records and indexes agree by construction.
 */
import { accountId, budgetId } from '../model/budget-ids.ts'
import {
  AUDIT_INDEX,
  CANCEL_BACKLOG_INDEX,
  CREATED_INDEX,
  DUE_INDEX,
  FLOWS_INDEX,
  GATES_INDEX,
  GAUGES_INDEX,
  HOLDINGS_INDEX,
  LIMITS_INDEX,
  OPEN_EDGES,
  OPEN_WAITPOINTS_INDEX,
  PURGE_INDEX,
  QUEUES_INDEX,
  RESOLVED_EDGES,
  SIBLING_CANCELS_INDEX,
  COPYING_LANES_INDEX,
  LANES_INDEX,
  ROTATIONS_INDEX,
  SCHEDULES_INDEX,
  SHAPING_KEYS_INDEX,
  SHARES_INDEX,
  CONSUMERS_INDEX,
  ACCOUNTS_INDEX,
  BUDGETS_INDEX,
  CHARGES_INDEX,
  PAST_PERIODS_INDEX,
  RESERVATIONS_INDEX,
  accountsIndex,
  chargesIndex,
  ledgerIndex,
  parkedIndex,
  periodsIndex,
  reservationsIndex,
  reservedIndex,
  DUTIES_INDEX,
  UNSWEPT_WORKERS_INDEX,
  WORKERS_INDEX,
  attemptsIndex,
  firingsIndex,
  flowFiringsIndex,
  keptIndex,
  gatedIndex,
  gaugeId,
  holdersIndex,
  keysIndex,
  timersIndex,
  inboundIndex,
  bufferedSignalsIndex,
  laneIndex,
  lineIndex,
  membersIndex,
  outboundIndex,
  readyIndex,
  signalsIndex,
  stepsIndex,
  tagIndex,
  waitpointsIndex,
} from '../model/indexes.ts'
import type { Signal, Step, Waitpoint } from '../model/journal-schema.ts'
import type { Account, Budget, Charge, PastPeriod, Reservation } from '../model/budget-schema.ts'
import type { Gate, Gauge, Holding, Limit } from '../model/limit-schema.ts'
import { joinName } from '../model/names.ts'
import type { IndexEntry } from '../model/order.ts'
import { publicState } from '../model/public-state.ts'
import type {
  AnyRecord,
  Attempt,
  AuditEntry,
  Edge,
  EdgeState,
  Execution,
  Flow,
  Lane,
  Membership,
  Queue,
  Schedule,
  ShapingKey,
  Share,
  Worker,
} from '../model/records.ts'
import { budgetDueAt } from './budget-state.ts'
import { claimScore, dueAt, isKeptForParent, keptMsOf } from './execution-state.ts'
import { flowDueAt, isFlowFinished } from './flow-state.ts'
import { gaugeDueAt, usageScore } from './limit-usage.ts'
import { scopeOf, scopeOfStep, scopeOfWaitpoint, waitpointOfSignal } from './journal-ids.ts'
import { scheduleDueAt } from './schedule-state.ts'
import { sweepSince, workerDueAt } from './worker-state.ts'

/** The index in which a worker or a listing finds it. */
function queueEntry(execution: Execution): IndexEntry {
  const state = execution.state
  return state.phase === 'eligible'
    ? { index: readyIndex(execution.lane, execution.class), score: claimScore(execution), id: execution.id }
    : { index: laneIndex(execution.lane, publicState(state)), score: execution.createdAt, id: execution.id }
}

/** The index of its next timer: of its next change, or of its removal after its end. */
function timedEntry(execution: Execution): IndexEntry | undefined {
  const state = execution.state
  const due = dueAt(execution)
  if (due !== undefined) return { index: DUE_INDEX, score: due, id: execution.id }
  // A member is removed with its flow, and the result of a child is kept for its parent.
  if (state.phase === 'ended' && execution.member === undefined && !isKept(execution)) {
    const keptMs = execution.removed === undefined ? keptMsOf(execution) : (execution.dedupeMs ?? 0)
    return { index: PURGE_INDEX, score: state.at + keptMs, id: execution.id }
  }
  return undefined
}

/** Whether an ended execution stays beyond its retention. */
function isKept(execution: Execution): boolean {
  return isKeptForParent(execution) || execution.shaping?.holdsBack === true
}

function executionEntries(execution: Execution): IndexEntry[] {
  const id = execution.id
  const timed = timedEntry(execution)
  // Only the id is kept: no list shows it.
  if (execution.removed !== undefined) return timed === undefined ? [] : [timed]
  const created = { index: CREATED_INDEX, score: execution.createdAt, id }
  const queued = queueEntry(execution)
  const entries: IndexEntry[] = timed === undefined ? [created, queued] : [created, queued, timed]
  const { state } = execution
  if (timed?.index === PURGE_INDEX && execution.retentions?.keep !== undefined && state.phase === 'ended') {
    entries.push({ index: keptIndex(execution.namespace, execution.task), score: state.at, id })
  }
  if (state.phase === 'blocked' && state.gate !== undefined) {
    entries.push({ index: gatedIndex(state.gate), score: claimScore(execution), id })
  }
  if (state.phase === 'blocked' && state.by === 'order' && execution.shaping !== undefined) {
    entries.push({ index: lineIndex(execution.shaping.id), score: execution.shaping.place ?? 0, id })
  }
  if (execution.member !== undefined) addMemberEntries(execution, execution.member, entries)
  if (execution.schedule !== undefined) {
    entries.push({ index: firingsIndex(execution.schedule.id), score: execution.createdAt, id })
  }
  const journal = execution.journal
  if (journal !== undefined && journal.open.length > 0) {
    const scope = scopeOf(id, journal)
    for (const { target, since } of journal.open) {
      entries.push({ index: OPEN_WAITPOINTS_INDEX, score: since, id: joinName(scope, target) })
    }
  }
  for (const tag of execution.tags) {
    if (tag.indexed) entries.push({ index: tagIndex(tag.name, tag.value), score: execution.createdAt, id })
  }
  return entries
}

function addMemberEntries(execution: Execution, member: Membership, entries: IndexEntry[]): void {
  entries.push({ index: membersIndex(member.flowId), score: member.rank, id: execution.id })
  const group = member.group
  if (group?.owedFrom === undefined) return
  entries.push({ index: SIBLING_CANCELS_INDEX, score: group.decidedAt ?? execution.changedAt, id: execution.id })
}

function edgeEntries(edge: Edge): IndexEntry[] {
  const score = edgeScore(edge.state)
  return [
    { index: outboundIndex(edge.upstreamId), score, id: edge.downstreamId },
    { index: inboundIndex(edge.downstreamId), score, id: edge.upstreamId },
  ]
}

function edgeScore(state: EdgeState): number {
  return state === 'open' ? OPEN_EDGES : RESOLVED_EDGES
}

function flowEntries(flow: Flow): IndexEntry[] {
  const id = flow.id
  // Only the id is kept: no list shows it.
  if (flow.removedAt !== undefined) {
    return [{ index: PURGE_INDEX, score: flow.changedAt + (flow.dedupeMs ?? 0), id }]
  }
  const entries: IndexEntry[] = [{ index: FLOWS_INDEX, score: flow.createdAt, id }]
  if (flow.schedule !== undefined)
    entries.push({ index: flowFiringsIndex(flow.schedule.id), score: flow.createdAt, id })
  const due = flowDueAt(flow)
  if (due !== undefined) entries.push({ index: DUE_INDEX, score: due, id })
  else if (isFlowFinished(flow)) entries.push({ index: PURGE_INDEX, score: flow.changedAt + flow.retentionMs, id })
  if (flow.walk?.purpose === 'cancel') entries.push({ index: CANCEL_BACKLOG_INDEX, score: flow.changedAt, id })
  return entries
}

function stepEntries(step: Step): IndexEntry[] {
  return [{ index: stepsIndex(scopeOfStep(step)), score: step.position, id: step.id }]
}

function waitpointEntries(waitpoint: Waitpoint): IndexEntry[] {
  return [{ index: waitpointsIndex(scopeOfWaitpoint(waitpoint.id, waitpoint.target)), score: 0, id: waitpoint.id }]
}

function signalEntries(signal: Signal): IndexEntry[] {
  const waitpointId = waitpointOfSignal(signal)
  const scope = scopeOfWaitpoint(waitpointId, signal.target)
  const accepted = { index: signalsIndex(scope), score: signal.sequence, id: signal.id }
  if (!signal.isWaiting) return [accepted]
  return [accepted, { index: bufferedSignalsIndex(waitpointId), score: signal.sequence, id: signal.id }]
}

function attemptEntries(attempt: Attempt): IndexEntry[] {
  return [{ index: attemptsIndex(attempt.executionId), score: attempt.number, id: attempt.id }]
}

function queueEntries(queue: Queue): IndexEntry[] {
  return [{ index: QUEUES_INDEX, score: 0, id: queue.id }]
}

function workerEntries(worker: Worker): IndexEntry[] {
  const id = worker.id
  const entries: IndexEntry[] = [
    { index: WORKERS_INDEX, score: 0, id },
    { index: timersIndex('worker'), score: workerDueAt(worker), id },
  ]
  const since = sweepSince(worker)
  if (since !== undefined) entries.push({ index: UNSWEPT_WORKERS_INDEX, score: since, id })
  return entries
}

function shareEntries(share: Share): IndexEntry[] {
  const id = share.id
  return [
    { index: SHARES_INDEX, score: 0, id },
    { index: timersIndex('share'), score: share.dueAt, id },
  ]
}

function laneEntries({ id, isCopying }: Lane): IndexEntry[] {
  const all = { index: LANES_INDEX, score: 0, id }
  return isCopying === true ? [all, { index: COPYING_LANES_INDEX, score: 0, id }] : [all]
}

function limitEntries(limit: Limit): IndexEntry[] {
  return [{ index: LIMITS_INDEX, score: 0, id: limit.id }]
}

function gaugeEntries(gauge: Gauge): IndexEntry[] {
  const { id, limit } = gauge
  const entries: IndexEntry[] = [
    { index: GAUGES_INDEX, score: 0, id },
    { index: keysIndex(limit), score: usageScore(gauge), id },
  ]
  const due = gaugeDueAt(gauge)
  if (due !== undefined) entries.push({ index: timersIndex('gauge'), score: due, id })
  return entries
}

function holdingEntries({ id, limit, key, expiresAt }: Holding): IndexEntry[] {
  return [
    { index: HOLDINGS_INDEX, score: 0, id },
    { index: holdersIndex(gaugeId(limit, key)), score: 0, id },
    { index: timersIndex('holding'), score: expiresAt, id },
  ]
}

function gateEntries({ id, until }: Gate): IndexEntry[] {
  return [
    { index: GATES_INDEX, score: 0, id },
    { index: timersIndex('gate'), score: until, id },
  ]
}

function scheduleEntries(schedule: Schedule): IndexEntry[] {
  const all = { index: SCHEDULES_INDEX, score: 0, id: schedule.id }
  const due = scheduleDueAt(schedule)
  return due === undefined ? [all] : [all, { index: timersIndex('schedule'), score: due, id: schedule.id }]
}

function budgetEntries(budget: Budget): IndexEntry[] {
  const all = { index: BUDGETS_INDEX, score: 0, id: budget.id }
  const due = budgetDueAt(budget)
  return due === undefined ? [all] : [all, { index: timersIndex('budget'), score: due, id: budget.id }]
}

function accountEntries({ id, root, name, parked }: Account): IndexEntry[] {
  const budget = budgetId(root, name)
  const all = [
    { index: ACCOUNTS_INDEX, score: 0, id },
    { index: accountsIndex(budget), score: 0, id },
  ]
  return parked === undefined ? all : all.concat([{ index: parkedIndex(budget), score: 0, id }])
}

function reservationEntries({ id, root, accounts, spender, expiresAt }: Reservation): IndexEntry[] {
  const entries: IndexEntry[] = [
    { index: RESERVATIONS_INDEX, score: 0, id },
    { index: timersIndex('reservation'), score: expiresAt, id },
  ]
  for (const { name, key } of accounts) {
    entries.push({ index: reservedIndex(accountId(root, name, key)), score: 0, id })
  }
  const { executionId } = spender
  if (executionId !== undefined) entries.push({ index: reservationsIndex(executionId), score: 0, id })
  return entries
}

function chargeEntries({ id, root, accounts, spender, at, expiresAt }: Charge): IndexEntry[] {
  const entries: IndexEntry[] = [
    { index: CHARGES_INDEX, score: 0, id },
    { index: timersIndex('charge'), score: expiresAt, id },
  ]
  for (const { name, key } of accounts) {
    entries.push({ index: ledgerIndex(accountId(root, name, key)), score: at, id })
  }
  if (spender.executionId !== undefined) entries.push({ index: chargesIndex(spender.executionId), score: at, id })
  return entries
}

function pastPeriodEntries({ id, root, name, key, since }: PastPeriod): IndexEntry[] {
  return [
    { index: PAST_PERIODS_INDEX, score: 0, id },
    { index: periodsIndex(accountId(root, name, key)), score: since, id },
  ]
}

function shapingKeyEntries({ id, removeAt }: ShapingKey): IndexEntry[] {
  const all = { index: SHAPING_KEYS_INDEX, score: 0, id }
  return removeAt === undefined ? [all] : [all, { index: timersIndex('shaping_key'), score: removeAt, id }]
}

function auditEntries({ id, sequence, expiresAt }: AuditEntry): IndexEntry[] {
  return [
    { index: AUDIT_INDEX, score: sequence, id },
    { index: timersIndex('audit_entry'), score: expiresAt, id },
  ]
}

export function entriesOf(record: AnyRecord): IndexEntry[] {
  switch (record.type) {
    case 'execution':
      return executionEntries(record)
    case 'attempt':
      return attemptEntries(record)
    case 'queue':
      return queueEntries(record)
    case 'flow':
      return flowEntries(record)
    case 'edge':
      return edgeEntries(record)
    case 'step':
      return stepEntries(record)
    case 'waitpoint':
      return waitpointEntries(record)
    case 'signal':
      return signalEntries(record)
    case 'worker':
      return workerEntries(record)
    case 'share':
      return shareEntries(record)
    case 'rotation':
      return [{ index: ROTATIONS_INDEX, score: 0, id: record.id }]
    case 'lane':
      return laneEntries(record)
    case 'limit_definition':
      return limitEntries(record)
    case 'gauge':
      return gaugeEntries(record)
    case 'holding':
      return holdingEntries(record)
    case 'gate':
      return gateEntries(record)
    // Their ids follow from the execution, so they are in no index.
    case 'stream':
    case 'frame_chunk':
      return []
    case 'schedule':
      return scheduleEntries(record)
    case 'consumer':
      return [{ index: CONSUMERS_INDEX, score: 0, id: record.id }]
    case 'budget':
      return budgetEntries(record)
    case 'account':
      return accountEntries(record)
    case 'reservation':
      return reservationEntries(record)
    case 'charge':
      return chargeEntries(record)
    case 'past_period':
      return pastPeriodEntries(record)
    case 'shaping_key':
      return shapingKeyEntries(record)
    case 'audit_entry':
      return auditEntries(record)
    case 'duties':
      return [{ index: DUTIES_INDEX, score: 0, id: record.id }]
  }
}
