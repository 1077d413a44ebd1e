/**
 * What is promised of flows, held against the event log and against what clients and handlers saw: a group decides
 * once and not too early, those that it no longer needs end as its graph declares, and a running member has what it waited for.
 */
import type { UpstreamOutcome } from '../../src/client/index.ts'
import { RECLAIM_CAP } from '../../src/kernel/index.ts'
import type { Edge, Execution, Flow, Membership } from '../../src/kernel/index.ts'
import type { PartitionDump, StoredEvent } from '../../src/stores/store.ts'
import { executionsOf } from '../conformance/execution-invariants.ts'
import { closureProblems } from '../properties/flow-model.ts'
import { flowsOf } from './dumped-flows.ts'
import { flowKindNamed } from './flow-kinds.ts'
import type { FlowKind } from './flow-kinds.ts'
import type { Body, Witness } from './witness.ts'
import type { World } from './world.ts'

const RUN_STARTS: ReadonlySet<string> = new Set(['flow_created', 'follow_up_started'])

/** One flow with everything recorded of its present run. */
interface Life {
  readonly flow: Flow
  readonly kind: FlowKind
  readonly members: readonly Execution[]
  readonly inbound: ReadonlyMap<string, readonly Edge[]>
  /** Of the flow itself and of its members, in their order. */
  readonly events: readonly StoredEvent[]
}

export function flowHistoryProblems({ witness, network }: World): string[] {
  const problems = network.dumps.flatMap((dump) => dumpProblems(dump, witness))
  const events = network.dumps.flatMap((dump) => dump.events)
  for (const { flowId, kind } of witness.flowAcceptances) {
    const told = events.filter((event) => event.executionId === flowId)
    const isThere = network.dumps.some((dump) => flowsOf(dump).some(({ id }) => id === flowId))
    if (!isThere && told.at(-1)?.type !== 'flow_purged') problems.push(`${flowId} (${kind}) was accepted and is lost`)
  }
  for (const { flowId, outcome, result } of witness.flowEnds) {
    const told = events.filter((event) => event.executionId === flowId)
    const isTold = told.some((event) =>
      outcome === 'cancelled'
        ? event.type === 'flow_cancelled'
        : event.type === 'flow_ended' && event.outcome === outcome,
    )
    if (!isTold) problems.push(`${flowId} was reported ended as ${outcome}, and its history does not show it`)
    // A handle without the definition answers with the results of all sinks, by name.
    const results: readonly unknown[] = typeof result === 'object' && result !== null ? Object.values(result) : [result]
    const isUngiven = (one: unknown) => one !== undefined && !witness.bodies.some(({ answer }) => answer === one)
    if (results.some(isUngiven)) {
      problems.push(`${flowId} was reported with the result ${JSON.stringify(result)}, which no body gave`)
    }
  }
  return problems
}

function dumpProblems(dump: PartitionDump, witness: Witness): string[] {
  const members = Map.groupBy(executionsOf(dump), ({ member }) => member?.flowId)
  const edges = Map.groupBy(
    dump.records.filter((record) => record.type === 'edge'),
    ({ downstreamId }) => downstreamId as string,
  )
  const problems = operatorsApart(dump)
  for (const flow of flowsOf(dump)) {
    const kind = flowKindNamed(flow.name)
    if (kind === undefined) continue
    const own = members.get(flow.id) ?? []
    const ids = new Set<string>([flow.id, ...own.map(({ id }) => id)])
    const events = ofPresentRun(
      flow,
      dump.events.filter(({ executionId }) => ids.has(executionId)),
    )
    const life = { flow, kind, members: own, inbound: edges, events }
    problems.push(...flowProblems(life), ...joinProblems(life), ...inputProblems(life, witness))
  }
  return problems
}

/** All runs of a flow have the same ids. */
function ofPresentRun(flow: Flow, events: readonly StoredEvent[]): readonly StoredEvent[] {
  const id: string = flow.id
  const start = events.findLastIndex(({ executionId, type }) => executionId === id && RUN_STARTS.has(type))
  return events.slice(Math.max(0, start))
}

/** A member cancelled by its flow lost to a group that cancels; any other cancel is an operator's. */
function operatorsApart(dump: PartitionDump): string[] {
  const records = dump.records.filter((record) => {
    if (record.type !== 'execution' || record.state.phase !== 'ended') return true
    return record.state.outcome !== 'cancelled' || record.state.by === 'flow'
  })
  return closureProblems({ ...dump, records })
}

/** A flow ends once between two replays, as its kind can end; once cancelled it begins nothing. */
function flowProblems({ flow, kind, members, events }: Life): string[] {
  const problems: string[] = []
  let hasEnded = false
  let isCancelled = false
  for (const { type, executionId } of events) {
    if (type === 'flow_reopened') hasEnded = false
    if (type === 'flow_cancelled') isCancelled = true
    if (type === 'attempt_started' && isCancelled)
      problems.push(`${executionId} was begun after ${flow.id} was cancelled`)
    if (type !== 'flow_ended') continue
    if (hasEnded) problems.push(`${flow.id} ended twice`)
    hasEnded = true
  }
  // A worker that dies over and over fails a member that cannot fail.
  if (members.some(({ reclaimCount }) => reclaimCount >= RECLAIM_CAP)) return problems
  const { state } = flow
  const outcome = state.phase === 'ended' ? state.outcome : state.phase
  if (!kind.outcomes.some((one) => one === outcome))
    problems.push(`${flow.id} (${kind.name}) is ${outcome}, which it cannot`)
  for (const { id, member, state: end } of members) {
    const ends = kind.ends[member?.name ?? ''] ?? ['completed']
    if (end.phase === 'ended' && !ends.includes(end.outcome)) {
      problems.push(`${id} (${kind.name} ${member?.name ?? ''}) ended as ${end.outcome}, which it cannot`)
    }
  }
  return problems
}

