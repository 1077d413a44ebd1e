/** Formats an explanation as one or two sentences: why is this execution not running? */
import {
  BY_FLOW,
  CONDITION_NOT_MET,
  DEFAULT_NAMESPACE,
  DEPENDENCY_IMPOSSIBLE,
  LOST_TO_CONDITION,
  LOST_TO_FAILURE,
  LOST_TO_SIBLING,
  PARENT_STOPPED,
  SIBLING_FAILED,
  UPSTREAM_CONDITION_NOT_MET,
  isMailbox,
} from '../../kernel/index.ts'
import type {
  BlockCause,
  EdgeGroup,
  Explanation,
  Failure,
  InputRefusals,
  LaneHold,
  LineBlock,
  Outcome,
  TimeoutBehaviour,
  Unwinding,
} from '../../kernel/index.ts'
import { limitText } from '../limits/limit-text.ts'
import type { BlockingBudget, BlockingLimit } from '../limits/limit-text.ts'
import type { ServingWorkers } from '../workers/serving-workers.ts'

/** Senders that a text names. */
const NAMED_SENDER_MAX = 5

/** The upstream because of which an execution was skipped, as far as it is known. */
export interface SkippedBy {
  readonly node: string | undefined
  readonly outcome: Outcome | undefined
}

/** Facts from outside of the execution. */
export interface ExplanationContext {
  readonly skippedBy?: SkippedBy | undefined
  /** The live workers that serve its queue; undefined if they are not known. */
  readonly workers?: ServingWorkers | undefined
  /** The limit or the budget that blocks it, as it is now. */
  readonly limit?: BlockingLimit | BlockingBudget | undefined
}

export function explanationText(explanation: Explanation, context: ExplanationContext = {}): string {
  const { skippedBy, workers, limit } = context
  switch (explanation.why) {
    case 'waits_for_worker':
      return waitingText(explanation, workers)
    case 'delayed':
      return delayedText(explanation)
    case 'blocked':
      return explanation.waitsForCount > 0 ? dependencyText(explanation) : blockedText(explanation, limit)
    case 'running':
      return runningText(explanation)
    case 'suspended':
      return suspendedText(explanation)
    case 'waits_for_children':
      return childrenText(explanation)
    case 'ended':
      return endedText(explanation, skippedBy)
  }
}

/** Why it runs, or waits to run, although it was stopped. */
export function unwindingText(facts: UnwindingFacts): string {
  const { endsAt } = facts
  return `${stopText(facts)}, and its handler may undo the steps that it has completed; it ends when that is done, or at ${instant(endsAt)} at the latest.`
}

function stopText({ outcome, reason, by }: UnwindingFacts): string {
  switch (outcome) {
    case 'cancelled':
      return `${by ?? 'The engine'} cancelled it (${reason})`
    case 'expired':
      return reason === 'execution_deadline' ? 'Its deadline is over' : `Its time is over (${reason})`
    case 'failed':
      return `It has failed for good (${reason.split('\n')[0] ?? ''})`
    case 'skipped':
      return `It is skipped (${reason})`
  }
}

type UnwindingFacts = Pick<Unwinding, 'outcome' | 'reason' | 'by'> & { readonly endsAt: number }

const blockText: Readonly<Record<BlockCause, string>> = {
  dependencies: 'executions that it depends on have not ended',
  limit: 'a limit has no permit for it',
  order: 'an earlier execution of its key has not ended',
  hold: 'nothing of its flow runs before the flow is whole and sealed',
}

function blockedText(
  { since, by, limit, line }: Extract<Explanation, { why: 'blocked' }>,
  now: BlockingLimit | BlockingBudget | undefined,
): string {
  if (limit !== undefined) return limitText(since, limit, now)
  if (line !== undefined) return lineText(since, line)
  return `It is held back since ${instant(since)}: ${blockText[by]}.`
}

/** Which execution of its key it waits for, and what an operator can do about one that has failed. */
function lineText(since: number, { kind, key, current, heldSince, ahead, aheadLimit }: LineBlock): string {
  const of = `${kind} '${key}'`
  const others =
    ahead === 0 ? '' : `, after ${ahead > aheadLimit ? `more than ${aheadLimit}` : ahead} that came before it`
  if (current === undefined) return `It waits for its turn in ${of} since ${instant(since)}${others}.`
  const { executionId, state } = current
  if (heldSince === undefined) {
    return `It waits since ${instant(since)} until ${executionId} (${state}) of ${of} has ended${others}.`
  }
  return `${executionId} of ${of} has failed at ${instant(heldSince)} and holds back all executions after it: run "flowfabric replay ${executionId}", or "flowfabric continue ${executionId}" to go on without it. It waits since ${instant(since)}${others}.`
}

