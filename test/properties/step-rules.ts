/** What one operation may do to a partition: rules over the state before it, the state after it, and its answer. */
import type { Execution, Fence } from '../../src/kernel/index.ts'
import type { Answer, Call, PartitionDump } from '../../src/stores/store.ts'
import { executionsOf } from '../conformance/execution-invariants.ts'
import { textOfRecord } from './record-text.ts'
import { claimedBy, isOperation, subjectOf } from './script.ts'

export interface Step {
  readonly call: Call
  readonly answer: Extract<Answer, { kind: 'answered' }>
  readonly before: PartitionDump
  readonly after: PartitionDump
  readonly now: number
}

/** Answers of calls that did nothing, because they were refused or repeated. */
const IDLE_ANSWERS: readonly string[] = [
  'refused',
  'joined',
  'unchanged',
  'already_failed',
  'already_scheduled',
  'already_released',
  'already_delayed',
  'already_cancelled',
  'already_revoked',
  'already_replayed',
  'described',
  'listed',
  'counted',
  'explained',
  'inspected',
  'reconciled',
  'already_created',
  'already_member',
  'already_added',
  'policy_already_set',
  'already_sealed',
  'already_parked',
  'already_skipped',
  'not_blocked',
  'read',
  'flow_described',
  'flows_listed',
  'members_listed',
  'edges_listed',
  'dependencies_reconciled',
  'siblings_reconciled',
  'cancels_reconciled',
  'audited',
  'already_recorded',
  'already_suspended',
  'already_opened',
  'duplicate',
  'already_closed',
  'steps',
  'signals',
  'waitpoints',
]

/** Operations that bring executions into being. */
const MAKERS: readonly string[] = ['createExecution', 'submitFlow', 'addExecutionToFlow', 'startChildren']

export function stepProblems(step: Step): string[] {
  const before = byId(step.before)
  const after = byId(step.after)
  const problems = [...idleProblems(step), ...claimProblems(step, before, after), ...lossProblems(step, before, after)]
  for (const [id, execution] of after) {
    const previous = before.get(id)
    if (previous !== undefined) problems.push(...changeProblems(step, previous, execution))
    else if (!isMade(step, execution)) problems.push(`${id} came from nowhere`)
  }
  return problems
}

function byId(dump: PartitionDump): Map<string, Execution> {
  return new Map(executionsOf(dump).map((execution) => [execution.id, execution]))
}

function same(a: unknown, b: unknown): boolean {
  return a === b || JSON.stringify(a) === JSON.stringify(b)
}

/** A refused call, a repeated call and a read change nothing. */
function idleProblems({ answer, before, after }: Step): string[] {
  const { result } = answer
  const repairs = repairsOf(answer)
  if (repairs.length > 0) return repairs
  if (hasGoneOn(answer)) return []
  if (!IDLE_ANSWERS.includes(result.kind)) return []
  return same(before, after) ? [] : [`something changed although the answer was ${result.kind}`]
}

/** Reconcilers find nothing to repair. */
export function repairsOf({ result }: Step['answer']): string[] {
  switch (result.kind) {
    case 'reconciled':
      return result.repaired.length > 0 ? ['an index had to be repaired'] : []
    case 'dependencies_reconciled':
      return result.repaired.map(({ problem, executionId }) => `a member had to be repaired: ${executionId} ${problem}`)
    case 'siblings_reconciled':
      return result.outcomes
        .filter(({ outcome }) => outcome === 'removed_stale' || outcome === 'malformed')
        .map(({ id }) => `cancels were owed without a loser: ${id}`)
    case 'cancels_reconciled':
      return result.removedStale.map((id) => `cancels were owed without a loser: ${id}`)
    case 'audited':
      return result.drifts.map(({ flowId, what }) => `${flowId} does not count right: ${what}`)
    default:
      return []
  }
}

/** A reconciler of cancels may continue with what is owed. */
function hasGoneOn({ result }: Step['answer']): boolean {
  if (result.kind === 'cancels_reconciled') return result.walked.length > 0
  return result.kind === 'siblings_reconciled' && result.outcomes.some(({ outcome }) => outcome === 'completed_drain')
}

