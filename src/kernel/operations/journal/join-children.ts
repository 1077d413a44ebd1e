/**
 * Waits for children. The handler names them page by page; with the last page the join is decided, or the execution is
 * suspended until the end of a child decides it. Keeps the lease if the join is decided. Idempotent: a repeated call, also
 * by a later holder, returns the verdict.
 */
import { closeJoin } from '../../lifecycle/close-journal.ts'
import { cancelIfRequested } from '../../lifecycle/endings/pending-cancel.ts'
import { leaseEnded, refuseToBegin, refuseUnlessHeld } from '../../lifecycle/fence.ts'
import type { LeaseRefusal, UnwindingInput, UnwindingRefusal } from '../../lifecycle/fence.ts'
import { findStep } from '../../lifecycle/find-step.ts'
import { suspend } from '../../lifecycle/phases.ts'
import { CHILD_JOIN_MAX, CHILD_MAX } from '../../limits.ts'
import type { Join, Step } from '../../model/journal-schema.ts'
import type { Execution, ExecutionId, Fence } from '../../model/records.ts'
import { refused } from '../../results.ts'
import type { Refused } from '../../results.ts'
import { oweLoserCancels } from '../../rules/child-cancels.ts'
import { cancelsLosers, continuesJoin, countEnded, joinVerdictOf, newJoin } from '../../rules/join.ts'
import type { JoinInput } from '../../rules/join.ts'
import { isCut, journalOf, scopeOf, stepIdIn, stepKey } from '../../rules/journal-ids.ts'
import type { Tx } from '../../tx.ts'
import { isFinal, putStep, refuseStep } from './record-step.ts'
import type { StepLimitRefusal } from './record-step.ts'

export interface JoinChildrenInput extends JoinInput, UnwindingInput {
  readonly executionId: ExecutionId
  readonly fence: Fence
  /** The names of the children of this page, in the order of the handler's list. */
  readonly children: readonly string[]
  /** The place of the first of them in that list. */
  readonly offset: number
  /** Whether no page follows. */
  readonly isLast: boolean
}

export type JoinChildrenResult =
  /** The page is counted. The lease is kept. */
  | { readonly kind: 'joining' }
  /** The join has a verdict. The lease is kept. */
  | { readonly kind: 'decided'; readonly join: Join }
  | { readonly kind: 'suspended' | 'already_suspended' }
  | { readonly kind: 'cancelled' | 'already_cancelled' }
  | LeaseRefusal
  | UnwindingRefusal
  | StepLimitRefusal
  /** A child of this name was not started, or is to be started again. */
  | Refused<'execution_not_found' | 'step_not_found' | 'invalid_input'>

export function joinChildren(tx: Tx, input: JoinChildrenInput): JoinChildrenResult {
  const execution = tx.get('execution', input.executionId)
  if (execution === undefined) return refused('execution_not_found', { executionId: input.executionId })
  if (leaseEnded(execution, input.fence, 'suspended')) return { kind: 'already_suspended' }
  if (leaseEnded(execution, input.fence, 'cancelled')) return { kind: 'already_cancelled' }
  const refusal = refuseUnlessHeld(tx, execution, input.fence) ?? refuseJoin(execution, input)
  if (refusal !== undefined) return refusal
  const existing = findStep(tx, execution, 'join', input.name)
  if (existing?.join !== undefined && isFinal(existing, execution.journal)) {
    return input.isLast ? { kind: 'decided', join: existing.join } : { kind: 'joining' }
  }
  const tooLate = refuseToBegin(execution, input)
  if (tooLate !== undefined) return tooLate
  const children = childrenNamed(tx, execution, input.children)
  if (!Array.isArray(children)) return children
  const limit = refuseStep(execution, existing, 0)
  if (limit !== undefined) return limit

  if (input.isLast && cancelIfRequested(tx, execution) !== undefined) return { kind: 'cancelled' }
  const joinStep = beginJoin(tx, execution, existing, input)
  countPage(tx, execution, joinStep, { children, offset: input.offset })
  if (!input.isLast) {
    tx.put(joinStep)
    tx.put(execution)
    return { kind: 'joining' }
  }
  const decided = decideOrSuspend(tx, execution, joinStep)
  return decided === undefined ? { kind: 'suspended' } : { kind: 'decided', join: decided }
}

