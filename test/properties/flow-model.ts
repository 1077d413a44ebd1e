/** What must come of a graph, worked out from the rules alone: nothing here knows how a flow gets there. */
import type { EdgeGroup, Execution, FlowOutcome, Outcome } from '../../src/kernel/index.ts'
import type { PartitionDump } from '../../src/stores/store.ts'
import { executionsOf } from '../conformance/execution-invariants.ts'
import type { Graph } from './flow-graphs.ts'
import type { NodeEnd } from './flow-run.ts'

/** How each node ends without cancels, in any order of its upstreams. */
export function modelOf({ policies, edges }: Graph, endOf: (node: number) => NodeEnd): Outcome[] {
  const ends: Outcome[] = []
  policies.forEach((policy, node) => {
    const inbound = edges.filter(({ to }) => to === node)
    const met = inbound.filter(({ from, onFailure }) => {
      return policy?.policy === 'ended' || onFailure !== undefined || ends[from] === 'completed'
    }).length
    const needs = { all_of: inbound.length, any_of: 1, quorum: policy?.need ?? 0, ended: inbound.length }
    const needed = inbound.length === 0 ? 0 : needs[policy?.policy ?? 'all_of']
    const end = endOf(node)
    ends.push(met < needed || end === 'unmet' ? 'skipped' : end)
  })
  return ends
}

/** How a flow ends in which every member counts: by failures that no edge ignores. */
export function outcomeIn({ edges }: Graph, ends: readonly Outcome[]): FlowOutcome {
  const isIgnored = (node: number) => edges.some(({ from, onFailure }) => from === node && onFailure === 'ignore')
  return ends.some((end, node) => end === 'failed' && !isIgnored(node)) ? 'failed' : 'completed'
}

/** Nothing is on its way any more: no end untold, no cancel owed, no walk begun. */
export function restProblems(dump: PartitionDump, now: number): string[] {
  const due = dump.entries
    .filter(({ index, score }) => index === 'due' && score <= now)
    .map(({ id }) => `${id} is still due`)
  const owed = dump.entries
    .filter(({ index }) => index === 'sibling_cancels' || index === 'cancel_backlog')
    .map(({ id, index }) => `${id} is left in ${index}`)
  const alive = executionsOf(dump)
    .filter(({ state }) => state.phase !== 'ended')
    .map(({ id, state }) => `${id} is still ${state.phase}`)
  const walking = dump.records
    .filter((record) => record.type === 'flow' && record.walk !== undefined)
    .map(({ id }) => `${id} still walks`)
  return [...due, ...owed, ...alive, ...walking]
}

/** Who was skipped could not be satisfied and who could not was skipped; who was cancelled lost to a group that cancels. */
export function closureProblems(dump: PartitionDump): string[] {
  const executions = new Map<string, Execution>(executionsOf(dump).map((execution) => [execution.id, execution]))
  const feeds = Map.groupBy(
    dump.records.filter((record) => record.type === 'edge'),
    ({ upstreamId }) => upstreamId,
  )
  return [...executions.values()].flatMap(({ id, state, member }) => {
    if (state.phase !== 'ended') return []
    const verdict = member?.group?.verdict
    if (state.outcome === 'skipped' && state.reason === 'condition') {
      return verdict === undefined || verdict === 'satisfied' ? [] : [`${id} was claimed and was not released`]
    }
    if (state.outcome === 'skipped' && verdict !== 'impossible') return [`${id} was skipped and was not impossible`]
    if (state.outcome !== 'cancelled') {
      return verdict === 'impossible' && state.outcome !== 'skipped' ? [`${id} ran and was impossible`] : []
    }
    const wanted = state.reason === 'sibling_quorum_satisfied' ? 'satisfied' : 'impossible'
    const isLost = (feeds.get(id) ?? []).some(({ downstreamId }) => {
      const group = executions.get(downstreamId)?.member?.group
      return group?.losers === 'cancel' && choosesUpstreams(group) && group.verdict === wanted
    })
    return isLost ? [] : [`${id} was cancelled for ${state.reason ?? 'nothing'}, and lost to no group`]
  })
}

function choosesUpstreams({ policy }: EdgeGroup): boolean {
  return policy === 'any_of' || policy === 'quorum'
}

/** A member that is no longer needed does not run, once its flow owes no cancels. */
export function loserProblems(dump: PartitionDump): string[] {
  const executions = new Map<string, Execution>(executionsOf(dump).map((execution) => [execution.id, execution]))
  const edges = dump.records.filter((record) => record.type === 'edge').filter(({ state }) => state === 'open')
  const isOwing = [...executions.values()].some(({ member }) => {
    return member?.owesEdges === true || member?.group?.owedFrom !== undefined
  })
  if (isOwing) return []
  const fed = Map.groupBy(edges, ({ upstreamId }) => upstreamId)
  return [...executions.values()]
    .filter(({ id, state }) => {
      const groups = (fed.get(id) ?? []).map(({ downstreamId }) => executions.get(downstreamId))
      if (state.phase === 'ended' || groups.length === 0) return false
      // A member that waits for the end of all its upstreams needs none of them to complete.
      const isNeeded = groups.some((one) => {
        const group = one?.member?.group
        return one?.state.phase !== 'ended' && group?.verdict === 'pending' && group.policy !== 'ended'
      })
      const isLost = groups.some((one) => {
        const group = one?.member?.group
        return group?.losers === 'cancel' && choosesUpstreams(group) && group.verdict !== 'pending'
      })
      return isLost && !isNeeded
    })
    .map(({ id }) => `${id} runs though no member needs it`)
}
