/** The records of children: their steps in the journal of the parent, and their links to it. */
import type { Step } from '../../model/journal-schema.ts'
import type { Execution, Parent } from '../../model/records.ts'
import { isKeptForParent } from '../../rules/execution-state.ts'
import { scopeIn, stepIdIn, stepKey } from '../../rules/journal-ids.ts'
import type { Tx } from '../../tx.ts'

/** Returns the id of the step in the parent's journal that stands for a child. */
export function childStepId({ executionId, life, name }: Pick<Parent, 'executionId' | 'life' | 'name'>): string {
  return stepIdIn(scopeIn(executionId, life), stepKey('child', name))
}

/** The records that the end of a child reads: its parent, its step there, and the join that it was started for. */
export type ParentRef = Readonly<Pick<Parent, 'executionId' | 'life' | 'name' | 'join'>>

/** Returns undefined if the end of the execution concerns no parent. */
export function parentRefOf(execution: Execution): ParentRef | undefined {
  const parent = execution.parent
  if (parent === undefined || !isKeptForParent(execution)) return undefined
  return { executionId: parent.executionId, life: parent.life, name: parent.name, join: parent.join }
}

/**
 * Releases the child of a step that is removed or gets another child: its end is not reported any more, and it is removed
 * after its own retention. Writes at most one record.
 */
export function releaseChild(tx: Tx, step: Step): void {
  const link = step.child
  if (link === undefined || link.isDetached === true) return
  const child = tx.get('execution', link.executionId)
  const parent = child?.parent
  if (child === undefined || parent === undefined || !isKeptForParent(child)) return
  if (childStepId(parent) !== step.id) return
  parent.isReleased = true
  tx.put(child)
}
