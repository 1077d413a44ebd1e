/** Removes unused records of a journal: steps that a replay has cut, and everything of earlier lives. */
import { signalPayloadKey, stepValueKey } from '../../model/blob-keys.ts'
import { idsOf } from '../../model/order.ts'
import { signalsIndex, stepsIndex, waitpointsIndex } from '../../model/indexes.ts'
import type { Journal, Step } from '../../model/journal-schema.ts'
import { SWEEP_PAGE_COUNT } from '../../limits.ts'
import type { Execution } from '../../model/records.ts'
import type { Tx } from '../../tx.ts'
import { releaseChild } from '../children/child-records.ts'
import { removeStreams } from './stream-records.ts'
import { scopeIn, scopeOf } from '../../rules/journal-ids.ts'

/** Runs one step of the sweep, and leaves room for the caller to put the execution. */
export function sweepJournal(tx: Tx, execution: Execution, journal: Journal): void {
  if (journal.firstLife < journal.life) {
    if (removeScope(tx, scopeIn(execution.id, journal.firstLife), journal)) journal.firstLife = journal.firstLife + 1
    return
  }
  const cut = journal.cuts[0]
  if (cut === undefined) return
  const index = stepsIndex(scopeOf(execution.id, journal))
  const page = tx.scan({ index, from: { score: cut.from }, to: cut.to - 1, limit: SWEEP_PAGE_COUNT }, 'step')
  for (const step of page) {
    if (tx.room() <= SWEEP_RESERVE) return
    if (step.kind === 'child') journal.childCount = Math.max(0, (journal.childCount ?? 0) - 1)
    removeStep(tx, step)
    journal.stepCount = journal.stepCount - 1
    journal.stepBytes = journal.stepBytes - step.size
  }
  if (page.length < SWEEP_PAGE_COUNT) journal.cuts = journal.cuts.slice(1)
}

/** Records that are put besides the removed ones. */
const SWEEP_RESERVE = 4

/** Removes a journal as far as the operation has room; true once nothing is left. The caller puts the execution. */
export function removeJournal(tx: Tx, execution: Execution): boolean {
  const journal = execution.journal
  if (journal === undefined) return true
  for (let life = journal.firstLife; life <= journal.life; life++) {
    if (!removeScope(tx, scopeIn(execution.id, life), journal)) return false
  }
  return true
}

function removeScope(tx: Tx, scope: string, { hasStreams }: Journal): boolean {
  if (hasStreams === true && !removeStreams(tx, scope, SWEEP_RESERVE)) return false
  for (const id of removable(tx, signalsIndex(scope))) {
    if (tx.has('signal', id)) tx.remove('signal', id)
    tx.forget(signalPayloadKey(id))
  }
  const limit = removableCount(tx)
  for (const step of limit === 0 ? [] : tx.scan({ index: stepsIndex(scope), limit }, 'step')) {
    // The release of a child is a write of its own.
    if (tx.room() <= SWEEP_RESERVE) return false
    removeStep(tx, step)
  }
  for (const id of removable(tx, waitpointsIndex(scope))) {
    if (tx.has('waitpoint', id)) tx.remove('waitpoint', id)
  }
  return tx.room() > SWEEP_RESERVE
}

/** Removes a step with its value. Its child is not needed any more. */
function removeStep(tx: Tx, step: Step): void {
  releaseChild(tx, step)
  tx.remove('step', step.id)
  tx.forget(stepValueKey(step.id))
}

/** Returns as many ids of an index as there is room to remove. */
function removable(tx: Tx, index: string): string[] {
  const limit = removableCount(tx)
  return limit === 0 ? [] : idsOf(tx.range({ index, limit }))
}

function removableCount(tx: Tx): number {
  return Math.max(0, tx.room() - SWEEP_RESERVE)
}