/** A lease is handed out only where none was alive, under the next epoch, or again to whom it belongs. */
function claimProblems(step: Step, before: Map<string, Execution>, after: Map<string, Execution>): string[] {
  const claimed = claimedBy(step.answer.result)?.executions ?? []
  const ids = claimed.map((one) => one.executionId)
  const problems = new Set(ids).size === ids.length ? [] : ['one claim hands out one execution twice']
  for (const { executionId, fence, leaseExpiresAt } of claimed) {
    if (leaseExpiresAt <= step.now) problems.push(`${executionId} was handed out with a lease that has expired`)
    const previous = before.get(executionId)
    const execution = after.get(executionId)
    if (execution?.state.phase !== 'active' || !isHeldWith(execution, fence)) {
      problems.push(`${executionId} was handed out with a fence that is not its own`)
    } else if (previous === undefined) {
      problems.push(`${executionId} was handed out but did not exist`)
    } else if (isAlive(previous, step.now) && !isHeldWith(previous, fence) && subjectOf(step.call) !== executionId) {
      // The call may end one run of it and claim the next.
      problems.push(`${executionId} was handed out while it was held`)
    } else if (hasEvent(step, executionId, 'follow_up_started')) {
      // What was due has ended one run of it, and the claim begins the next.
    } else if (previous.state.phase !== 'active' && fence.attempt !== nextAttempt(previous)) {
      problems.push(`${executionId} was handed out as attempt ${fence.attempt}, not ${nextAttempt(previous)}`)
    }
  }
  return problems
}

/** What was handed back or parked is continued; everything else begins an attempt of its own. */
function nextAttempt({ attempt, next }: Execution): number {
  return (attempt?.number ?? 0) + (next === 'continue' ? 0 : 1)
}

function isHeldWith({ state, epoch, attempt }: Execution, fence: Fence): boolean {
  return (
    state.phase === 'active' &&
    state.lease.id === fence.leaseId &&
    epoch === fence.epoch &&
    attempt?.number === fence.attempt
  )
}

/** Held by a worker whom time alone has not yet taken it from. */
function isAlive({ state, deadlineAt }: Execution, now: number): boolean {
  if (state.phase !== 'active') return false
  const ends = [state.lease.expiresAt, state.timeoutAt, state.cancel?.forceAt, deadlineAt]
  return ends.every((end) => end === undefined || end > now)
}

/** Whether the call is a due pass, in which the flow of an ended member gives way to its follow-up. */
function givesWay({ call, before }: Step, { state, member }: Execution): boolean {
  if (!isOperation(call, 'runDue') || state.phase !== 'ended') return false
  return before.records.some((record) => {
    const isItsFlow = record.type === 'flow' && record.id === member?.flowId
    return isItsFlow && record.followUp !== undefined && record.walk?.purpose === 'remove'
  })
}

/** Whether the call creates executions, or is a due pass that creates the graph of a follow-up with this node. */
function isMade(step: Step, { id, member }: Execution): boolean {
  if (!isOperation(step.call, 'runDue')) return MAKERS.includes(step.call.operation)
  return step.before.records.some((record) => {
    if (record.type !== 'flow' || record.id !== member?.flowId) return false
    const graph = hasEvent(step, record.id, 'follow_up_started') ? record.followUp : record.begins
    return graph?.nodes.some((node) => node.executionId === id) === true
  })
}

/**
 * Only a purge removes an execution, and only one that ended and whose id was taken for as long as it asked for; or the
 * replacement of a flow that has ended, by a submit or by its follow-up.
 */
function lossProblems(step: Step, before: Map<string, Execution>, after: Map<string, Execution>): string[] {
  const { result } = step.answer
  return [...before.values()]
    .filter((execution) => !after.has(execution.id))
    .filter((execution) => {
      const { id, state, retentionMs, dedupeMs = 0, member, removed } = execution
      if (state.phase !== 'ended' || state.at + dedupeMs > step.now) return true
      if (givesWay(step, execution)) return false
      if (result.kind === 'accepted') return !(result.isClearing === true && member?.flowId === result.flowId)
      // A member is kept as long as its flow.
      const isDue = member !== undefined || state.at + retentionMs <= step.now
      return !(isDue && result.kind === 'purged' && (removed !== undefined || result.purged.includes(id)))
    })
    .map((execution) => `${execution.id} is lost`)
}

/** A call that names a silent worker answers which of its executions it has taken. */
function isRevoked({ answer: { result } }: Step, { id }: Execution): boolean {
  return result.kind === 'leases_revoked' && result.executionIds.includes(id)
}

