/**
 * Suspends an execution until a signal, a time or an operator ends its wait. Keeps the lease if buffered signals meet
 * the condition. Idempotent: a repeated call, also by a later holder, returns how the wait ended.
 */
import { cancelIfRequested } from '../../lifecycle/endings/pending-cancel.ts'
import type { Amounts } from '../../model/budget-schema.ts'
import type {
  ConditionNode,
  CountedNode,
  Journal,
  Step,
  TimeoutBehaviour,
  Waitpoint,
} from '../../model/journal-schema.ts'
import { leaseEnded, refuseToBegin, refuseUnlessHeld } from '../../lifecycle/fence.ts'
import type { LeaseRefusal, UnwindingInput, UnwindingRefusal } from '../../lifecycle/fence.ts'
import { OPEN_WAITPOINT_MAX } from '../../limits.ts'
import { suspend } from '../../lifecycle/phases.ts'
import type { Execution, ExecutionId, Fence, Instant } from '../../model/records.ts'
import { refused } from '../../results.ts'
import type { Refused } from '../../results.ts'
import type { Tx } from '../../tx.ts'
import { isMet, targetsOf } from '../../rules/condition.ts'
import { consumeMatched, matchBufferedSignals, satisfiersOf } from '../../lifecycle/journal/match-buffered-signals.ts'
import {
  isCut,
  isMailbox,
  journalOf,
  openWaitpointOf,
  scopeOf,
  stepKey,
  waitpointIdIn,
} from '../../rules/journal-ids.ts'
import { isFinal, putStep, refuseStep } from './record-step.ts'
import type { StepLimitRefusal } from './record-step.ts'
import { currentStep, findStep } from '../../lifecycle/find-step.ts'
import { EXPIRED, waitTargetsOf, waitpointAt } from '../../lifecycle/journal/wait-targets.ts'
import type { WaitTargets } from '../../lifecycle/journal/wait-targets.ts'
import { closeWaitpoints, openWaitpoint, reopenWaitpoint, viewOf } from '../../lifecycle/journal/waitpoint-records.ts'
import type { WaitpointView } from '../../lifecycle/journal/waitpoint-records.ts'
import { closeWait } from '../../lifecycle/journal/end-wait.ts'
import type { StepAnswer } from '../../lifecycle/journal/end-wait.ts'

export interface SuspendInput extends UnwindingInput {
  readonly executionId: ExecutionId
  readonly fence: Fence
  readonly stepKind: 'wait' | 'sleep'
  readonly name: string
  readonly nodes: readonly ConditionNode[]
  /** Targets that this wait opens itself. Any other target is a mailbox or was opened before. */
  readonly opens: readonly string[]
  readonly reason: string
  readonly timeoutMs?: number | undefined
  /** Times out when its waitpoint expires, if it does. */
  readonly untilExpiry?: boolean | undefined
  readonly onTimeout: TimeoutBehaviour
  readonly resumeDelayMs?: number | undefined
  readonly remindEveryMs?: number | undefined
  /** Of the question of a budget: what an approval adds to it, unless it names other amounts. */
  readonly asks?: Amounts | undefined
  /** The key that signs the tokens of waitpoints which this wait opens. */
  readonly keyId?: string | undefined
  /** A random text, part of these tokens. */
  readonly nonce?: string | undefined
}

export type SuspendResult =
  | {
      readonly kind: 'suspended' | 'already_suspended'
      readonly until: Instant | undefined
      readonly waitpoints: WaitpointView[]
    }
  /** The wait has ended: now, by buffered signals, or before. The lease is kept. */
  | { readonly kind: 'answered'; readonly step: Step }
  | { readonly kind: 'cancelled' | 'already_cancelled' }
  | LeaseRefusal
  | UnwindingRefusal
  | StepLimitRefusal
  | Refused<'execution_not_found' | 'waitpoint_not_found' | 'waitpoint_closed' | 'waitpoint_limit_exceeded'>