/** Refuses a join beyond its limits. */
export function refuseJoin(execution: Execution, input: JoinPage): Refused<'invalid_input'> | undefined {
  if (input.children.length > CHILD_JOIN_MAX) {
    return refused('invalid_input', { executionId: execution.id, limit: CHILD_JOIN_MAX })
  }
  if (input.need > CHILD_MAX || input.need > input.total) {
    return refused('invalid_input', { executionId: execution.id, limit: Math.min(CHILD_MAX, input.total) })
  }
  return undefined
}

interface JoinPage extends JoinInput {
  readonly children: readonly unknown[]
}

/** Returns the steps of children by name. Refuses if one of them has no child that runs or has ended in this round. */
function childrenNamed(
  tx: Tx,
  execution: Execution,
  names: readonly string[],
): Step[] | Refused<'step_not_found' | 'invalid_input'> {
  const scope = scopeOf(execution.id, execution.journal)
  const ids: string[] = []
  for (const name of names) ids.push(stepIdIn(scope, stepKey('child', name)))
  const found = tx.getMany('step', ids)
  const steps: Step[] = []
  for (const [i, name] of names.entries()) {
    const step = found[steps.length]
    if (names.indexOf(name) !== i) return refused('invalid_input', { executionId: execution.id, step: name })
    if (step === undefined || step.id !== ids[i] || !isUsable(step, execution)) {
      return refused('step_not_found', { executionId: execution.id, step: name })
    }
    steps.push(step)
  }
  return steps
}

/** Whether the child of a step runs, or its result counts. */
export function isUsable(step: Step, execution: Execution): boolean {
  const journal = execution.journal
  if (journal === undefined || isCut(journal, step.position)) return false
  return step.state.phase === 'open' || isFinal(step, journal)
}

/**
 * Returns the step of a join: the one that earlier pages of this lease have begun, or a new one. A join that begins again
 * gets a new position, so that children which it had marked before are not counted twice.
 */
export function beginJoin(tx: Tx, execution: Execution, existing: Step | undefined, input: JoinInput): Step {
  const journal = journalOf(execution)
  const join = newJoin(input, { round: journal.round, epoch: execution.epoch })
  if (existing?.join !== undefined && continuesJoin(existing, existing.join, join, journal)) return existing
  return putStep(tx, execution, existing, {
    kind: 'join',
    name: input.name,
    attemptCount: (existing?.attemptCount ?? 0) + 1,
    size: 0,
    state: { phase: 'open', since: tx.now },
    join,
    isAnew: true,
  })
}

interface CountedPage {
  readonly children: readonly Step[]
  readonly offset: number
}

/**
 * Adds children to a join. Children that have ended count at once, in the order of the page; the others count when they
 * end. The caller puts the join.
 */
export function countPage(tx: Tx, execution: Execution, joinStep: Step, { children, offset }: CountedPage): void {
  const join = joinStep.join
  if (join === undefined) return tx.fault('children are added to a step that is no join', execution.id)
  const key = stepKey('join', joinStep.name)
  const round = journalOf(execution).round
  for (const [i, step] of children.entries()) {
    const child = step.child
    if (child === undefined) return tx.fault('a join is to count a step that is no child', execution.id)
    // A page that is repeated has been counted.
    if (child.mark?.join === key && child.mark.position === joinStep.position) continue
    child.mark = { join: key, position: joinStep.position, ordinal: offset + i }
    child.round = round
    if (step.state.phase !== 'open') countEnded(join, offset + i, step.state.phase === 'completed')
    tx.put(step)
  }
}

/** Decides a join whose children are all known, or suspends the execution in it. Returns the join if it is decided. */
export function decideOrSuspend(tx: Tx, execution: Execution, joinStep: Step): Join | undefined {
  const join = joinStep.join
  if (join === undefined)
    return tx.fault('an execution is to wait for children in a step that is no join', execution.id)
  join.isFilled = true
  join.verdict = joinVerdictOf(join)
  if (join.verdict === 'pending') {
    tx.put(joinStep)
    const key = stepKey('join', joinStep.name)
    suspend(tx, execution, {
      step: key,
      name: joinStep.name,
      reason: 'children',
      until: undefined,
      remindAt: undefined,
    })
    return undefined
  }
  closeJoin(tx, joinStep)
  if (cancelsLosers(join)) oweLoserCancels(journalOf(execution), tx.now)
  tx.put(execution)
  tx.emit('step_recorded', execution, {
    attempt: execution.attempt?.number,
    step: joinStep.name,
    effect: join.verdict,
  })
  return join
}
