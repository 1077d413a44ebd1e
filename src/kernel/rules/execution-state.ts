/** Values derived from an execution's record: its timers, and the order in which it is claimed. */
import { firstExpiry, needsSweep } from './journal-ids.ts'
import type { Journal } from '../model/journal-schema.ts'
import type { AnyRecord, Execution, ExecutionState, Instant, Membership } from '../model/records.ts'

const PRIORITY_WEIGHT = 1_000_000_000_000

/**
 * Ascending: the highest priority first, then the earliest turn, or without turns the oldest. One step of priority outweighs any
 * age and any turn. Exact below 2^53.
 */
export function claimScore(execution: Execution): number {
  return (execution.fair?.turn ?? execution.createdAt) - execution.priority * PRIORITY_WEIGHT
}

/** Whether an execution has reached its total deadline, even if no due pass has ended it yet. */
export function isPastDeadline(execution: Execution, now: Instant): boolean {
  const { state, unwinding, deadlineAt } = execution
  return state.phase !== 'ended' && unwinding === undefined && deadlineAt !== undefined && deadlineAt <= now
}

function earlier(a: Instant | undefined, b: Instant | undefined): Instant | undefined {
  if (a === undefined) return b
  if (b === undefined) return a
  return Math.min(a, b)
}

/** The earliest instant at which time alone changes this execution, or since which work for it is pending. */
export function dueAt(execution: Execution): Instant | undefined {
  const state = execution.state
  const owedAt = earlier(
    execution.member === undefined ? undefined : pendingSince(execution, execution.member),
    execution.journal?.childCancels?.at,
  )
  if (state.phase === 'ended') return owedAt
  const timer = earlier(owedAt, timerOf(execution))
  const journal = execution.journal
  return journal === undefined ? timer : earlier(timer, journalDueAt(execution, journal))
}

/** When a waitpoint expires, or since when cut steps wait for their removal. */
function journalDueAt(execution: Execution, journal: Journal): Instant | undefined {
  return needsSweep(journal) ? (execution.lastReplay?.at ?? execution.createdAt) : firstExpiry(journal)
}

/** Since when outbound edges, or cancels of losers, are pending. */
function pendingSince(execution: Execution, member: Membership): Instant | undefined {
  if (member.group?.owedFrom !== undefined) return member.group.decidedAt ?? execution.changedAt
  return member.owesEdges && execution.state.phase === 'ended' ? execution.state.at : undefined
}

function timerOf(execution: Execution): Instant | undefined {
  const state = execution.state
  const limit = execution.unwinding === undefined ? execution.deadlineAt : unwindingUntil(execution)
  if (state.phase === 'active') return earlier(activeUntil(state), limit)
  if (state.phase === 'suspended') return earlier(earlier(state.until, state.remindAt), limit)
  return state.phase === 'delayed' ? earlier(state.until, limit) : limit
}

/** Whether the handler has recorded results of steps, which it may have to undo, or has registered compensations. */
export function hasStepsToUndo(execution: Execution): boolean {
  const journal = execution.journal
  return (journal?.hasCompletedSteps === true && !journal.isRemoving) || hasCompensations(execution)
}

/** Whether the handler has registered compensations, which run unless the execution completes. */
export function hasCompensations({ journal }: Execution): boolean {
  return journal?.compensationCount !== undefined && !journal.isRemoving
}

/** When an execution that undoes its steps ends, however far its handler has got. */
export function unwindingUntil(execution: Execution): Instant | undefined {
  const { state, unwinding } = execution
  if (unwinding === undefined) return undefined
  return state.phase === 'active' ? state.runningSince + unwinding.leftMs : unwinding.until
}

/** Whether the time to undo steps is over, even if no due pass has ended the execution yet. */
export function isPastUnwinding(execution: Execution, now: Instant): boolean {
  const state = execution.state
  const until = unwindingUntil(execution)
  if (until === undefined || state.phase === 'ended' || until > now) return false
  // A handler has run no longer than its lease.
  return state.phase !== 'active' || until < state.lease.expiresAt
}

/** When the lease expires, the attempt times out, or the grace of a cancel ends. */
function activeUntil(state: Extract<ExecutionState, { phase: 'active' }>): Instant {
  let until = state.lease.expiresAt
  if (state.timeoutAt !== undefined && state.timeoutAt < until) until = state.timeoutAt
  if (state.cancel !== undefined && state.cancel.forceAt < until) until = state.cancel.forceAt
  return until
}

/** Returns how long an ended execution is kept. */
export function keptMsOf({ state, retentionMs, retentions }: Execution): number {
  return (state.phase === 'ended' ? retentions?.[state.outcome] : undefined) ?? retentionMs
}

/** Whether its parent may still need its result, so that it is not removed after its retention. */
export function isKeptForParent({ parent }: Execution): boolean {
  return parent !== undefined && parent.isDetached !== true && parent.isReleased !== true
}

/**
 * Whether the next operation on a record finds it through an index, is a request of a user or most likely comes from another
 * process, as that of the shares of engines does. That of any other record comes from the holder of a lease, or from a flow, a parent
 * or a child.
 */
export function isAtRest(record: AnyRecord): boolean {
  if (record.type === 'duties') return true
  if (record.type !== 'execution' || record.member !== undefined || record.parent !== undefined) return false
  const { phase } = record.state
  return phase === 'eligible' || phase === 'delayed' || phase === 'ended'
}