export function suspendExecution(tx: Tx, input: SuspendInput): SuspendResult {
  const execution = tx.get('execution', input.executionId)
  if (execution === undefined) return refused('execution_not_found', { executionId: input.executionId })
  if (leaseEnded(execution, input.fence, 'suspended')) {
    const waitpoints = waitpointsOf(tx, execution)
    return { kind: 'already_suspended', until: execution.lastLease?.until, waitpoints }
  }
  if (leaseEnded(execution, input.fence, 'cancelled')) return { kind: 'already_cancelled' }
  const refusal = refuseUnlessHeld(tx, execution, input.fence)
  if (refusal !== undefined) return refusal
  const existing = findStep(tx, execution, input.stepKind, input.name)
  if (existing !== undefined && isFinal(existing, execution.journal)) return { kind: 'answered', step: existing }
  const tooLate = refuseToBegin(execution, input)
  if (tooLate !== undefined) return tooLate
  const isKnown = triesOf(execution.journal, existing) > 0
  const isQuestion = input.asks !== undefined
  const request = { targets: targetsOf(input.nodes), opens: input.opens, isKnown, isQuestion }
  const targets = waitTargetsOf(tx, execution, request)
  if (targets.kind === 'refused') return targets
  const limit = refuseStep(execution, existing, 0)
  if (limit !== undefined) return limit
  const openCount = (execution.journal?.open.length ?? 0) + targets.fresh.length + targets.reopened.length
  if (openCount > OPEN_WAITPOINT_MAX) {
    return refused('waitpoint_limit_exceeded', { executionId: execution.id, limit: OPEN_WAITPOINT_MAX })
  }
  const scope = scopeOf(execution.id, execution.journal)
  const earlier = isKnown ? satisfiersOf(tx, scope, existing?.wait) : []
  const match = matchBufferedSignals(tx, input, targets, earlier)
  const answer = answerOf(match.wait.nodes, targets, input.onTimeout)

  if (cancelIfRequested(tx, execution) !== undefined) return { kind: 'cancelled' }
  const journal = journalOf(execution)
  const until = untilOf(tx, journal, input, targets)
  match.wait.until = until
  consumeMatched(tx, journal, match)
  const bound = bindWaitpoints(tx, execution, input, targets)
  const step = putStep(tx, execution, existing, {
    kind: input.stepKind,
    name: input.name,
    attemptCount: triesOf(journal, existing) + 1,
    size: 0,
    state: { phase: 'open', since: tx.now },
    wait: match.wait,
  })
  if (answer !== undefined) {
    closeWait(tx, execution, step, answer)
    tx.put(execution)
    tx.emit('step_recorded', execution, { attempt: input.fence.attempt, step: step.name, effect: answer.how })
    return { kind: 'answered', step }
  }
  const remindAt = input.remindEveryMs === undefined ? undefined : tx.now + input.remindEveryMs
  const key = stepKey(step.kind, step.name)
  suspend(tx, execution, { step: key, name: step.name, reason: input.reason, until, remindAt })
  return { kind: 'suspended', until, waitpoints: viewsOf(bound, journal) }
}

/** The close reason of a waitpoint that a question opens anew. */
const REPLACED = 'replaced'

/** How often the wait was started before, unless a replay has cut it. */
function triesOf(journal: Journal | undefined, existing: Step | undefined): number {
  return existing === undefined || journal === undefined || isCut(journal, existing.position)
    ? 0
    : existing.attemptCount
}

/** Returns the answer of a wait that ends at once: its condition is met, or no signal can arrive any more. */
function answerOf(
  nodes: readonly CountedNode[],
  targets: WaitTargets,
  onTimeout: TimeoutBehaviour,
): StepAnswer | undefined {
  if (isMet(nodes)) return { how: 'satisfied', by: undefined, reason: undefined }
  const closed = targets.closed[0]
  if (closed === undefined || canReceive(targets)) return undefined
  const reason = closed.reason
  if (reason !== EXPIRED) return { how: 'operator', by: undefined, reason }
  return onTimeout === 'resume' ? { how: 'timed_out', by: undefined, reason } : undefined
}

/** Whether a signal can still arrive. */
function canReceive(targets: WaitTargets): boolean {
  return targets.closed.length === 0 || targets.live.length + targets.fresh.length + targets.reopened.length > 0
}

function untilOf(tx: Tx, journal: Journal, input: SuspendInput, targets: WaitTargets): Instant | undefined {
  // A wait that nothing can answer times out at once.
  if (!canReceive(targets)) return tx.now
  if (input.timeoutMs !== undefined) return tx.now + Math.max(0, input.timeoutMs)
  if (input.untilExpiry !== true) return undefined
  for (const target of targets.all) {
    const expiresAt = openWaitpointOf(journal, target)?.expiresAt
    if (expiresAt !== undefined) return expiresAt
  }
  return undefined
}

/** Returns the waitpoints of the current wait, from which its holder signs tokens. */
function waitpointsOf(tx: Tx, execution: Execution): WaitpointView[] {
  const journal = execution.journal
  const ids: string[] = []
  for (const target of currentStep(tx, execution)?.wait?.targets ?? []) {
    if (!isMailbox(target)) ids.push(waitpointIdIn(scopeOf(execution.id, journal), target))
  }
  return journal === undefined ? [] : viewsOf(tx.getMany('waitpoint', ids), journal)
}

function viewsOf(waitpoints: readonly Waitpoint[], journal: Journal): WaitpointView[] {
  const views: WaitpointView[] = []
  for (const waitpoint of waitpoints) views.push(viewOf(waitpoint, journal))
  return views
}

/** Binds the waitpoints of a wait: from now on the wait decides how long they are open. */
function bindWaitpoints(tx: Tx, execution: Execution, input: SuspendInput, targets: WaitTargets): Waitpoint[] {
  const journal = journalOf(execution)
  const expired: string[] = []
  for (const { target } of targets.closed) if (openWaitpointOf(journal, target) !== undefined) expired.push(target)
  closeWaitpoints(tx, execution, { targets: expired, reason: EXPIRED })
  const bound: Waitpoint[] = []
  for (const target of targets.all) {
    if (targets.fresh.includes(target)) {
      if (openWaitpointOf(journal, target) !== undefined) {
        closeWaitpoints(tx, execution, { targets: [target], reason: REPLACED })
      }
      bound.push(openWaitpoint(tx, execution, { target, keyId: input.keyId, nonce: input.nonce }))
      continue
    }
    if (targets.reopened.includes(target)) reopenWaitpoint(tx, execution, target, undefined)
    const open = openWaitpointOf(journal, target)
    if (open !== undefined) open.expiresAt = undefined
    const waitpoint = waitpointAt(targets.waitpoints, target)
    if (waitpoint !== undefined && !isMailbox(target)) bound.push(waitpoint)
  }
  return bound
}
