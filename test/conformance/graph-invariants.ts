/**
 * What a flow's members and edges must agree on: every edge leads forward and is counted once, every group is judged by
 * its edges alone, and no member waits for what has happened, or runs before what it waits for has.
 */
import type { Edge, EdgeGroup, Execution, Flow, GroupVerdict, Membership, Phase } from '../../src/kernel/index.ts'
import type { PartitionDump } from '../../src/stores/store.ts'
import { executionsOf } from './execution-invariants.ts'

const SEPARATOR = '\u001f'

export function graphProblems(dump: PartitionDump): string[] {
  const members = new Map<string, Execution>(executionsOf(dump).map((execution) => [execution.id, execution]))
  const flows = new Map<string, Flow>()
  const edges: Edge[] = []
  for (const record of dump.records) {
    if (record.type === 'flow') flows.set(record.id, record)
    if (record.type === 'edge') edges.push(record)
  }
  const inbound = Map.groupBy(edges, (edge) => edge.downstreamId)
  const isRemoved = (flowId: string) => flows.get(flowId)?.walk?.purpose === 'remove'
  return [
    ...edges
      .filter((edge) => !isRemoved(edge.flowId))
      .flatMap((edge) => edgeRules(edge, members.get(edge.upstreamId), members.get(edge.downstreamId)))
      .map((rule) => `an edge breaks the rule: ${rule}`),
    ...[...members.values()].flatMap((execution) => {
      const { member } = execution
      if (member === undefined || isRemoved(member.flowId)) return []
      const flow = flows.get(member.flowId)
      if (flow === undefined) return [`${execution.id} is a member of ${member.flowId}, which does not exist`]
      return memberRules(flow, execution, member, inbound.get(execution.id) ?? []).map(
        (rule) => `${member.name} (${execution.id}) breaks the rule: ${rule}`,
      )
    }),
  ]
}

function broken(rules: Readonly<Record<string, boolean>>): string[] {
  return Object.keys(rules).filter((rule) => rules[rule] !== true)
}

function edgeRules(edge: Edge, upstream: Execution | undefined, downstream: Execution | undefined): string[] {
  const { flowId, upstreamId, downstreamId } = edge
  const above = upstream?.member
  const below = downstream?.member
  if (upstream === undefined || above === undefined || below === undefined) return ['both its ends are members']
  const { state } = upstream
  const hasEnded = state.phase === 'ended'
  const wasReplayed = upstream.lastReplay !== undefined
  const hasCompleted = hasEnded && state.outcome === 'completed'
  return broken({
    'its id is its ends': edge.id === [upstreamId, downstreamId].join(SEPARATOR),
    'it stays inside one flow': above.flowId === flowId && below.flowId === flowId,
    'it leads from a lower rank to a higher one': above.rank < below.rank,
    'it is open exactly as long as it is not resolved': (edge.state === 'open') === (edge.resolvedAt === undefined),
    'it is open only if its upstream lives, or knows that it owes it':
      edge.state !== 'open' || !hasEnded || above.owesEdges,
    'it is satisfied by what completed, or by any end that it tolerates':
      edge.state !== 'satisfied' || hasCompleted || wasReplayed || (hasEnded && edge.outcome === state.outcome),
    'it records an outcome only if it tolerates it':
      edge.outcome === undefined ||
      (edge.state === 'satisfied' && (edge.onFailure !== undefined || below.group?.policy === 'ended')),
    'its upstream knows that its failure is ignored': edge.onFailure !== 'ignore' || above.mayFail === true,
    'it is impossible by what ended otherwise':
      edge.state !== 'impossible' || (hasEnded && !hasCompleted) || wasReplayed,
    'only what is satisfied has a result': edge.result === undefined || edge.state === 'satisfied',
  })
}