function dependencyText(explanation: Extract<Explanation, { why: 'blocked' }>): string {
  const { since, waitsFor, waitsForCount, group } = explanation
  const named = waitsFor.map(({ name, executionId, state }) => `${nodeText(name, executionId)} (${state})`)
  const more = waitsForCount - named.length
  const list = more > 0 ? `${named.join(', ')} and ${more} more` : named.join(', ')
  return `It waits since ${instant(since)} ${goalText(group, waitsForCount)}. Not ended yet: ${list}.`
}

function goalText(group: EdgeGroup | undefined, open: number): string {
  if (group === undefined || group.policy === 'all_of') {
    const total = Math.max(open, group?.total ?? 0)
    return total === 1 ? 'for the one that it depends on' : `for all ${total} that it depends on`
  }
  if (group.policy === 'ended') return `until all ${group.total} that it depends on have ended, whatever their outcome`
  return `until ${group.need} of ${group.total} have completed; ${group.completed} ${group.completed === 1 ? 'has' : 'have'} so far`
}

function nodeText(name: string | undefined, id: string): string {
  return name === undefined || name === '' ? id : `'${name}'`
}

function waitingText(
  explanation: Extract<Explanation, { why: 'waits_for_worker' }>,
  serving: ServingWorkers | undefined,
): string {
  const { ahead, aheadLimit, activeInLane, lane, task, version, since } = explanation
  const handler = version === undefined ? `task '${task}'` : `version ${version} of task '${task}'`
  const queue =
    ahead === 0
      ? 'It is first in line'
      : `${ahead > aheadLimit ? `More than ${aheadLimit}` : ahead} executions are ahead of it`
  const unknown =
    activeInLane === 0
      ? `No worker holds any execution of lane '${lane}' now: check that a worker with a handler for ${handler} serves it, since no other can take it.`
      : `Workers hold ${activeInLane} executions of lane '${lane}' now: it starts when one that has a handler for ${handler} has a free slot. If others of the lane overtake it, no worker ${version === undefined ? 'knows the task by this name' : 'serves this version'}.`
  const workers = serving === undefined ? unknown : servingText(serving, lane, handler)
  const refused = explanation.refusals === undefined ? '' : ` ${refusalText(explanation.refusals)}`
  const { hold, isTaskHeld } = explanation
  if (hold !== undefined) {
    const held = holdText(hold, lane, isTaskHeld ? task : undefined)
    return `It has been ready since ${instant(since)}. ${held} ${queue}.`
  }
  return `It has been ready since ${instant(since)} and waits for a worker. ${queue}. ${workers}${requirementsText(explanation)}${refused}`
}

/** What else a worker must have, besides the handler. */
function requirementsText({ needs, namespace }: Extract<Explanation, { why: 'waits_for_worker' }>): string {
  const needed =
    needs.length === 0 ? '' : ` It needs ${needs.join(', ')}: only workers with these capabilities can take it.`
  const own =
    namespace === DEFAULT_NAMESPACE ? '' : ` It is in namespace '${namespace}': workers of other namespaces leave it.`
  return `${needed}${own}`
}

function servingText(serving: ServingWorkers, lane: string, handler: string): string {
  const { liveCount, handlerCount, servingCount, slots, running, missing } = serving
  if (handlerCount === 0) {
    const live = liveCount === 1 ? 'One worker is' : `${liveCount === 0 ? 'No' : liveCount} workers are`
    return `No live worker serves ${handler} in lane '${lane}'. ${live} live: start one with a handler for it.`
  }
  if (servingCount === 0) {
    const lacking = missing.length > 0 ? `has ${missing.join(', ')}` : 'has all capabilities that it needs'
    return `No live worker that serves ${handler} in lane '${lane}' ${lacking}.`
  }
  const workers = servingCount === 1 ? 'One live worker serves' : `${servingCount} live workers serve`
  return `${workers} ${handler} in lane '${lane}', with ${running} of ${slots} slots taken: it starts when a slot is free.`
}

/** `task` is given if only that task of the lane is held. */
function holdText({ state, by, at, reason }: LaneHold, lane: string, task: string | undefined): string {
  const what = task === undefined ? `Lane '${lane}'` : `Task '${task}' in lane '${lane}'`
  const why = reason === undefined ? '' : ` (${reason})`
  const command = `flowfabric lanes resume ${lane}${task === undefined ? '' : ` --task ${task}`}`
  return `${what} was ${state} by ${by} at ${instant(at)}${why}: it starts after "${command}".`
}