/** Each time that a member gets its chance, enough of those it waits for had completed; and it gets no second one. */
function joinProblems(life: Life): string[] {
  return life.members.flatMap((execution) => {
    const { member } = execution
    const group = member?.group
    const inbound = life.inbound.get(execution.id) ?? []
    if (group === undefined || inbound.length === 0) return []
    return chanceProblems(execution, group, inbound, life.events)
  })
}

type Group = NonNullable<Membership['group']>

function chanceProblems(
  { id, attempt }: Execution,
  group: Group,
  inbound: readonly Edge[],
  events: readonly StoredEvent[],
): string[] {
  const upstreams = new Set<string>(inbound.map(({ upstreamId }) => upstreamId))
  // Any end of these counts, as a success would.
  const tolerated = new Set<string>(
    inbound
      .filter(({ onFailure }) => group.policy === 'ended' || onFailure !== undefined)
      .map((edge) => edge.upstreamId),
  )
  const needed = { all_of: group.total, any_of: 1, quorum: group.need, ended: group.total }[group.policy]
  const completed = new Set<string>()
  const failed = new Set<string>()
  const problems: string[] = []
  let chances = 0
  let blocks = 1
  const isGrown = hasGrown(id, upstreams, events)
  for (const { executionId, type, outcome, reason } of events) {
    if (upstreams.has(executionId)) {
      const isMet = outcome === 'completed' || tolerated.has(executionId)
      if (type === 'execution_ended') (isMet ? completed : failed).add(executionId)
      if (type === 'execution_replayed') failed.delete(executionId)
    }
    if (executionId !== id) continue
    if (type === 'execution_blocked' || type === 'execution_replayed') blocks += 1
    if (type === 'execution_unblocked') chances += 1
    const isBegun = type === 'execution_unblocked' || (type === 'attempt_started' && !isGrown)
    if (isBegun && completed.size < needed)
      problems.push(`${id} was released with ${completed.size} of ${needed} it waits for`)
    const isByCondition = outcome === 'skipped' && reason === 'condition'
    if (isByCondition && completed.size < needed) problems.push(`${id} had its condition evaluated too early`)
    if (outcome === 'skipped' && !isByCondition && group.total - failed.size >= needed)
      problems.push(`${id} was skipped too early`)
  }
  if (chances > blocks) problems.push(`${id} was released ${chances} times, and held back ${blocks} times`)
  if (attempt !== undefined && !isGrown && chances === 0) problems.push(`${id} ran, and was never released`)
  return problems
}

/** A member that added to its dependencies while it ran was released before. */
function hasGrown(id: string, upstreams: ReadonlySet<string>, events: readonly StoredEvent[]): boolean {
  const begun = events.findIndex(({ executionId, type }) => executionId === id && type === 'attempt_started')
  if (begun === -1) return false
  return events.slice(begun).some(({ executionId, type }) => type === 'execution_created' && upstreams.has(executionId))
}

/** The inputs of a handler are the answers of those that it waited for, and no others. */
function inputProblems({ members, inbound, events }: Life, { bodies }: Witness): string[] {
  const nodes = new Map(members.map(({ id, member }) => [id, member?.name ?? '']))
  const answers = Map.groupBy(bodies, ({ executionId }) => executionId)
  return members.flatMap((execution) => {
    const { id, member } = execution
    const edges = inbound.get(id) ?? []
    // One that adds to what it waits for learns of it as it goes.
    const isGrown = hasGrown(id, new Set(edges.map(({ upstreamId }) => upstreamId)), events)
    const policy = member?.group?.policy
    const wants = (policy === 'all_of' || policy === 'ended') && !isGrown ? edges.length : 0
    return (answers.get(id) ?? []).flatMap((body) => givenProblems(body, wants, edges, nodes, answers))
  })
}

function isOutcome(value: unknown): value is UpstreamOutcome {
  return typeof value === 'object' && value !== null && 'outcome' in value
}

function givenProblems(
  { executionId: id, inputs, attempt }: Body,
  wants: number,
  edges: readonly Edge[],
  nodes: ReadonlyMap<string, string>,
  answers: ReadonlyMap<string, readonly Body[]>,
): string[] {
  const problems = Object.entries(inputs)
    .filter(([name, value]) => {
      const edge = edges.find(({ upstreamId }) => nodes.get(upstreamId) === name)
      const given = edge === undefined ? [] : (answers.get(edge.upstreamId) ?? [])
      if (!isOutcome(value)) return !given.some((body) => body.answer === value)
      return value.outcome === 'completed'
        ? !given.some((body) => body.answer === value.value)
        : edge?.outcome !== value.outcome
    })
    .map(([name]) => `attempt ${attempt} of ${id} was given ${name} by no upstream`)
  if (Object.keys(inputs).length < wants) {
    problems.push(`attempt ${attempt} of ${id} was not given all that it waited for`)
  }
  return problems
}
