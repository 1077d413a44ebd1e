/** Members of a flow as a listing answers them, from a few words for each. */
import { ALL_OF, countEffect, edgeEffect, newGroup, nextRank, unpackRecord, verdictOf } from '../../kernel/index.ts'
import type {
  CancelRequest,
  Execution,
  ExecutionId,
  FlowId,
  Instant,
  MemberView,
  Outcome,
  PolicyInput,
} from '../../kernel/index.ts'

/** When all members were created. */
export const CREATED_AT = 1_700_000_000_000
/** When the graph is looked at. */
export const LOOKED_AT = CREATED_AT + 60_000

export interface DrawnNode {
  readonly name: string
  readonly state?: Execution['state']
  readonly after?: readonly string[]
  readonly policy?: PolicyInput
  readonly hasCondition?: true
  readonly mayFail?: true
  readonly startedAt?: Instant
  readonly rest?: Partial<Execution>
}

function idOf(name: string): ExecutionId {
  return `0-${name}` as ExecutionId
}

export function ended(outcome: Outcome, ms: number, why: { reason?: string; by?: string } = {}): Execution['state'] {
  return { phase: 'ended', outcome, at: CREATED_AT + ms, reason: why.reason, by: why.by }
}

export function skippedBy(name: string): Execution['state'] {
  return ended('skipped', 5_000, { reason: 'dependency_impossible', by: idOf(name) })
}

export function activeOn(workerId: string, cancel?: CancelRequest): Execution['state'] {
  const lease = { id: 'l', workerId, workerInstanceId: 'i', acquiredAt: CREATED_AT, expiresAt: LOOKED_AT + 30_000 }
  return { phase: 'active', lease, timeoutAt: undefined, cancel, runningSince: CREATED_AT, unadmitted: undefined }
}

export const WAITS_FOR_OTHERS: Execution['state'] = { phase: 'blocked', by: 'dependencies', gate: undefined }

/** In the order in which they are given, which is that of the graph. */
export function membersOf(nodes: readonly DrawnNode[]): MemberView[] {
  const stateOf = new Map(nodes.map((node) => [node.name, node.state]))
  return nodes.map((node, i) => {
    const upstreams = (node.after ?? []).map((name) => ({
      executionId: idOf(name),
      isOpen: stateOf.get(name)?.phase !== 'ended',
    }))
    const group = newGroup(node.policy ?? ALL_OF)
    group.total = upstreams.length
    for (const name of node.after ?? []) {
      const state = stateOf.get(name)
      if (state?.phase === 'ended') {
        const isExcusedSkip = state.reason === 'condition' || state.reason === 'upstream_condition'
        countEffect(group, state.outcome, edgeEffect(group.policy, undefined, state.outcome, isExcusedSkip))
      }
    }
    group.verdict = verdictOf(group, false)
    const execution = executionOf(node)
    execution.member = {
      flowId: 'f0-flow' as FlowId,
      name: node.name,
      rank: nextRank(i),
      group: upstreams.length === 0 ? undefined : group,
      delay: undefined,
      inputCount: upstreams.length,
      given: [],
      payloadEdgeCount: 0,
      payloadFrom: undefined,
      owesEdges: false,
      hasCondition: node.hasCondition,
      takesOutcomes: undefined,
      mayFail: node.mayFail,
    }
    return { execution, upstreams }
  })
}

function executionOf({ name, state, startedAt, rest }: DrawnNode): Execution {
  return {
    ...unpackRecord('execution', []),
    id: idOf(name),
    retry: { attempts: 3, backoff: { kind: 'fixed', delayMs: 1_000 }, jitter: false, onlyCategories: [] },
    createdAt: CREATED_AT,
    changedAt: CREATED_AT,
    startedAt,
    state: state ?? { phase: 'eligible' },
    ...rest,
  }
}
