/**
 * Checks that no member waits for something that has happened: decides every blocked member of every lane again, from
 * its edges and their upstreams. A repair means a fault elsewhere, and is reported.
 */
import { matchesFilter } from '../../rules/tenant-filter.ts'
import type { TenantFilter } from '../../rules/tenant-filter.ts'
import { OPEN_EDGES, QUEUES_INDEX, edgeId, inboundIndex, laneIndex } from '../../model/indexes.ts'
import { FLOW_ITEM_WORK, FLOW_RECONCILE_COUNT, RESOLVE_PAGE_COUNT } from '../../limits.ts'
import { unblock } from '../../lifecycle/phases.ts'
import type { Execution, Flow } from '../../model/records.ts'
import type { Tx } from '../../tx.ts'
import type { Position } from '../../model/order.ts'
import { verdictOf } from '../../rules/edge-group.ts'
import { flowOf, putFlow, shiftCount } from '../../lifecycle/flow-counts.ts'
import { bucketOf, mayGrow, movesMembers } from '../../rules/flow-state.ts'
import { firstFailedUpstream } from '../../lifecycle/flows/inbound.ts'
import { decideGroup, followEnds, resolveEdge } from '../../lifecycle/flows/resolve-edges.ts'

export interface DependencyCursor {
  readonly lane: string
  /** Members that wait for others are in one index of a lane, held members in another. */
  readonly state: 'waiting_dependencies' | 'waiting'
  readonly position?: Position | undefined
}

export interface ReconcileDependenciesInput {
  readonly cursor?: DependencyCursor | undefined
  readonly filter?: TenantFilter | undefined
  /** Executions that failed repeatedly and are skipped for a while. */
  readonly skip?: readonly string[] | undefined
}

export interface DependencyProblem {
  /**
   * `unresolved_edge`: its upstream had ended. `undecided`: its edges decide its group. `unmoved`: its group was
   * decided. `edgeless`: it has no edges. `unreleased`: its flow was not held.
   */
  readonly problem: 'unresolved_edge' | 'undecided' | 'unmoved' | 'edgeless' | 'unreleased'
  readonly executionId: string
}

export interface ReconcileDependenciesResult {
  readonly kind: 'dependencies_reconciled'
  readonly examined: number
  readonly repaired: DependencyProblem[]
  readonly cursor: DependencyCursor | undefined
}

/** Sorts after every queue of a lane and before those of the next: the preceding character is the separator. */
const AFTER_LANE = ' '

export function reconcileDependencies(tx: Tx, input: ReconcileDependenciesInput): ReconcileDependenciesResult {
  const repaired: DependencyProblem[] = []
  const cursor = input.cursor ?? laneAfter(tx, undefined)
  if (cursor === undefined) return { kind: 'dependencies_reconciled', examined: 0, repaired, cursor: undefined }
  const { lane, state } = cursor
  const entries = tx.range({ index: laneIndex(lane, state), from: cursor.position, limit: FLOW_RECONCILE_COUNT })
  let position: Position | undefined = cursor.position
  let examined = 0
  let isCut = entries.length === FLOW_RECONCILE_COUNT
  for (const entry of entries) {
    if (tx.room() < FLOW_ITEM_WORK) {
      isCut = true
      break
    }
    const execution = tx.getMany('execution', [entry.id])[0]
    const isLeftOut = execution === undefined || input.skip?.includes(entry.id) === true
    if (!isLeftOut && matchesFilter(execution, input.filter)) reconcileMember(tx, execution, repaired)
    position = { score: entry.score, id: entry.id }
    examined = examined + 1
  }
  let next: DependencyCursor | undefined
  if (isCut) next = { lane, state, position }
  else next = state === 'waiting_dependencies' ? { lane, state: 'waiting' } : laneAfter(tx, lane)
  return { kind: 'dependencies_reconciled', examined, repaired, cursor: next }
}

function laneAfter(tx: Tx, lane: string | undefined): DependencyCursor | undefined {
  const from = lane === undefined ? undefined : { score: 0, id: lane + AFTER_LANE }
  const queue = tx.scan({ index: QUEUES_INDEX, from, limit: 1 }, 'queue')[0]
  return queue === undefined ? undefined : { lane: queue.lane, state: 'waiting_dependencies' }
}

function reconcileMember(tx: Tx, execution: Execution, repaired: DependencyProblem[]): void {
  const state = execution.state
  const flow = flowOf(tx, execution)
  if (state.phase !== 'blocked' || flow === undefined) return
  // The members of a held, cancelled or walked flow move with the flow.
  if (!movesMembers(flow) || flow.walk !== undefined) return
  const group = execution.member?.group
  if (state.by === 'hold' || group === undefined || group.total === 0) {
    const before = bucketOf(execution)
    unblock(tx, execution)
    shiftCount(tx, flow, execution, before)
    putFlow(tx, flow)
    repaired.push({ problem: state.by === 'hold' ? 'unreleased' : 'edgeless', executionId: execution.id })
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
  decideGroup(tx, { flow, ended }, execution, firstFailedUpstream(tx, execution.id) ?? execution.id)
  followEnds(tx, flow, ended)
  putFlow(tx, flow)
}

/** Resolves edges that are open although their upstream has ended, and that are not marked as pending. */
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
    resolveEdge(tx, { flow, ended }, { edge, upstream, downstream })
    repaired.push({ problem: 'unresolved_edge', executionId: downstream.id })
    hasRepaired = true
  }
  if (!hasRepaired) return
  followEnds(tx, flow, ended)
  putFlow(tx, flow)
}
