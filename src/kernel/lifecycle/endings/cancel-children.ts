/** Cancels the children of an execution that was stopped, and the losers of decided joins. */
import { stepsIndex } from '../../model/indexes.ts'
import { CANCEL_GRACE_DEFAULT_MS, CHILD_CANCEL_PAGE_COUNT, CHILD_CANCEL_WORK, CHILD_END_WORK } from '../../limits.ts'
import type { Join, Step } from '../../model/journal-schema.ts'
import type { Execution, ExecutionId } from '../../model/records.ts'
import { mergeCancels } from '../../rules/child-cancels.ts'
import { LOST_TO_FAILURE, LOST_TO_SIBLING } from '../../rules/flow-state.ts'
import { journalOf, scopeOf, scopeOfStep, stepIdIn } from '../../rules/journal-ids.ts'
import type { Tx } from '../../tx.ts'
import { hasLiveLease, requestCancel } from '../cancel-request.ts'
import { readWaitsAhead } from '../find-step.ts'
import { beginFollowUp } from '../follow-up.ts'
import { stopExecution } from './end-execution.ts'

/** The reason of children whose parent was cancelled or has reached its deadline. `by` names the parent. */
export const PARENT_STOPPED = 'parent_stopped'

/** The reason of a child that its parent needs no more, because another child of a wait for all has failed. */
export const SIBLING_FAILED = 'sibling_failed'

/**
 * Cancels children whose cancel is pending, as far as the operation has room, and puts the execution with the position to
 * continue from. The steps are guarded by the execution, so no child is missed.
 */
export function cancelChildren(tx: Tx, execution: Execution): void {
  const pending = execution.journal?.childCancels
  if (pending === undefined) return tx.fault('an execution has no pending cancels of children', execution.id)
  const index = stepsIndex(scopeOf(execution.id, execution.journal))
  const range = { index, from: { score: pending.from }, to: pending.to - 1, limit: CHILD_CANCEL_PAGE_COUNT }
  const page = tx.scan(range, 'step')
  let from = page.length < CHILD_CANCEL_PAGE_COUNT ? undefined : (page[page.length - 1]?.position ?? 0) + 1
  // The end of a child may decide a join, which makes more cancels pending: what is there after the loop is new.
  journalOf(execution).childCancels = undefined
  tx.put(execution)
  const open = openChildren(tx, page, pending.allTo)
  const ids = open.map(({ childId }) => childId)
  for (const [i, { position, childId, reason }] of open.entries()) {
    if (tx.room() < CHILD_CANCEL_WORK + CHILD_END_WORK) {
      from = position
      break
    }
    readWaitsAhead(tx, ids, i)
    const child = tx.get('execution', childId)
    if (child !== undefined) stopChild(tx, child, reason)
  }
  // The end of a child may have changed the execution.
  const current = tx.get('execution', execution.id) ?? execution
  const left = mergeCancels(from === undefined ? undefined : { ...pending, from }, journalOf(current).childCancels)
  for (const one of [current, execution]) journalOf(one).childCancels = left && { ...left }
  tx.put(current)
  const followUp = current.followUp
  if (left === undefined && current.state.phase === 'ended' && followUp !== undefined)
    beginFollowUp(tx, current, followUp)
}

interface OpenChild {
  readonly childId: ExecutionId
  /** The position of its step in the journal of its parent. */
  readonly position: number
  /** Why it is cancelled. */
  readonly reason: string
}

/** Returns the running children that are to be cancelled. */
function openChildren(tx: Tx, page: readonly Step[], allTo: number): OpenChild[] {
  const found: OpenChild[] = []
  const joins = new Map<string, Step | undefined>()
  for (const step of page) {
    if (step.child === undefined || step.state.phase !== 'open') continue
    const reason = step.position < allTo ? PARENT_STOPPED : reasonForLoser(tx, step, joins)
    if (reason !== undefined) found.push({ childId: step.child.executionId, position: step.position, reason })
  }
  return found
}

/** Returns why the child of a step is no longer needed; undefined unless its join was decided without it. */
function reasonForLoser(tx: Tx, step: Step, joins: Map<string, Step | undefined>): string | undefined {
  const mark = step.child?.mark
  if (mark === undefined) return undefined
  const id = stepIdIn(scopeOfStep(step), mark.join)
  if (!joins.has(id)) joins.set(id, tx.get('step', id))
  const joinStep = joins.get(id)
  return joinStep?.position === mark.position ? reasonToCancel(joinStep.join) : undefined
}

function reasonToCancel(join: Join | undefined): string | undefined {
  if (join === undefined || join.losers === 'let_run' || join.verdict === 'pending') return undefined
  if (join.verdict === 'satisfied') return LOST_TO_SIBLING
  return join.policy === 'all' ? SIBLING_FAILED : LOST_TO_FAILURE
}

/** Stops a child as a cancel would: its holder has a grace, and a child with completed steps may undo them. */
function stopChild(tx: Tx, child: Execution, reason: string): void {
  const by = child.parent?.executionId
  if (by === undefined || child.state.phase === 'ended' || child.unwinding !== undefined) return
  if (hasLiveLease(tx, child)) requestCancel(tx, child, { reason, by, graceMs: CANCEL_GRACE_DEFAULT_MS })
  else stopExecution(tx, child, { outcome: 'cancelled', reason, by }, 'cancelled')
}
