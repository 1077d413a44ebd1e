/** The due pass: handles everything in a partition that time alone changes, earliest first. */
import { dueNamed, runDueNamed, timedTypesIn, workOf } from './due-named.ts'
import { attemptTimeout } from './attempt-timeout.ts'
import { cancelGrace } from './cancel-grace.ts'
import { childCanceller } from './child-canceller.ts'
import { compensationTimeout } from './compensation-timeout.ts'
import { delayedPromoter } from './delayed-promoter.ts'
import type { DueCase, DueCaseName, FlowDueCase } from './due-case.ts'
import { edgeCancelDispatcher } from './edge-cancel-dispatcher.ts'
import { edgeDispatcher } from './edge-dispatcher.ts'
import { executionDeadline } from './execution-deadline.ts'
import { flowFollowUp } from './flow-follow-up.ts'
import { flowCancel, flowRelease, flowReplay } from './flow-walks.ts'
import { journalSweeper } from './journal-sweeper.ts'
import { leaseExpiry } from './lease-expiry.ts'
import { pendingWaitpointExpiry } from './pending-waitpoint-expiry.ts'
import { submissionAbandoned } from './submission-abandoned.ts'
import { suspensionTimeout } from './suspension-timeout.ts'
import { waitReminder } from './wait-reminder.ts'
import { matchesFilter } from '../../rules/tenant-filter.ts'
import type { TenantFilter } from '../../rules/tenant-filter.ts'
import { flowDueAt } from '../../rules/flow-state.ts'
import type { PartitionFamily } from '../../model/families.ts'
import { DUE_INDEX, timersIndex } from '../../model/indexes.ts'
import type { NamedType } from '../../model/named-types.ts'
import { currentStepId } from '../../lifecycle/find-step.ts'
import { scopeOf, waitpointIdIn } from '../../rules/journal-ids.ts'
import {
  CHILD_END_WORK,
  CLAIM_DUE_COUNT,
  DUE_HIDDEN_MS,
  DUE_ITEM_WORK,
  DUE_SCAN_COUNT,
  FLOW_ITEM_WORK,
} from '../../limits.ts'
import { nextSeed } from '../../rules/seeded-random.ts'
import type { Execution, Instant } from '../../model/records.ts'
import { dueAt } from '../../rules/execution-state.ts'
import { isFlowId } from '../../model/names.ts'
import type { Tx } from '../../tx.ts'
import type { IndexEntry, Position } from '../../model/order.ts'
import { inDueOrder } from '../../rules/due-order.ts'

/** The order matters: final cases come first, and a lost lease is not mistaken for a slow attempt. */
export const dueCases: readonly DueCase[] = [
  executionDeadline,
  compensationTimeout,
  cancelGrace,
  leaseExpiry,
  attemptTimeout,
  delayedPromoter,
  suspensionTimeout,
  waitReminder,
  pendingWaitpointExpiry,
  edgeDispatcher,
  edgeCancelDispatcher,
  childCanceller,
  journalSweeper,
]

export const flowDueCases: readonly FlowDueCase[] = [
  flowFollowUp,
  flowRelease,
  flowCancel,
  flowReplay,
  submissionAbandoned,
]

/** Where the next call of a pass begins. */
export interface DueCursor extends Position {
  /** Whether entries were hidden from an earlier call of the pass, because other callers had just read them. */
  readonly hasHidden?: boolean | undefined
}

export interface DueInput {
  readonly limit: number
  /** The family of the partition; `fp` unless given. */
  readonly family?: PartitionFamily | undefined
  readonly filter?: TenantFilter | undefined
  /** Where an earlier call of the same pass stopped. */
  readonly from?: DueCursor | undefined
  /** Records that failed repeatedly and are skipped for a while. */
  readonly skip?: readonly string[] | undefined
  readonly seed: number
  /** Reports of parts of this call that were applied before it had to run again. Only a store sets it. */
  readonly applied?: readonly DueReport[] | undefined
}

/** What was done to one record. */
export interface DueReport {
  readonly case: DueCaseName
  readonly executionId: string
  /** When it was due. */
  readonly dueAt: Instant | undefined
}

export interface DueResult {
  readonly kind: 'due'
  readonly handled: { readonly case: DueCaseName; readonly executionId: string }[]
  /** Where the next call begins, if more may be due. */
  readonly next: DueCursor | undefined
  /** The time of the next timer, if nothing more is due now; soon if a due record was hidden. */
  readonly nextDueAt: Instant | undefined
  /** The earliest timer among the handled ones; the difference to `at` is the delay. */
  readonly oldestDueAt: Instant | undefined
  readonly at: Instant
}

