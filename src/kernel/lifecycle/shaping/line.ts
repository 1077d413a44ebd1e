/**
 * The line of a shaping key: at most one of its executions may run, the others are blocked in the order of their places. Every
 * change of the line also writes the record of the key, which guards it.
 */
import { SHAPING_MEMORY_MS } from '../../limits.ts'
import { lineIndex } from '../../model/indexes.ts'
import type { Execution, ShapedBy, ShapingKey } from '../../model/records.ts'
import type { Tx } from '../../tx.ts'
import { releaseFromLine } from '../phases.ts'

/** Returns the record of a key that has shaped nothing yet. */
export function newShapingKey(tx: Tx, of: Pick<ShapingKey, 'id' | 'namespace' | 'kind' | 'task' | 'key'>): ShapingKey {
  return {
    type: 'shaping_key',
    ...of,
    current: undefined,
    since: tx.now,
    until: undefined,
    lastPlace: 0,
    heldSince: undefined,
    merged: [],
    removeAt: undefined,
  }
}

/** Returns the first or the last that waits in line. The caller has read the key. */
export function endOfLine(tx: Tx, keyId: string, end: 'first' | 'last'): Execution | undefined {
  return tx.scan({ index: lineIndex(keyId), reverse: end === 'last', limit: 1 }, 'execution')[0]
}

/** Returns the execution of the window, or the first in line; undefined if it was removed. */
export function currentOf(tx: Tx, key: ShapingKey): Execution | undefined {
  return key.current === undefined ? undefined : tx.get('execution', key.current)
}

/** Gives an execution the next place. Returns whether it must wait. The caller puts the key and the execution. */
export function takePlace(tx: Tx, key: ShapingKey, execution: Execution, shaping: ShapedBy): boolean {
  const place = key.lastPlace + 1
  const current = currentOf(tx, key)
  const mustWait = current !== undefined && current.id !== execution.id
  execution.shaping = { ...shaping, place, notBefore: undefined, holdsBack: undefined }
  key.lastPlace = place
  key.removeAt = undefined
  if (mustWait) return true
  key.current = execution.id
  key.heldSince = undefined
  return false
}

/** Gives an ended execution that runs again a new place, unless the others still wait for it. Returns whether it must wait. */
export function rejoinLine(tx: Tx, execution: Execution, shaping: ShapedBy): boolean {
  const { id, kind, key: name } = shaping
  const { namespace, task } = execution
  const of = { id, namespace, kind, task: kind === 'order' ? undefined : task, key: name }
  const key = tx.get('shaping_key', id) ?? newShapingKey(tx, of)
  const mustWait = takePlace(tx, key, execution, shaping)
  tx.put(key)
  return mustWait
}

/** Passes the turn on at the end of an execution, unless its failure holds back those after it. */
export function leaveLine(tx: Tx, execution: Execution, shaping: ShapedBy): void {
  if (shaping.place === undefined) return
  const key = tx.get('shaping_key', shaping.id)
  const next = endOfLine(tx, shaping.id, 'first')
  if (key === undefined) return
  if (key.current !== execution.id) {
    // It waited, so the line has changed.
    tx.put(key)
    return
  }
  if (shaping.onFailure !== 'block' || !hasFailed(execution)) {
    passOn(tx, key, next)
    return
  }
  execution.shaping = { ...shaping, holdsBack: true }
  tx.put(execution)
  key.heldSince = tx.now
  tx.put(key)
}

/** A cancel is a decision of its caller, and holds back nothing. */
function hasFailed({ state }: Execution): boolean {
  return state.phase === 'ended' && (state.outcome === 'failed' || state.outcome === 'expired')
}

/** Lets an execution run out of line to undo its steps. The caller changes its state. */
export function skipLine(tx: Tx, { state, shaping }: Execution): void {
  if (state.phase !== 'blocked' || state.by !== 'order' || shaping === undefined) return
  const key = tx.get('shaping_key', shaping.id)
  if (key !== undefined) tx.put(key)
}

/** Lets those after a failed execution run. Returns whether they were held back. */
export function continueLine(tx: Tx, execution: Execution): boolean {
  const { shaping } = execution
  if (shaping?.holdsBack !== true) return false
  const key = tx.get('shaping_key', shaping.id)
  const next = endOfLine(tx, shaping.id, 'first')
  execution.shaping = { ...shaping, holdsBack: undefined }
  tx.put(execution)
  if (key?.current === execution.id) passOn(tx, key, next)
  return true
}

function passOn(tx: Tx, key: ShapingKey, next: Execution | undefined): void {
  key.heldSince = undefined
  key.current = next?.id
  if (next !== undefined) {
    tx.put(key)
    releaseFromLine(tx, next)
  } else if (key.merged.length === 0) tx.remove('shaping_key', key.id)
  else {
    key.removeAt = tx.now + SHAPING_MEMORY_MS
    tx.put(key)
  }
}