/** Names the builds, so that an operator knows which program lacks the schema or the definition. */
function refusalText({ count, builds, reason }: InputRefusals): string {
  const times = count === 1 ? 'once' : `${count} times`
  return `Workers refused it ${times} (build ${builds.join(', ')}), because it does not fit their program: ${reason.replace(/\.$/, '')}. Another build may accept it.`
}

function delayedText(explanation: Extract<Explanation, { why: 'delayed' }>): string {
  const until = explanation.isOverdue
    ? `Its delay ended at ${instant(explanation.until)}: it is offered as soon as a worker or an engine runs.`
    : `It may run from ${instant(explanation.until)} on.`
  switch (explanation.cause) {
    case 'submitted':
      return `It was submitted with a delay. ${until}`
    case 'debounce':
      return `It collects submits of its key; each replaces its input. ${until}`
    case 'worker':
      return explanation.refusals === undefined
        ? `Its handler postponed it. ${until}`
        : `${refusalText(explanation.refusals)} ${until}`
    case 'resume':
      return `The wait was met, and it resumes after a delay. ${until}`
    case 'retry':
      return `Attempt ${explanation.failureCount} of ${explanation.attempts} failed${failureText(explanation.failure)}; it waits before the next. ${until}`
  }
}

type Suspended = Extract<Explanation, { why: 'suspended' }>

/** What it waits for, its timeout, and how to send the signal. */
function suspendedText(explanation: Suspended): string {
  const { step, stepKind, since, until, isOverdue } = explanation
  if (stepKind === 'wait') {
    return [`${waitText(explanation)}.`, reasonText(explanation), timeoutText(explanation), senderText(explanation)]
      .filter((sentence) => sentence !== '')
      .join(' ')
  }
  const what =
    stepKind === 'sleep'
      ? `It sleeps in '${step}' since ${instant(since)}`
      : `Step '${step}' failed at ${instant(since)} and will be retried`
  if (until === undefined) return `${what}.`
  if (!isOverdue) return `${what}; it resumes at ${instant(until)}.`
  return `${what}. Its delay ended at ${instant(until)}: it resumes as soon as a worker or an engine runs.`
}

/** Other reasons than the kind of the wait, such as what a budget has no room for. */
function reasonText({ reason }: Suspended): string {
  return reason.includes(' ') ? `The reason: ${reason}.` : ''
}

/** What it waits for, how far that is, and which children have not ended. */
function childrenText({ since, step, join, waitsFor }: Extract<Explanation, { why: 'waits_for_children' }>): string {
  const { policy, total, need, completed, failed } = join
  const all = total === 1 ? 'its child' : `all ${total} children`
  const goal =
    policy === 'quorum'
      ? `until ${need} of ${total} children have completed`
      : `until ${all} ${total === 1 ? 'has' : 'have'} ${policy === 'all' ? 'completed' : 'ended'}`
  const named = waitsFor.map(({ name, executionId, state }) => `${nodeText(name, executionId)} (${state})`)
  const more = total - completed - failed - named.length
  const list = more > 0 ? [...named, `${more} more`] : named
  const open = list.length === 0 ? '' : ` Not ended yet: ${list.join(', ')}.`
  return `It waits in '${step}' since ${instant(since)} ${goal}; so far ${completed} completed and ${failed} failed.${open}`
}

function waitText({ step, since, reason, isEscalated, targets, from, counts }: Suspended): string {
  const where = `in '${step}' since ${instant(since)}`
  if (isEscalated) return `Its wait ${where} timed out, and it waits for an operator now`
  if (targets.length === 0) return `It waits for an operator ${where}`
  const signal = reason === 'approval' ? 'for approval' : `for a signal ${targets.map(placeText).join(' or ')}`
  const what = from.length === 0 ? signal : `${signal} by ${sendersText(from)}`
  const come = counts.map(({ name, has, need }) => `${has} of ${need}${name === undefined ? '' : ` '${name}'`}`)
  return `It waits ${what} ${where}${come.length === 0 ? '' : `; so far ${come.join(', ')}`}`
}

function sendersText(from: readonly string[]): string {
  const named = from.slice(0, NAMED_SENDER_MAX).map((sender) => `'${sender}'`)
  return [...named, ...(from.length > named.length ? [`${from.length - named.length} more`] : [])].join(' or ')
}

function placeText(target: string): string {
  return isMailbox(target) ? `'${target.slice(1)}'` : `at waitpoint '${target}'`
}

const afterwards: Readonly<Record<TimeoutBehaviour, string>> = {
  resume: 'it resumes without an answer',
  resume_with_signal: 'it resumes with a timeout signal',
  fail: 'it fails',
  cancel: 'it is cancelled',
  expire: 'it expires',
  escalate: 'it keeps waiting, marked for an operator',
}