export function runDue(tx: Tx, input: DueInput): DueResult {
  const limit = dueLimit(input)
  const types = timedTypesIn(input.family ?? 'fp')
  const indexes = dueIndexes(input)
  const due = readsDue(input) ? tx.range({ index: DUE_INDEX, from: input.from, to: tx.now, limit }) : []
  const pass = newPass(input, false)
  const executionIds: string[] = []
  const flowIds: string[] = []
  for (const entry of due) {
    if (input.skip?.includes(entry.id) === true) continue
    if (isFlowId(entry.id)) flowIds.push(entry.id)
    else executionIds.push(entry.id)
  }
  runDueExecutions(tx, pass, executionIds)
  runDueFlows(tx, pass, flowIds)
  runDueNames(tx, pass, types, limit)
  const hasHidden = input.from?.hasHidden === true || indexes.some((index) => tx.hides(index))
  const next = nextOf(pass, due, limit)
  // Executions, flows and each type of named records are handled one after the other.
  const handled = inDueOrder(pass.handled, input.applied ?? [])
  return {
    kind: 'due',
    handled: handled.map((report) => ({ case: report.case, executionId: report.executionId })),
    next: next === undefined ? undefined : { score: next.score, id: next.id, hasHidden },
    nextDueAt: next === undefined ? upcomingAt(tx, indexes, hasHidden) : undefined,
    oldestDueAt: handled[0]?.dueAt,
    at: tx.now,
  }
}

/** Executions and flows are only in partitions of their own family. */
function readsDue({ family = 'fp' }: DueInput): boolean {
  return family === 'fp'
}

/** The indexes of timers that a pass reads. */
export function dueIndexes(input: DueInput): string[] {
  const named = timedTypesIn(input.family ?? 'fp').map(timersIndex)
  return readsDue(input) ? [DUE_INDEX, ...named] : named
}

/** How many records a pass examines. */
export function dueLimit({ limit, applied }: DueInput): number {
  return Math.max(1, Math.min(limit, DUE_SCAN_COUNT) - (applied?.length ?? 0))
}

function nextOf(pass: DuePass, due: readonly IndexEntry[], limit: number): Position | undefined {
  const last = due[due.length - 1]
  const isWhole = due.length < limit || last === undefined
  // Work without room stays at the head of the next call, as does pending work of a flow.
  if (pass.isShortOfRoom || (pass.hasMoved && isWhole)) return pass.input.from ?? { score: 0 }
  return isWhole ? undefined : { score: last.score, id: last.id }
}

/** A hidden record is still due if the batch that read it does not commit. */
function upcomingAt(tx: Tx, indexes: readonly string[], hasHidden: boolean): Instant | undefined {
  let upcoming: Instant | undefined = undefined
  for (const index of indexes) {
    const first = tx.range({ index, from: { score: tx.now + 1 }, limit: 1 })[0]?.score
    if (first !== undefined) upcoming = Math.min(upcoming ?? first, first)
  }
  return hasHidden ? Math.min(upcoming ?? Infinity, tx.now + DUE_HIDDEN_MS) : upcoming
}

/**
 * Handles a few due records before a claim looks for work. Skips flows and pending work, which the engine handles. Also
 * skips an entry that its record contradicts, because such an entry must not stop every claim.
 */
export function runDueForClaim(tx: Tx, seed: number): void {
  const pass = newPass({ limit: CLAIM_DUE_COUNT, seed }, true)
  let from: Position | undefined = undefined
  // A claim stops once it has found something; the engine and other claims handle the rest.
  for (let count = 0; count < DUE_SCAN_COUNT && pass.handled.length === 0; count += CLAIM_DUE_COUNT) {
    const due: IndexEntry[] = tx.range({ index: DUE_INDEX, from, to: tx.now, limit: CLAIM_DUE_COUNT })
    const last = due[due.length - 1]
    if (last === undefined) return
    const ids = due.map((entry) => entry.id)
    runDueExecutions(
      tx,
      pass,
      ids.filter((id) => !isFlowId(id)),
    )
    if (pass.isShortOfRoom || due.length < CLAIM_DUE_COUNT) return
    from = { score: last.score, id: last.id }
  }
}

/** The progress of one pass. */
interface DuePass {
  readonly input: DueInput
  /**
   * Whether the pass precedes a claim, whose answer does not contain it. A pass of the engine fails on an entry that
   * its record contradicts: such an entry must be reported.
   */
  readonly isForClaim: boolean
  readonly handled: DueReport[]
  seed: number
  isShortOfRoom: boolean
  /** Whether a flow was changed, which may have left work that is due at once. */
  hasMoved: boolean
}

function newPass(input: DueInput, isForClaim: boolean): DuePass {
  return { input, isForClaim, handled: [], seed: input.seed, isShortOfRoom: false, hasMoved: false }
}

/** Each record is a part of its own, so that a conflict over one does not delay the others. */
function runDueExecutions(tx: Tx, pass: DuePass, ids: string[]): void {
  for (const found of readDue(tx, ids)) {
    if (tx.room() < roomFor(found) || pass.handled.length === pass.input.limit) {
      pass.isShortOfRoom = true
      return
    }
    tx.part(() => addReport(pass, runDueExecution(tx, pass, found)))
  }
}

