/** The public description of a flow. */
import type {
  ExecutionId,
  Flow,
  FlowCancelPolicy,
  FlowId,
  FlowOutcome,
  FlowState,
  FlowView,
  Instant,
  MemberCounts,
  MemberView,
  OutcomeRule,
  PublicFlowState,
} from '../../kernel/index.ts'
import { originOf, summarise } from '../executions/description.ts'
import type { ExecutionSummary, ScheduleOrigin } from '../executions/description.ts'
import { tagsToObject } from '../checks/names.ts'
import type { Tags } from '../checks/names.ts'

export interface FlowSummary {
  readonly id: FlowId
  readonly key: string | undefined
  readonly namespace: string
  readonly name: string
  readonly state: PublicFlowState
  /** `held` runs nothing yet, `open` accepts members, `sealed` ends with its last member. */
  readonly phase: FlowState['phase']
  readonly tags: Tags
  readonly outcomeRule: OutcomeRule
  readonly memberCount: number
  readonly edgeCount: number
  /** Incremented with every member and every edge. */
  readonly revision: number
  /** Members by state. Members that lost a race count as superseded, not as cancelled. */
  readonly counts: Readonly<MemberCounts>
  /** Members that have not ended. */
  readonly liveCount: number
  /** Whether nothing in it will change any more without a request. */
  readonly isSettled: boolean
  readonly createdAt: Instant
  readonly changedAt: Instant
  readonly endedAt: Instant | undefined
  readonly outcome: FlowOutcome | 'cancelled' | undefined
  readonly cancel: FlowCancel | undefined
  /** The nodes and edges that a submit in several calls has yet to send. */
  readonly submission: { readonly nodeCount: number; readonly edgeCount: number } | undefined
  readonly purgeAt: Instant | undefined
  /** Until when its id stays taken after its end, if that is longer than its retention. */
  readonly idTakenUntil: Instant | undefined
  /** Set if its retention is over and only its id is kept. */
  readonly removedAt: Instant | undefined
  /** The run that begins when this one has ended. */
  readonly followUp: PendingFlowFollowUp | undefined
  /** The schedule that created it, the boundary, and whether that was by hand. */
  readonly schedule: ScheduleOrigin | undefined
}

export interface PendingFlowFollowUp {
  readonly name: string
  readonly nodeCount: number
  /** When it was submitted. */
  readonly since: Instant
}

export interface FlowCancel {
  readonly policy: FlowCancelPolicy
  readonly reason: string
  readonly by: string
  /** Whether members are still to be cancelled. */
  readonly isUnderWay: boolean
}

export interface FlowDescription extends FlowSummary {
  /** The store's clock when it was read. */
  readonly at: Instant
}

export function summariseFlow(view: FlowView): FlowSummary {
  const { flow, settled } = view
  const { state } = flow
  const isCancelled = state.phase === 'cancelled'
  const isEnded = state.phase === 'ended'
  return {
    id: flow.id,
    key: flow.key,
    namespace: flow.namespace,
    name: flow.name,
    state: view.state,
    phase: state.phase,
    tags: tagsToObject(flow.tags),
    outcomeRule: flow.outcomeRule,
    memberCount: flow.memberCount,
    edgeCount: flow.edgeCount,
    revision: view.revision,
    counts: flow.counts,
    liveCount: view.liveCount,
    isSettled: settled,
    createdAt: flow.createdAt,
    changedAt: flow.changedAt,
    endedAt: isEnded || isCancelled ? state.at : undefined,
    outcome: isEnded ? state.outcome : isCancelled ? 'cancelled' : undefined,
    cancel: isCancelled
      ? {
          policy: state.policy,
          reason: state.reason,
          by: state.by,
          isUnderWay: flow.walk?.purpose === 'cancel',
        }
      : undefined,
    submission: state.phase === 'held' ? flow.submission : undefined,
    purgeAt: settled ? flow.changedAt + flow.retentionMs : undefined,
    idTakenUntil: settled && flow.dedupeMs !== undefined ? flow.changedAt + flow.dedupeMs : undefined,
    removedAt: flow.removedAt,
    followUp: followUpOf(flow),
    schedule: originOf(flow),
  }
}

function followUpOf({ followUp }: Flow): PendingFlowFollowUp | undefined {
  if (followUp === undefined) return undefined
  return { name: followUp.name, nodeCount: followUp.nodes.length, since: followUp.at }
}

/** A member as its flow lists it, in the order of the graph. */
export interface MemberSummary extends ExecutionSummary {
  /** Its upstreams, if requested. */
  readonly upstreams: readonly UpstreamSummary[]
}

export interface UpstreamSummary {
  readonly id: ExecutionId
  /** Its name in the flow, if it was listed earlier. */
  readonly node: string | undefined
  /** Whether the member still waits for it. */
  readonly isOpen: boolean
}

export function summariseMember(view: MemberView, nodes: ReadonlyMap<ExecutionId, string>): MemberSummary {
  return {
    ...summarise(view.execution),
    upstreams: view.upstreams.map(({ executionId: id, isOpen }) => ({ id, node: nodes.get(id), isOpen })),
  }
}