function timeoutText({ until, isOverdue, onTimeout = 'resume', isEscalated }: Suspended): string {
  if (isEscalated) return 'The signals it waited for still end the wait.'
  if (until === undefined) return 'It has no timeout.'
  if (!isOverdue) return `If that has not come by ${instant(until)}, ${afterwards[onTimeout]}.`
  return `The wait timed out at ${instant(until)}: ${afterwards[onTimeout]} as soon as a worker or an engine runs.`
}

function senderText({ reason, targets }: Suspended): string {
  const waitpoint = targets.find((target) => !isMailbox(target))
  const mailbox = targets.find(isMailbox)
  const resume = 'flowfabric resume <id>'
  if (targets.length === 0) return `Resume it with ${resume}.`
  const send =
    reason === 'approval'
      ? `flowfabric approve <id> ${waitpoint ?? ''}`
      : mailbox !== undefined
        ? `flowfabric signal <id> ${mailbox.slice(1)}`
        : `flowfabric signal <id> <name> --waitpoint ${waitpoint ?? ''}`
  return `Answer with ${send}, or resume it without an answer: ${resume}.`
}

function runningText(explanation: Extract<Explanation, { why: 'running' }>): string {
  const { attempt, workerId, since, leaseExpiresAt, isLeaseExpired, cancel } = explanation
  const lease = isLeaseExpired
    ? `The worker's lease ran out at ${instant(leaseExpiresAt)}: it is offered again as soon as a worker or an engine runs.`
    : `The worker's lease runs until ${instant(leaseExpiresAt)}.`
  const pendingCancel =
    cancel === undefined
      ? ''
      : ` ${cancel.by} asked for it to be cancelled (${cancel.reason}); it ends at ${instant(cancel.forceAt)} at the latest.`
  return `It is running: attempt ${attempt} on worker '${workerId}' since ${instant(since)}. ${lease}${pendingCancel}`
}

type Ended = Extract<Explanation, { why: 'ended' }>

function endedText(explanation: Ended, skippedBy: SkippedBy | undefined): string {
  const { outcome, endedAt, failure, undoFailure } = explanation
  const cause = skipText(explanation, skippedBy) ?? cancelText(explanation) ?? failureText(failure)
  const undone = undoFailure === undefined ? '' : ` Not all of its steps were undone: ${firstLineOf(undoFailure)}.`
  return `It ended at ${instant(endedAt)}: ${outcome}${cause}.${undone}`
}

function skipText({ outcome, reason, by }: Ended, skippedBy: SkippedBy | undefined): string | undefined {
  if (outcome !== 'skipped') return undefined
  if (reason === CONDITION_NOT_MET) return ', since its condition was not met'
  if (by === undefined) return reason === undefined ? undefined : `, since ${reason}`
  if (reason === UPSTREAM_CONDITION_NOT_MET) {
    return `, since a condition was not met before it: ${nodeText(skippedBy?.node, by)} (skipped)`
  }
  if (reason !== DEPENDENCY_IMPOSSIBLE) return undefined
  const how = skippedBy?.outcome === undefined ? '' : ` (${skippedBy.outcome})`
  return `, since what it depended on did not complete: ${nodeText(skippedBy?.node, by)}${how}`
}

function cancelText({ outcome, reason, by }: Ended): string | undefined {
  if (outcome !== 'cancelled') return undefined
  if (by === BY_FLOW && reason === LOST_TO_SIBLING) return ', since enough others of its race had completed'
  if (by === BY_FLOW && reason === LOST_TO_FAILURE) return ', since too few others of its race could still complete'
  if (by === BY_FLOW && reason === LOST_TO_CONDITION) return ', since conditions skipped too many others of its race'
  if (reason === PARENT_STOPPED) return `, since its parent ${by ?? ''} was stopped`
  if (reason === LOST_TO_SIBLING) return ', since enough other children had completed'
  if (reason === SIBLING_FAILED) return ', since another child did not complete and its parent waited for all'
  if (reason === LOST_TO_FAILURE) return ', since too few other children could still complete'
  return ` by ${by ?? 'an unnamed caller'} (${reason ?? 'no reason given'})`
}

function failureText(failure: Failure | undefined): string {
  return failure === undefined ? '' : ` (${failure.category}: ${firstLineOf(failure)})`
}

function firstLineOf({ message }: Failure): string {
  return message.split('\n')[0] ?? ''
}

function instant(ms: number): string {
  return new Date(ms).toISOString()
}
