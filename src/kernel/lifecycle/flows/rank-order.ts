/**
 * The order of a graph. Every edge leads from a lower rank to a higher one, so an edge that agrees with the ranks
 * closes no cycle and needs no search. Any other edge moves its downstream, and everything after it, to higher ranks.
 */
import { OPEN_EDGES, outboundIndex } from '../../model/indexes.ts'
import { GRAPH_SEARCH_MAX, RESOLVE_LEVEL_MAX } from '../../limits.ts'
import type { Execution, Flow, Membership } from '../../model/records.ts'
import { refused } from '../../results.ts'
import type { Refused } from '../../results.ts'
import type { Tx } from '../../tx.ts'

/** Far from zero and far apart, so that members can be inserted before and between others. */
const FIRST_RANK = 1_000_000_000
const RANK_STEP = 1_000

/** Returns the rank of the next member: after all that were added before. */
export function nextRank(memberCount: number): number {
  return FIRST_RANK + memberCount * RANK_STEP
}

export function memberOf(tx: Tx, execution: Execution): Membership {
  return execution.member ?? tx.fault('an execution is not a member of a flow', execution.id)
}

/** Members whose ranks an edge changes. */
export interface Reordering {
  readonly kind: 'reordered'
  readonly moved: Execution[]
}

interface Step {
  readonly execution: Execution
  readonly rank: number
  /** The step that led to this one; -1 for the first. */
  readonly parent: number
}

/**
 * Reorders members so that the edge leads to a higher rank. Changes the two members in place and returns all that
 * moved. During a walk, no member may move to a rank that the walk has passed.
 */
export function orderEdge(
  tx: Tx,
  flow: Flow,
  upstream: Execution,
  downstream: Execution,
): Reordering | Refused<'cycle_detected' | 'graph_limit_exceeded'> {
  const above = memberOf(tx, upstream)
  const below = memberOf(tx, downstream)
  if (above.rank < below.rank) return { kind: 'reordered', moved: [] }
  // The upstream has no inbound edges, so it can move before any other member.
  if ((above.group?.total ?? 0) === 0 && flow.walk === undefined) {
    above.rank = below.rank - 1
    return { kind: 'reordered', moved: [upstream] }
  }
  return raiseRank(tx, [upstream], downstream, above.rank + 1)
}

/** Moves a member to a rank, and everything after it to higher ranks. Reaching one of the upstreams is a cycle. */
export function raiseRank(
  tx: Tx,
  upstreams: readonly Execution[],
  downstream: Execution,
  rank: number,
): Reordering | Refused<'cycle_detected' | 'graph_limit_exceeded'> {
  const steps: Step[] = [{ execution: downstream, rank, parent: -1 }]
  let levelStart = 0
  for (let depth = 0; levelStart < steps.length; depth++) {
    const levelEnd = steps.length
    // All steps of a level have one rank, so a second path to a member changes nothing. Dense graphs have many paths.
    const reached = new Set<string>()
    if (depth === RESOLVE_LEVEL_MAX) return tooLarge(RESOLVE_LEVEL_MAX)
    for (let i = levelStart; i < levelEnd; i++) {
      const step = steps[i]
      if (step === undefined) break
      const range = {
        index: outboundIndex(step.execution.id),
        from: { score: OPEN_EDGES },
        limit: GRAPH_SEARCH_MAX + 1,
      }
      for (const fed of tx.scan(range, 'execution')) {
        for (const upstream of upstreams) {
          if (fed.id === upstream.id) return refused('cycle_detected', { path: pathOf(tx, steps, i, upstream) })
        }
        if (memberOf(tx, fed).rank > step.rank || reached.has(fed.id)) continue
        reached.add(fed.id)
        steps.push({ execution: fed, rank: step.rank + 1, parent: i })
      }
      if (steps.length > GRAPH_SEARCH_MAX) return tooLarge(GRAPH_SEARCH_MAX)
    }
    levelStart = levelEnd
  }
  return { kind: 'reordered', moved: applySteps(tx, steps, downstream) }
}

/** A member that was reached more than once gets the highest of its ranks, which is the rank of its last step. */
function applySteps(tx: Tx, steps: readonly Step[], downstream: Execution): Execution[] {
  const moved: Execution[] = []
  for (const step of steps) {
    let known: Execution | undefined = step.execution.id === downstream.id ? downstream : undefined
    for (const other of moved) if (other.id === step.execution.id) known = other
    const execution = known ?? step.execution
    const member = memberOf(tx, execution)
    if (step.rank > member.rank) member.rank = step.rank
    if (!moved.includes(execution)) moved.push(execution)
  }
  return moved
}

function tooLarge(limit: number): Refused<'graph_limit_exceeded'> {
  return refused('graph_limit_exceeded', { limit })
}

/** Returns the names on the path from the downstream to the upstream, which the new edge would close. */
function pathOf(tx: Tx, steps: readonly Step[], last: number, upstream: Execution): string[] {
  const reversed: string[] = [memberOf(tx, upstream).name]
  let at = last
  while (at >= 0) {
    const step = steps[at]
    if (step === undefined) break
    reversed.push(memberOf(tx, step.execution).name)
    at = step.parent
  }
  const path: string[] = [memberOf(tx, upstream).name]
  for (let i = reversed.length - 1; i >= 0; i--) path.push(reversed[i] ?? '')
  return path
}
