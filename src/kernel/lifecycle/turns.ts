/**
 * Turns divide a queue between keys, such as tenants, by start-time fair queueing. The first execution of a key gets the turn that
 * the queue has reached, and each further one a later turn, so a key with a long backlog cannot delay the first execution of
 * another. The later turns of a key are a step apart, in its phase, which makes up for the early first one. Each priority of a queue
 * counts its own turns. Turns are taken at the submit. A claim only reads the ready index, which is ordered by them.
 */
import { FAIRNESS_UNIT, ROTATION_STEP, SHARE_CHECK_MS } from '../limits.ts'
import { ROTATIONS_INDEX, SHARES_INDEX, shareId, turnScope } from '../model/indexes.ts'
import { nameStart } from '../model/names.ts'
import type { Execution, Instant, Share } from '../model/records.ts'
import { turnPhase } from '../rules/turn-phase.ts'
import type { Tx } from '../tx.ts'

function scopeOf({ lane, class: className, priority }: Execution): string {
  return turnScope(lane, className, priority)
}

/** Gives an execution the next turn of its key. The caller puts the execution. */
export function takeTurn(tx: Tx, execution: Execution): void {
  const { lane, fair } = execution
  if (fair === undefined) return
  const { key, weight } = fair
  const scope = scopeOf(execution)
  const id = shareId(scope, key)
  const reached = reachedTurn(tx, scope)
  const planned = tx.get('share', id)?.nextTurn
  const isFirst = planned === undefined || planned < reached
  const step = stepOf(weight)
  const turn = isFirst ? reached : inPhase(planned, step, Math.floor(step * turnPhase(key, execution.id)))
  tx.put({
    type: 'share',
    id,
    lane,
    scope,
    key,
    nextTurn: turn + step,
    weight,
    dueAt: nextCheckAt(tx.now),
  })
  execution.fair = { key, weight, turn }
}

/** Keeps the turn of an execution that another one replaces before it has started. Returns whether it could be kept. */
export function keepTurn(replaced: Execution, execution: Execution): boolean {
  const isSame = replaced.fair?.key === execution.fair?.key && scopeOf(replaced) === scopeOf(execution)
  if (isSame) execution.fair = replaced.fair
  return isSame
}

/** How far the turns of a key are apart. */
function stepOf(weight: number): number {
  return Math.max(1, Math.round(FAIRNESS_UNIT / weight))
}

/** Returns the first turn from a given one on that lies so far behind a multiple of the step. */
function inPhase(turn: number, step: number, offset: number): number {
  return turn + ((((offset - turn) % step) + step) % step)
}

function reachedTurn(tx: Tx, scope: string): number {
  return tx.get('rotation', scope)?.turn ?? 0
}

/** Rounded, so that the timer of a share that is used often seldom moves. */
function nextCheckAt(now: Instant): Instant {
  return (Math.floor(now / SHARE_CHECK_MS) + 2) * SHARE_CHECK_MS
}

/** Records the latest turns that a claim has taken. `isDrained`: nothing else was ready. */
export function reachTurns(tx: Tx, claimed: readonly Execution[], isDrained: boolean): void {
  const turns = new Map<string, number>()
  for (const execution of claimed) {
    if (execution.fair === undefined) continue
    const scope = scopeOf(execution)
    turns.set(scope, Math.max(turns.get(scope) ?? 0, execution.fair.turn))
  }
  for (const [scope, turn] of turns) reachTurn(tx, scope, turn, isDrained)
}

/**
 * Only now and then, since every submit to the queue depends on the record: a key that has been idle is at most one step ahead of its
 * share.
 */
function reachTurn(tx: Tx, scope: string, turn: number, isDrained: boolean): void {
  const reached = reachedTurn(tx, scope)
  if (turn >= reached + ROTATION_STEP || (isDrained && turn > reached)) tx.put({ type: 'rotation', id: scope, turn })
}

/** Removes a share that decides nothing any more, because its queue has reached the last turn of its key. Else it is checked later. */
export function checkShare(tx: Tx, share: Share): void {
  if (share.nextTurn - stepOf(share.weight) <= reachedTurn(tx, share.scope)) tx.remove('share', share.id)
  else tx.put({ ...share, dueAt: nextCheckAt(tx.now) })
}

/** Removes what is left of the turns of a lane without executions. What does not fit is removed when the lane is empty again. */
export function removeTurns(tx: Tx, lane: string): void {
  const room = tx.room()
  const shares = tx.scan({ index: SHARES_INDEX, from: { score: 0, id: lane }, limit: room }, 'share')
  const own = shares.filter((share) => share.lane === lane)
  for (const { id } of own) tx.remove('share', id)
  const left = room - own.length
  if (left <= 0) return
  const rotations = tx.scan({ index: ROTATIONS_INDEX, from: { score: 0, id: lane }, limit: left }, 'rotation')
  for (const { id } of rotations) if (nameStart(id) === lane) tx.remove('rotation', id)
}
