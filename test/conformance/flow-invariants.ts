/** What a flow's own record must agree with: exact counts of its members, its state, and its end with the last of them. */
import { publicFlowState } from '../../src/kernel/index.ts'
import type { Edge, EdgeGroup, Execution, Flow, MemberCounts } from '../../src/kernel/index.ts'
import type { PartitionDump } from '../../src/stores/store.ts'
import { executionsOf } from './execution-invariants.ts'

const blockedNames = {
  dependencies: 'waiting_dependencies',
  budget: 'rate_limited',
  limit: 'rate_limited',
  operator: 'waiting',
  hold: 'waiting',
  order: 'waiting_dependencies',
} as const

const LIVE = ['waiting', 'delayed', 'rate_limited', 'waiting_dependencies', 'active', 'suspended'] as const

const SUPERSEDED = ['sibling_quorum_satisfied', 'sibling_quorum_skipped']
const CONDITIONS = ['condition', 'upstream_condition']

function waitsForAll({ policy }: EdgeGroup): boolean {
  return policy === 'all_of' || policy === 'ended'
}

export function flowProblems(dump: PartitionDump): string[] {
  const members = Map.groupBy(executionsOf(dump), (execution) => execution.member?.flowId)
  const flows = dump.records.filter((record) => record.type === 'flow')
  const edges = Map.groupBy(
    dump.records.filter((record) => record.type === 'edge'),
    (edge) => edge.flowId,
  )
  const problems = flows
    // What is being removed shrinks by itself.
    .filter((flow) => flow.walk?.purpose !== 'remove')
    .flatMap((flow) =>
      flowRules(flow, members.get(flow.id) ?? [], edges.get(flow.id) ?? []).map(
        (rule) => `${flow.name} (${flow.id}) breaks the rule: ${rule}`,
      ),
    )
  const known = new Set<string>(flows.map((flow) => flow.id))
  for (const id of edges.keys()) if (!known.has(id)) problems.push(`edges of ${id} outlive their flow`)
  return problems
}

function flowRules(flow: Flow, members: readonly Execution[], edges: readonly Edge[]): string[] {
  const { state, walk } = flow
  const counted = recount(members)
  const live = LIVE.reduce((sum, bucket) => sum + counted[bucket], 0)
  const outcome = outcomeOf(flow, counted, members, edges)
  const groups = members.map(({ member }) => member?.group).filter((group) => group !== undefined)
  // One that has ended waits for no member, however few led to it.
  const shortMembers = members.filter(({ state: { phase }, member }) => {
    const group = member?.group
    return phase !== 'ended' && group !== undefined && !waitsForAll(group) && group.need > group.total
  })
  const isClosed = state.phase === 'sealed' || state.phase === 'ended'
  const rules: Record<string, boolean> = {
    'it counts its members': flow.memberCount === members.length,
    'it counts its edges': flow.edgeCount === edges.length,
    'it counts members whose group is too small': flow.shortGroupCount === shortMembers.length,
    'once sealed, no member waits in a group that is too small':
      !isClosed || walk !== undefined || shortMembers.every((execution) => execution.state.phase !== 'blocked'),
    'it knows whether any group cancels':
      flow.cancelsLosers || groups.every((group) => waitsForAll(group) || group.losers === 'let_run'),
    'it counts sinks that failed':
      flow.failedSinkCount === (flow.outcomeRule === 'sinks' ? failedSinks(members, edges).length : 0),
    'it counts failures that an edge ignores': (flow.ignoredCount ?? 0) === ignored(members, edges).length,
    'a sealed flow ends with its last member': state.phase !== 'sealed' || walk !== undefined || live > 0,
    'what has ended has no member that lives': state.phase !== 'ended' || live === 0,
    'it ends as its members did': state.phase !== 'ended' || flow.removedAt !== undefined || state.outcome === outcome,
    'its public state is what its members make it':
      flow.removedAt !== undefined || publicFlowState(flow) === publicBy(flow, counted, members.length, live, outcome),
    'only a cancelled flow cancels its members': walk?.purpose !== 'cancel' || state.phase === 'cancelled',
    'only what is submitted is given up':
      state.phase !== 'held' || state.until === undefined || flow.submission !== undefined,
  }
  const drifts = Object.keys(counted)
    .map((bucket) => bucket as keyof MemberCounts)
    .filter((bucket) => flow.counts[bucket] !== counted[bucket])
    .map((bucket) => `it counts ${counted[bucket]} members that are ${bucket}, not ${flow.counts[bucket]}`)
  return [...Object.keys(rules).filter((rule) => rules[rule] !== true), ...drifts]
}

function recount(members: readonly Execution[]): MemberCounts {
  const counts: MemberCounts = {
    waiting: 0,
    delayed: 0,
    rate_limited: 0,
    waiting_dependencies: 0,
    active: 0,
    suspended: 0,
    completed: 0,
    failed: 0,
    cancelled: 0,
    expired: 0,
    skipped: 0,
    superseded: 0,
  }
  for (const { state } of members) counts[bucketBy(state)] += 1
  return counts
}

function bucketBy(state: Execution['state']): keyof MemberCounts {
  switch (state.phase) {
    case 'eligible':
      return 'waiting'
    case 'blocked':
      return blockedNames[state.by]
    case 'delayed':
    case 'active':
    case 'suspended':
      return state.phase
    case 'ended':
      return state.by === 'flow' && SUPERSEDED.includes(state.reason ?? '') ? 'superseded' : state.outcome
  }
}

function failedSinks(members: readonly Execution[], edges: readonly Edge[]): Execution[] {
  const feeding = new Set(edges.map((edge) => edge.upstreamId))
  return members.filter(({ id, state }) => {
    if (feeding.has(id) || state.phase !== 'ended' || state.outcome === 'completed') return false
    // A branch that was not taken because of a condition is no failure.
    return state.outcome !== 'skipped' || !CONDITIONS.includes(state.reason ?? '')
  })
}

/** Members that did not complete, without being skipped or superseded, and from which an edge leads that ignores it. */
function ignored(members: readonly Execution[], edges: readonly Edge[]): Execution[] {
  const ignoring = new Set(edges.filter(({ onFailure }) => onFailure === 'ignore').map(({ upstreamId }) => upstreamId))
  return members.filter(({ id, state }) => {
    return ignoring.has(id) && ['failed', 'expired', 'cancelled'].includes(bucketBy(state))
  })
}

function outcomeOf(
  flow: Flow,
  counts: MemberCounts,
  members: readonly Execution[],
  edges: readonly Edge[],
): 'completed' | 'failed' {
  const failures =
    flow.outcomeRule === 'sinks'
      ? failedSinks(members, edges).length
      : counts.failed + counts.expired + counts.cancelled - ignored(members, edges).length
  return failures > 0 ? 'failed' : 'completed'
}

function publicBy(
  { state }: Flow,
  counts: MemberCounts,
  members: number,
  live: number,
  outcome: 'completed' | 'failed',
): string {
  if (state.phase === 'cancelled') return 'cancelled'
  if (state.phase === 'ended') return outcome
  if (members === 0) return 'open'
  if (live === 0) return outcome
  if (counts.active > 0) return 'running'
  if (counts.waiting > 0) return live < members ? 'running' : 'open'
  return 'blocked'
}
