/**
 * Walks over all members of a flow in the order of their ranks: releases a held flow, cancels the members of a
 * cancelled flow, or replays skipped members. An operation starts the walk and works as far as it has room; the due
 * pass resumes it.
 */
import { hasLiveLease, requestCancel } from '../cancel-request.ts'
import { readWaitsAhead } from '../find-step.ts'
import { membersIndex } from '../../model/indexes.ts'
import { MEMBER_PAGE_MAX, RESOLVE_EDGE_WORK, RESOLVE_RESERVE } from '../../limits.ts'
import { enterEnded, unblock, wakeToUnwind } from '../phases.ts'
import { hasStepsToUndo } from '../../rules/execution-state.ts'
import type { Execution, Flow, FlowWalk } from '../../model/records.ts'
import type { Tx } from '../../tx.ts'
import { verdictOf } from '../../rules/edge-group.ts'
import { putFlow, shiftCount } from '../flow-counts.ts'
import { bucketOf, mayGrow } from '../../rules/flow-state.ts'
import { firstFailedUpstream } from './inbound.ts'
import { replaySkipped } from './replay-member.ts'
import { decideGroup, followEnds } from './resolve-edges.ts'

/** Runs one step of the walk, as far as the operation has room. Puts the flow. */
export function walkFlow(tx: Tx, flow: Flow): void {
  const walk = flow.walk
  if (walk === undefined || walk.purpose === 'remove') return tx.fault('a flow has no walk to continue', flow.id)
  const from = walk.fromId === undefined ? undefined : { score: walk.fromRank ?? 0, id: walk.fromId }
  const page = tx.range({ index: membersIndex(flow.id), from, limit: MEMBER_PAGE_MAX + 1 })
  const ids = page.map(({ id }) => id)
  for (let i = 0; i < page.length; i++) {
    const entry = page[i]
    if (entry === undefined) break
    if (i === MEMBER_PAGE_MAX || tx.room() < RESOLVE_EDGE_WORK + RESOLVE_RESERVE) {
      putFlow(tx, flow)
      return
    }
    if (walk.purpose === 'cancel') readWaitsAhead(tx, ids, i)
    const member = tx.get('execution', entry.id)
    if (member === undefined) return tx.fault('a flow lists a member that does not exist', flow.id)
    if (!visit(tx, flow, walk, member)) {
      putFlow(tx, flow)
      return
    }
    walk.fromRank = entry.score
    walk.fromId = entry.id
  }
  finishWalk(tx, flow, walk)
  putFlow(tx, flow)
}

/** Returns false if there was no room to finish the member. */
function visit(tx: Tx, flow: Flow, walk: FlowWalk, member: Execution): boolean {
  switch (walk.purpose) {
    case 'release':
      release(tx, flow, member)
      return true
    case 'cancel':
      cancelMember(tx, flow, member)
      return true
    case 'replay':
      return replaySkipped(tx, flow, member, walk)
    case 'remove':
      return true
  }
}

function finishWalk(tx: Tx, flow: Flow, walk: FlowWalk): void {
  flow.walk = undefined
  // In a held flow, the root is released with all other members.
  if (walk.purpose !== 'replay' || walk.rootId === undefined || flow.state.phase === 'held') return
  const root = tx.get('execution', walk.rootId)
  // The root may have been cancelled during the walk.
  if (root === undefined || root.state.phase !== 'blocked' || root.state.by !== 'hold') return
  release(tx, flow, root)
}

/** Unblocks a member that was blocked by the hold alone, and decides a group whose edges have been resolved. */
function release(tx: Tx, flow: Flow, member: Execution): void {
  const state = member.state
  if (state.phase === 'blocked' && state.by === 'hold') {
    const before = bucketOf(member)
    unblock(tx, member)
    shiftCount(tx, flow, member, before)
    return
  }
  const group = member.member?.group
  // A member without inbound edges runs as a root, whatever its policy.
  if (group === undefined || group.total === 0 || group.verdict !== 'pending') return
  if (verdictOf(group, mayGrow(flow)) === 'pending') return
  const ended: Execution[] = []
  decideGroup(tx, { flow, ended }, member, firstFailedUpstream(tx, member.id) ?? member.id)
  followEnds(tx, flow, ended)
}

/**
 * Cancels one member. A running one continues under `cancel_pending`. Unless forced, a holder is asked first, and a
 * member with completed steps runs once more to undo them.
 */
function cancelMember(tx: Tx, flow: Flow, member: Execution): void {
  const cancel = flow.state
  const phase = member.state.phase
  if (cancel.phase !== 'cancelled' || phase === 'ended') return
  if (cancel.policy === 'cancel_pending' && phase === 'active') return
  if (!cancel.force && member.unwinding !== undefined) return
  if (!cancel.force && hasLiveLease(tx, member)) {
    requestCancel(tx, member, cancel)
    return
  }
  const before = bucketOf(member)
  if (!cancel.force && hasStepsToUndo(member)) {
    wakeToUnwind(tx, member, { outcome: 'cancelled', reason: cancel.reason, by: cancel.by }, 'cancelled')
    shiftCount(tx, flow, member, before)
    return
  }
  enterEnded(tx, member, {
    outcome: 'cancelled',
    how: 'cancelled',
    reason: cancel.reason,
    by: cancel.by,
    failure: undefined,
    attemptOutcome: 'cancelled',
  })
  shiftCount(tx, flow, member, before)
  followEnds(tx, flow, [member])
}