function memberRules(flow: Flow, execution: Execution, member: Membership, inbound: readonly Edge[]): string[] {
  const { state } = execution
  const { group } = member
  const isBegun = state.phase === 'active' || (execution.attempt !== undefined && execution.next !== 'replay')
  const isStill = isStopped(flow) || flow.walk !== undefined
  const mayRun = group === undefined || group.total === 0 || group.verdict === 'satisfied'
  const isRunnable = state.phase === 'eligible' || state.phase === 'delayed' || state.phase === 'active'
  const waitsForEdges = state.phase === 'blocked' && state.by === 'dependencies'
  const isHeldBack = state.phase === 'blocked' && state.by === 'hold'
  return [
    ...groupRules(flow, group, inbound, state.phase),
    ...handoverRules(member, inbound),
    ...broken({
      'nothing begins before its group is satisfied': !isRunnable || mayRun || isBegun,
      'who waits for edges has some that are undecided':
        !waitsForEdges || isStill || (group !== undefined && group.total > 0 && group.verdict === 'pending'),
      'who is held back is so by its flow': !isHeldBack || flow.state.phase === 'held' || flow.walk !== undefined,
      'what a held flow has not begun is blocked': flow.state.phase !== 'held' || isBegun || !isRunnable,
      'who was skipped could not be satisfied':
        state.phase !== 'ended' ||
        state.outcome !== 'skipped' ||
        state.reason === 'condition' ||
        group?.verdict === 'impossible',
      'only a member with a condition is skipped by it':
        state.phase !== 'ended' ||
        state.reason !== 'condition' ||
        (member.hasCondition === true && (mayRun || isStill)),
      'who cannot be satisfied ends, unless it has begun':
        group?.verdict !== 'impossible' || state.phase === 'ended' || isStill || isBegun,
      'only what has ended owes edges': !member.owesEdges || state.phase === 'ended',
      'a delay is put aside only as long as something else blocks':
        member.delay === undefined || state.phase === 'blocked' || state.phase === 'ended',
    }),
  ]
}

/** Held, or cancelled together with its members: verdicts have no effect. */
function isStopped({ state }: Flow): boolean {
  return state.phase === 'held' || (state.phase === 'cancelled' && state.policy !== 'flow_only')
}

function groupRules(flow: Flow, group: EdgeGroup | undefined, inbound: readonly Edge[], phase: Phase): string[] {
  if (group === undefined) return inbound.length === 0 ? [] : ['who has edges has a group']
  const inState = (state: Edge['state']) => inbound.filter((edge) => edge.state === state).length
  const expected = verdictBy(group, flow.state.phase === 'open' || flow.state.phase === 'held')
  const isDecided = group.verdict !== 'pending'
  // A group that can grow no more is judged for the sake of a member that waits; of any other it may stay too small.
  const waitsForAll = group.policy === 'all_of' || group.policy === 'ended'
  const isIdle = phase !== 'blocked' && !waitsForAll && group.total < group.need
  const tolerated = inbound.filter((edge) => edge.outcome !== undefined).length
  const mayLag = isStopped(flow) || flow.walk !== undefined || isIdle
  return broken({
    'a group has as many edges as lead to its member': group.total === inbound.length,
    'each edge is counted once':
      group.completed + tolerated === inState('satisfied') &&
      group.failed + group.skipped === inState('impossible') + tolerated,
    'it counts upstreams whose failure it tolerates': (group.tolerated ?? 0) === tolerated,
    'what is excused was skipped': (group.excused ?? 0) <= group.skipped,
    'a verdict follows from the edges': group.verdict === expected || (!isDecided && mayLag),
    'a decision has a time': isDecided === (group.decidedAt !== undefined),
    'only what is decided or has ended owes cancels': group.owedFrom === undefined || isDecided || phase === 'ended',
    'only a group that chooses has a number': waitsForAll ? group.losers === 'let_run' : group.need >= 1,
  })
}

/** The table of verdicts: satisfied is tested first, and what may still grow is not impossible while it is too small. */
function verdictBy(group: EdgeGroup, mayGrow: boolean): GroupVerdict {
  const { policy, need, total, failed, skipped, tolerated = 0 } = group
  const lost = failed + skipped - tolerated
  const completed = group.completed + tolerated
  switch (policy) {
    case 'all_of':
      if (lost > 0) return 'impossible'
      return total > 0 && completed === total ? 'satisfied' : 'pending'
    case 'any_of':
      if (completed >= 1) return 'satisfied'
      return lost === total && !(mayGrow && total === 0) ? 'impossible' : 'pending'
    case 'quorum':
      if (completed >= need) return 'satisfied'
      return lost > total - need && !(mayGrow && total < need) ? 'impossible' : 'pending'
    case 'ended':
      return total > 0 && completed === total ? 'satisfied' : 'pending'
  }
}

function handoverRules(member: Membership, inbound: readonly Edge[]): string[] {
  const handing = (as: 'input' | 'payload') => inbound.filter((edge) => edge.hands?.as === as)
  const giver = handing('payload').find((edge) => edge.upstreamId === member.payloadFrom)
  return broken({
    'its named inputs are counted': member.inputCount === handing('input').length,
    'it knows whether it takes outcomes':
      (member.takesOutcomes === true) ===
      handing('input').some(({ onFailure }) => onFailure !== undefined || member.group?.policy === 'ended'),
    'its payload edges are counted': member.payloadEdgeCount === handing('payload').length,
    'its payload comes from an edge that is satisfied':
      member.payloadFrom === undefined || giver?.state === 'satisfied',
  })
}