function changeProblems(step: Step, before: Execution, after: Execution): string[] {
  const problems: string[] = []
  if (textOfRecord(before) === textOfRecord(after)) return problems
  // It was removed, and is a member of the next run.
  if (givesWay(step, before) && after.removed === undefined && hasEvent(step, after.id, 'execution_purged')) return []
  if (before.removed !== undefined) return renewalProblems(step, after)
  if (after.removed !== undefined) return reductionProblems(step, before, after)
  const isClaimed = claimedBy(step.answer.result)?.executions.some((one) => one.executionId === after.id) === true
  const isTimed = isClaimed || isOperation(step.call, 'claimForWorker') || isOperation(step.call, 'runDue')
  const isSubject = subjectOf(step.call) === after.id
  // A completion that claims the next handles what is due first, as every claim does.
  const mayTouchOthers =
    isTimed ||
    claimedBy(step.answer.result) !== undefined ||
    isOfItsFlow(step, after) ||
    isOfItsFamily(step, after) ||
    isRevoked(step, after)

  if (after.epoch < before.epoch) problems.push(`the epoch of ${after.id} fell`)
  if (after.epoch > before.epoch + 1) problems.push(`the epoch of ${after.id} jumped`)
  if (after.epoch > before.epoch && !isClaimed) problems.push(`${after.id} got a new epoch without a claim`)
  if (!isSubject && !mayTouchOthers) problems.push(`${after.id} changed though no call named it`)
  const isStopped =
    after.state.phase === 'ended' || after.unwinding !== undefined || hasEvent(step, after.id, 'execution_ended')
  if (isAskedToStop(before) && !isAskedToStop(after) && !isStopped) {
    problems.push(`the cancel request of ${after.id} was lost`)
  }
  if (before.followUp !== undefined && after.followUp === undefined) {
    const fate = ['follow_up_started', 'follow_up_dropped'].filter((type) => hasEvent(step, after.id, type))
    if (fate.length !== 1) problems.push(`the follow-up of ${after.id} is lost`)
  }
  if (before.state.phase === 'ended' && !isReborn(step, after)) {
    // Its edges may still be resolved, it may become part of a flow, and what it remembers may go before it does.
    const { tags: _before, member: _wasMember, journal: _wasWhole, ...endedBefore } = before
    const { tags: _after, member: _isMember, journal: _isWhole, ...endedAfter } = after
    if (!same(endedBefore, endedAfter)) problems.push(`${after.id} changed though it had ended`)
  }
  return problems
}

/** A purge leaves the id of an execution that has ended, when its retention is over and before its id is free. */
function reductionProblems(step: Step, before: Execution, after: Execution): string[] {
  const { state, retentionMs, dedupeMs = 0, member } = before
  const isDue = state.phase === 'ended' && (member !== undefined || state.at + retentionMs <= step.now)
  const isTaken = state.phase === 'ended' && state.at + dedupeMs > step.now
  const isRemoved = step.answer.result.kind === 'purged' || givesWay(step, before)
  const isRight = isDue && isTaken && isRemoved && same(after.state, state)
  return isRight ? [] : [`${after.id} was reduced to its id`]
}

/** An id of which nothing else is left is given to another execution only if the call asks for it. */
function renewalProblems({ call, answer }: Step, after: Execution): string[] {
  const isAsked = isOperation(call, 'createExecution') && ['replace', 'after'].includes(call.input.ifExists ?? '')
  const isRight = isAsked && call.input.executionId === after.id && answer.result.kind === 'created'
  return isRight && after.removed === undefined ? [] : [`the id of ${after.id} was given away while it was taken`]
}

function hasEvent(step: Step, id: string, type: string): boolean {
  return idsWithEvent(step, type).includes(id)
}

/** The executions and flows to which a step has done this. */
export function idsWithEvent({ before, after }: Step, type: string): string[] {
  const events = after.events.slice(before.events.length)
  return events.flatMap((event) => (event.type === type ? [event.executionId] : []))
}

/** The end of a child changes its parent. A parent that starts a child anew, or is removed, releases its children. */
function isOfItsFamily({ call, before, answer }: Step, { id, parent }: Execution): boolean {
  const subject = subjectOf(call)
  if (parent?.isReleased === true) return parent.executionId === subject || answer.result.kind === 'purged'
  return byId(before).get(subject ?? '')?.parent?.executionId === id
}

/** Whether the call was about the flow that the execution belongs to, or about another member of it. */
function isOfItsFlow({ call, before }: Step, { member }: Execution): boolean {
  if (member === undefined) return false
  if ('flowId' in call.input && call.input.flowId === member.flowId) return true
  if (call.operation === 'reconcileFlowCancels' || call.operation === 'reconcileSiblingCancels') return true
  const subject = subjectOf(call)
  return executionsOf(before).some((one) => one.id === subject && one.member?.flowId === member.flowId)
}

function isAskedToStop({ state }: Execution): boolean {
  return state.phase === 'active' && state.cancel !== undefined
}

/** Ended is final except for two calls, which are explicit; a flow replays one member after the other. */
function isReborn({ call, answer, before, after: dump }: Step, after: Execution): boolean {
  if (after.member !== undefined) {
    const events = dump.events.slice(before.events.length)
    return events.some(({ type, executionId }) => executionId === after.id && type === 'execution_replayed')
  }
  return subjectOf(call) === after.id && (answer.result.kind === 'replayed' || answer.result.kind === 'replaced')
}