function runDueExecution(tx: Tx, pass: DuePass, found: Execution): DueReport | undefined {
  const isShared = isChangedByOthers(found)
  const execution = isShared ? (tx.get('execution', found.id) ?? found) : found
  // The part depends on the execution in any case.
  if (!isShared && !tx.has('execution', found.id)) return undefined
  if (!matchesFilter(execution, pass.input.filter)) return undefined
  const dueCase = firstDue(execution, tx.now)
  if (dueCase === undefined) {
    if (pass.isForClaim || isShared) return undefined
    return tx.fault('the due index names an execution for which nothing is due', execution.id)
  }
  if (pass.isForClaim && isForEngine.includes(dueCase.name)) return undefined
  const since = dueAt(execution)
  pass.seed = nextSeed(pass.seed)
  dueCase.run(tx, execution, pass.seed)
  if (isShared || isStillDue(execution, tx.now)) pass.hasMoved = true
  return { case: dueCase.name, executionId: execution.id, dueAt: since }
}

/** Whether other executions that were handled in this pass may have changed it: members of its flow, its parent or children. */
function isChangedByOthers({ member, parent, journal }: Execution): boolean {
  return member !== undefined || parent !== undefined || (journal?.childCount ?? 0) > 0
}

/** Adds what a part has done. Returns the report of the part: a claim has none, because its answer does not depend on it. */
function addReport(pass: DuePass, report: DueReport | undefined): DueReport | undefined {
  if (report !== undefined) pass.handled.push(report)
  return pass.isForClaim ? undefined : report
}

/**
 * Reads executions and the records of their waits, for as many as one pass can handle, so that a remote store needs one
 * round trip. Each execution is read in a part of its own, which joins the part that changes it.
 */
function readDue(tx: Tx, ids: string[]): Execution[] {
  const executions: Execution[] = []
  let room = tx.room()
  for (const id of ids) {
    tx.part(() => {
      const [execution] = tx.getMany('execution', [id])
      if (execution === undefined) return
      executions.push(execution)
      if (room > 0) room = room - readWait(tx, execution)
    })
  }
  return executions
}

/** Returns how many records the wait has. */
function readWait(tx: Tx, execution: Execution): number {
  const stepId = currentStepId(execution)
  if (stepId === undefined) return 0
  const scope = scopeOf(execution.id, execution.journal)
  const waitpointIds: string[] = []
  for (const { target } of execution.journal?.open ?? []) waitpointIds.push(waitpointIdIn(scope, target))
  tx.getMany('step', [stepId])
  if (waitpointIds.length > 0) tx.getMany('waitpoint', waitpointIds)
  return waitpointIds.length + 1
}

/** The end of a wait closes the waitpoints that were opened for it, and the end of a child changes its parent. */
function roomFor({ member, parent, journal }: Execution): number {
  const alone = DUE_ITEM_WORK + (journal?.open.length ?? 0) + (parent === undefined ? 0 : CHILD_END_WORK)
  const isAlone = member === undefined && journal?.childCancels === undefined
  return isAlone ? alone : Math.max(FLOW_ITEM_WORK, alone)
}

/** Whether work is left from a call that had no room for it. */
function isStillDue(execution: Execution, now: Instant): boolean {
  const due = dueAt(execution)
  return due !== undefined && due <= now
}

function runDueFlows(tx: Tx, pass: DuePass, ids: string[]): void {
  for (const id of ids) {
    if (tx.room() < FLOW_ITEM_WORK) {
      pass.isShortOfRoom = true
      return
    }
    tx.part(() => addReport(pass, runDueFlow(tx, pass, id)))
  }
}

function runDueFlow(tx: Tx, pass: DuePass, id: string): DueReport | undefined {
  const [flow] = tx.getMany('flow', [id])
  if (flow === undefined || !matchesFilter(flow, pass.input.filter)) return undefined
  const since = flowDueAt(flow)
  for (const dueCase of flowDueCases) {
    if (!dueCase.isDue(flow, tx.now)) continue
    dueCase.run(tx, flow)
    pass.hasMoved = true
    return { case: dueCase.name, executionId: flow.id, dueAt: since }
  }
  return undefined
}

/** A handled record leaves the index or moves on, so a pass without room for all is continued from the start. */
function runDueNames(tx: Tx, pass: DuePass, types: readonly NamedType[], limit: number): void {
  for (const { type, id } of dueNamed(tx, types, limit, pass.input.skip ?? [])) {
    if (tx.room() < workOf(type) || pass.handled.length >= limit) {
      pass.isShortOfRoom = true
      return
    }
    tx.part(() => {
      const report = runDueNamed(tx, type, id)
      if (report === undefined) return undefined
      if (report.isStillDue) pass.hasMoved = true
      return addReport(pass, { case: report.case, dueAt: report.dueAt, executionId: id })
    })
  }
}

/** Work that an earlier call had no room for. The engine continues it, not a claim. */
const isForEngine: readonly DueCaseName[] = [
  'edge_dispatcher',
  'edge_cancel_dispatcher',
  'child_canceller',
  'journal_sweeper',
]

function firstDue(execution: Execution, now: Instant): DueCase | undefined {
  for (const dueCase of dueCases) if (dueCase.isDue(execution, now)) return dueCase
  return undefined
}
