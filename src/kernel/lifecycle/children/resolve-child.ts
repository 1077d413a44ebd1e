/** Applies the end of a child to the journal of its parent, in the same operation. */
import { closeJoin, settleChild } from '../close-journal.ts'
import { currentStepId } from '../find-step.ts'
import { resume } from '../phases.ts'
import type { Step } from '../../model/journal-schema.ts'
import type { Execution, Outcome } from '../../model/records.ts'
import { oweLoserCancels } from '../../rules/child-cancels.ts'
import { isKeptForParent } from '../../rules/execution-state.ts'
import { cancelsLosers, countEnded, joinVerdictOf } from '../../rules/join.ts'
import { journalOf, scopeOfStep, stepIdIn } from '../../rules/journal-ids.ts'
import type { Tx } from '../../tx.ts'
import { childStepId } from './child-records.ts'

/**
 * Closes the step of a child that has ended, and counts the child in the join that waits for it. Resumes the parent if that
 * decides the join. No-op if the step is gone, closed, or has another child by now.
 */
export function resolveChild(tx: Tx, child: Execution): void {
  const parent = child.parent
  const state = child.state
  if (parent === undefined || state.phase !== 'ended' || !isKeptForParent(child)) return
  const step = tx.get('step', childStepId(parent))
  if (step?.child?.executionId !== child.id || step.state.phase !== 'open') return
  settleChild(tx, step, child)
  countChild(tx, step, state.outcome)
}

/** Counts an ended child in its join, and decides the join. A join that has begun again or is closed counts no more. */
function countChild(tx: Tx, step: Step, outcome: Outcome): void {
  const mark = step.child?.mark
  if (mark === undefined) return
  const joinStep = tx.get('step', stepIdIn(scopeOfStep(step), mark.join))
  const join = joinStep?.join
  if (joinStep === undefined || join === undefined) return
  if (joinStep.state.phase !== 'open' || joinStep.position !== mark.position) return
  countEnded(join, mark.ordinal, outcome === 'completed')
  join.verdict = joinVerdictOf(join)
  if (join.verdict === 'pending') {
    tx.put(joinStep)
    return
  }
  closeJoin(tx, joinStep)
  wakeParent(tx, joinStep, cancelsLosers(join))
}

function wakeParent(tx: Tx, joinStep: Step, owesCancels: boolean): void {
  const parent = tx.get('execution', joinStep.executionId)
  if (parent === undefined) return tx.fault('a join belongs to an execution that does not exist', joinStep.executionId)
  if (owesCancels) oweLoserCancels(journalOf(parent), tx.now)
  if (currentStepId(parent) !== joinStep.id) {
    // Its handler runs, or waits elsewhere: it reads the verdict when it joins.
    if (owesCancels) tx.put(parent)
    return
  }
  journalOf(parent).resumed = { step: joinStep.name, cause: 'children' }
  resume(tx, parent, { step: joinStep.name, cause: 'children', by: undefined, delayMs: 0 })
}
