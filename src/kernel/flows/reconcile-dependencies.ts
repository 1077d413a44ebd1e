/**
 * Proves that no member waits for what has happened already: every blocked member of every lane is judged again from its
 * edges and from those that they lead from. Whatever it has to repair is a fault elsewhere, and is told.
 */
import { matchesFilter } from '../filter.ts'
import type { TenantFilter } from '../filter.ts'
import { OPEN_EDGES, QUEUES_INDEX, edgeId, inboundIndex, laneIndex } from '../indexes.ts'
import { FLOW_ITEM_WORK, FLOW_RECONCILE_COUNT, RESOLVE_PAGE_COUNT } from '../limits.ts'
import { unblock } from '../phases.ts'
import type { Execution, Flow } from '../records.ts'
import type { Position, Tx } from '../tx.ts'
import { verdictOf } from './edge-group.ts'
import { flowOf, putFlow, shiftCount } from './flow-counts.ts'
import { bucketOf, mayGrow, movesMembers } from './flow-state.ts'
import { firstFailedUpstream } from './inbound.ts'
import { followEnds, judge, resolveEdge } from './settle-member.ts'

export interface DependencyCursor {
  readonly lane: string
  readonly position?: Position | undefined
}

export interface ReconcileDependenciesInput {
  readonly cursor?: DependencyCursor | undefined
  readonly filter?: TenantFilter | undefined
  /** Executions that failed repeatedly and are left alone for a while. */
  readonly skip?: readonly string[] | undefined
}

export interface DependencyProblem {
  /** `unresolved_edge`: its upstream had ended. `undecided`: its edges had decided. `unmoved`: it was decided. `edgeless`: it waited for nothing. */
  readonly problem: 'unresolved_edge' | 'undecided' | 'unmoved' | 'edgeless'
  readonly executionId: string
}

export interface ReconcileDependenciesResult {
  readonly kind: 'dependencies_reconciled'
  readonly examined: number
  readonly repaired: DependencyProblem[]
  readonly cursor: DependencyCursor | undefined
}

/** Sorts behind every queue of a lane, and before those of the next: the separator of its parts is the character before. */
const BEHIND_LANE = ' '

export function reconcileDependencies(tx: Tx, input: ReconcileDependenciesInput): ReconcileDependenciesResult {
  const lane = input.cursor?.lane ?? laneBehind(tx, undefined)
  const repaired: DependencyProblem[] = []
  if (lane === undefined) return { kind: 'dependencies_reconciled', examined: 0, repaired, cursor: undefined }
  const position = input.cursor?.position
  const range = { index: laneIndex(lane, 'waiting_children'), from: position, limit: FLOW_RECONCILE_COUNT }
  const entries = tx.range(range)
  let reached: Position | undefined = position
  let examined = 0
  for (const entry of entries) {
    if (tx.room() < FLOW_ITEM_WORK)
      return { kind: 'dependencies_reconciled', examined, repaired, cursor: { lane, position: reached } }
    const execution = tx.getMany('execution', [entry.id])[0]
    const isLeftOut = execution === undefined || input.skip?.includes(entry.id) === true
    if (!isLeftOut && matchesFilter(execution, input.filter)) prove(tx, execution, repaired)
    reached = { score: entry.score, id: entry.id }
    examined = examined + 1
  }
  if (entries.length === FLOW_RECONCILE_COUNT) {
    return { kind: 'dependencies_reconciled', examined, repaired, cursor: { lane, position: reached } }
  }
  const next = laneBehind(tx, lane)
  return {
    kind: 'dependencies_reconciled',
    examined,
    repaired,
    cursor: next === undefined ? undefined : { lane: next },
  }
}

function laneBehind(tx: Tx, lane: string | undefined): string | undefined {
  const from = lane === undefined ? undefined : { score: 0, id: lane + BEHIND_LANE }
  return tx.scan({ index: QUEUES_INDEX, from, limit: 1 }, 'queue')[0]?.lane
}

function prove(tx: Tx, execution: Execution, repaired: DependencyProblem[]): void {
  const state = execution.state
  const flow = flowOf(tx, execution)
  if (state.phase !== 'blocked' || state.by !== 'dependencies' || flow === undefined) return
  // Held, cancelled or walked, the flow itself says when its members go on.
  if (!movesMembers(flow) || flow.walk !== undefined) return
  const group = execution.member?.group
  if (group === undefined || group.total === 0) {
    const before = bucketOf(execution)
    unblock(tx, execution)
    shiftCount(tx, flow, execution, before)
    putFlow(tx, flow)
    repaired.push({ problem: 'edgeless', executionId: execution.id })
    return
  }
  if (group.verdict === 'pending' && verdictOf(group, mayGrow(flow)) === 'pending') {
    resolveMissed(tx, flow, execution.id, repaired)
    return
  }
  repaired.push({
    problem: group.verdict === 'pending' ? 'undecided' : 'unmoved',
    executionId: execution.id,
  })
  group.verdict = 'pending'
  const ended: Execution[] = []
  judge(tx, flow, execution, firstFailedUpstream(tx, execution.id) ?? execution.id, ended)
  followEnds(tx, flow, ended)
  putFlow(tx, flow)
}

/** Edges that are open although their upstream has ended, and does not itself know that it owes them. */
function resolveMissed(tx: Tx, flow: Flow, downstreamId: string, repaired: DependencyProblem[]): void {
  const open = tx.range({ index: inboundIndex(downstreamId), to: OPEN_EDGES, limit: RESOLVE_PAGE_COUNT })
  const ended: Execution[] = []
  let hasRepaired = false
  for (const entry of open) {
    const upstream = tx.get('execution', entry.id)
    if (upstream?.state.phase !== 'ended' || upstream.member?.owesEdges === true) continue
    if (tx.room() < FLOW_ITEM_WORK) break
    const edge = tx.get('edge', edgeId(entry.id, downstreamId))
    const downstream = tx.get('execution', downstreamId)
    if (edge === undefined || downstream === undefined) return tx.fault('an edge is missing', downstreamId)
    resolveEdge(tx, flow, upstream, edge, downstream, ended)
    repaired.push({ problem: 'unresolved_edge', executionId: downstream.id })
    hasRepaired = true
  }
  if (!hasRepaired) return
  followEnds(tx, flow, ended)
  putFlow(tx, flow)
}
