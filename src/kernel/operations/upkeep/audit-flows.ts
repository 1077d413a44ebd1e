/**
 * Counts the members of every flow and compares the counts with the flow's record. Changes nothing: a difference is a
 * fault to report. A flow that changes meanwhile is left to the next pass.
 */
import { matchesFilter } from '../../rules/tenant-filter.ts'
import type { TenantFilter } from '../../rules/tenant-filter.ts'
import { FLOWS_INDEX, membersIndex } from '../../model/indexes.ts'
import { MEMBER_PAGE_MAX } from '../../limits.ts'
import type { Execution, Flow, FlowId, MemberCounts } from '../../model/records.ts'
import { publicStates } from '../../model/public-state.ts'
import type { Tx } from '../../tx.ts'
import type { Position } from '../../model/order.ts'
import { isShort } from '../../rules/edge-group.ts'
import { bucketOf, isFailure, liveCount, noMembers } from '../../rules/flow-state.ts'
import type { MemberBucket } from '../../rules/flow-state.ts'

/** The counts of one flow so far. */
export interface FlowTally {
  readonly version: number
  readonly counts: MemberCounts
  readonly members: number
  readonly edges: number
  readonly shortGroups: number
  readonly ignored: number
  readonly position: Position
}

export interface AuditCursor {
  /** The flow after which to continue, in the order of creation. */
  readonly from?: Position | undefined
  readonly tally?: FlowTally | undefined
}

export interface AuditFlowsInput {
  readonly cursor?: AuditCursor | undefined
  readonly filter?: TenantFilter | undefined
}

export interface FlowDrift {
  readonly flowId: FlowId
  readonly what: MemberBucket | 'members' | 'edges' | 'short_groups' | 'ignored' | 'not_ended'
  readonly recorded: number
  readonly counted: number
}

export interface AuditFlowsResult {
  readonly kind: 'audited'
  /** Members that were counted. */
  readonly examined: number
  /** Flows that were counted completely. */
  readonly audited: number
  /** Flows that changed meanwhile. */
  readonly unsteady: number
  readonly drifts: FlowDrift[]
  readonly cursor: AuditCursor | undefined
}

const BUCKETS: readonly MemberBucket[] = [...publicStates, 'superseded']

interface Count {
  counts: MemberCounts
  members: number
  edges: number
  shortGroups: number
  ignored: number
}

/** Counts one page of a flow's members. */
export function auditFlows(tx: Tx, input: AuditFlowsInput): AuditFlowsResult {
  const from = input.cursor?.from
  const flow = tx.scan({ index: FLOWS_INDEX, from, limit: 1 }, 'flow')[0]
  if (flow === undefined)
    return { kind: 'audited', examined: 0, audited: 0, unsteady: 0, drifts: [], cursor: undefined }
  const after: AuditCursor = { from: { score: flow.createdAt, id: flow.id } }
  const tally = input.cursor?.tally
  const isUnsteady = tally !== undefined && tally.version !== flow.version
  const isLeftOut = flow.walk?.purpose === 'remove' || !matchesFilter(flow, input.filter)
  if (isUnsteady || isLeftOut) {
    return { kind: 'audited', examined: 0, audited: 0, unsteady: isUnsteady ? 1 : 0, drifts: [], cursor: after }
  }
  const count: Count = {
    counts: tally === undefined ? noMembers() : { ...tally.counts },
    members: tally?.members ?? 0,
    edges: tally?.edges ?? 0,
    shortGroups: tally?.shortGroups ?? 0,
    ignored: tally?.ignored ?? 0,
  }
  const range = { index: membersIndex(flow.id), from: tally?.position, limit: MEMBER_PAGE_MAX }
  const page = tx.scan(range, 'execution')
  for (const execution of page) countMember(count, execution)
  const last = page[page.length - 1]
  if (page.length === MEMBER_PAGE_MAX && last !== undefined) {
    const position = { score: last.member?.rank ?? 0, id: last.id }
    return {
      kind: 'audited',
      examined: page.length,
      audited: 0,
      unsteady: 0,
      drifts: [],
      cursor: { from, tally: { ...count, version: flow.version, position } },
    }
  }
  const examined = page.length
  return { kind: 'audited', examined, audited: 1, unsteady: 0, drifts: compare(flow, count), cursor: after }
}

function countMember(count: Count, execution: Execution): void {
  const bucket = bucketOf(execution)
  const group = execution.member?.group
  count.counts[bucket] = count.counts[bucket] + 1
  count.members = count.members + 1
  count.edges = count.edges + (group?.total ?? 0)
  if (isShort(execution)) count.shortGroups = count.shortGroups + 1
  if (execution.member?.mayFail === true && isFailure(bucket)) count.ignored = count.ignored + 1
}

function compare(flow: Flow, count: Count): FlowDrift[] {
  const drifts: FlowDrift[] = []
  const add = (what: FlowDrift['what'], recorded: number, counted: number): void => {
    if (recorded !== counted) drifts.push({ flowId: flow.id, what, recorded, counted })
  }
  for (const bucket of BUCKETS) add(bucket, flow.counts[bucket], count.counts[bucket])
  add('members', flow.memberCount, count.members)
  add('edges', flow.edgeCount, count.edges)
  add('short_groups', flow.shortGroupCount, count.shortGroups)
  add('ignored', flow.ignoredCount ?? 0, count.ignored)
  const hasToEnd = flow.state.phase === 'sealed' && flow.walk === undefined && liveCount(count.counts) === 0
  add('not_ended', 0, hasToEnd ? 1 : 0)
  return drifts
}
