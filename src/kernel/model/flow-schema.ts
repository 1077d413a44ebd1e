/** Flows, their edges and memberships, as they are stored. New fields, words and variants go to the end. */
import {
  blobInfo,
  delayCause,
  executionId,
  firingOf,
  flowId,
  limitRef,
  outcome,
  retryPolicy,
  tag,
  tagList,
  fairness,
} from './base-records.ts'
import {
  flag,
  frozen,
  frozenList,
  frozenObject,
  list,
  maybe,
  object,
  rare,
  record,
  text,
  union,
  whole,
  word,
} from './field-kinds.ts'
import type { Infer, InferRecord } from './field-kinds.ts'

const groupPolicy = word(['all_of', 'any_of', 'quorum', 'ended'])

/**
 * How many upstreams must complete: all of them, one, or the number of a quorum. `ended` waits until all have ended, whatever
 * their outcomes.
 */
export type GroupPolicy = Infer<typeof groupPolicy>

export const losers = word(['cancel', 'let_run'])

/** The fate of upstreams that still run when a group of `any_of` or `quorum` is decided. */
export type Losers = Infer<typeof losers>

const groupVerdict = word(['pending', 'satisfied', 'impossible'])

export type GroupVerdict = Infer<typeof groupVerdict>

const edgeGroup = object({
  policy: groupPolicy,
  /** How many must complete: one for `any_of`, the number of a quorum. Unused for `all_of`. */
  need: whole,
  losers,
  /** The sum of the three buckets below and of the open edges. */
  total: whole,
  completed: whole,
  /** Upstreams that failed, expired or were cancelled. */
  failed: whole,
  skipped: whole,
  verdict: groupVerdict,
  decidedAt: maybe(whole),
  /** While losing upstreams are still to be cancelled: the last one handled, in the order of ids; first ''. */
  owedFrom: rare(text),
  /** Of `failed` and `skipped`: upstreams whose edge is satisfied by any end. */
  tolerated: rare(whole),
  /** Of `skipped`: upstreams that a condition skipped, directly or through their own upstreams. */
  excused: rare(whole),
})

/** All inbound edges of one member, decided together. */
export type EdgeGroup = Infer<typeof edgeGroup>

const displacedDelay = object({ until: whole, cause: delayCause })

const givenInput = object({ name: text, upstreamId: executionId, result: maybe(blobInfo) })

/** An upstream result that a satisfied edge passes on under a name. */
export type GivenInput = Infer<typeof givenInput>

export const membership = object({
  flowId,
  /** The node's name. Unique in its flow if the node was named. */
  name: text,
  /** Every edge leads from a lower rank to a higher one. */
  rank: whole,
  /** Absent until an edge leads here or a policy is set. */
  group: maybe(edgeGroup),
  /** A delay that a dependency has displaced. It applies again once the dependency is met. */
  delay: rare(displacedDelay),
  /** Edges that pass their upstream's result on under a name. */
  inputCount: whole,
  /** Upstream results received so far, if their number is small: a claim then needs no look-up. */
  given: list(givenInput),
  /** Edges that pass their upstream's result on as the payload. */
  payloadEdgeCount: whole,
  /** The upstream whose result is this member's payload. */
  payloadFrom: rare(executionId),
  /** The member has ended, and some of its outbound edges are not resolved yet. */
  owesEdges: flag,
  /** The definition of its flow decides, after the claim and before the handler, whether it runs. */
  hasCondition: rare(flag),
  /** Some of its inputs are outcomes of upstreams instead of their results. */
  takesOutcomes: rare(flag),
  /** An edge from it ignores its failure, so the failure does not make the flow fail. */
  mayFail: rare(flag),
})

/** What makes an execution part of a flow. */
export type Membership = Infer<typeof membership>

const handover = union('as', { input: { name: text }, payload: {} })

/** Passes an upstream's result on: under a name, or as the payload. */
export type Handover = Infer<typeof handover>

const edgeTolerance = word(['continue', 'ignore'])

/** Satisfies an edge by any end of its upstream. `ignore`: also, a failure of the upstream does not make the flow fail. */
export type EdgeTolerance = Infer<typeof edgeTolerance>

const edgeState = word(['open', 'satisfied', 'impossible'])

export type EdgeState = Infer<typeof edgeState>

export const edge = record('edge', {
  /** The upstream's id and the downstream's: two members have at most one edge between them. */
  id: text,
  flowId,
  upstreamId: executionId,
  downstreamId: executionId,
  hands: maybe(handover),
  state: edgeState,
  /** The upstream's result, once it has completed. */
  result: maybe(blobInfo),
  createdAt: whole,
  resolvedAt: maybe(whole),
  /** Absent: the edge is satisfied by a completed upstream alone. */
  onFailure: rare(edgeTolerance),
  /** How the upstream ended, if it satisfied the edge without completing. */
  outcome: rare(outcome),
})

/** One dependency. */
export interface Edge extends InferRecord<typeof edge> {}

const memberCounts = object({
  waiting: whole,
  delayed: whole,
  rate_limited: whole,
  waiting_dependencies: whole,
  active: whole,
  suspended: whole,
  completed: whole,
  failed: whole,
  cancelled: whole,
  expired: whole,
  skipped: whole,
  superseded: whole,
})

/** Members by public state. A member that lost to a satisfied group counts as superseded, not as cancelled. */
export type MemberCounts = Infer<typeof memberCounts>

const flowCancelPolicy = word(['cancel_all', 'cancel_pending', 'flow_only'])

export type FlowCancelPolicy = Infer<typeof flowCancelPolicy>

export const outcomeRule = word(['all_members', 'sinks'])

/** `all_members`: no member may fail. `sinks`: only members without dependants count. */
export type OutcomeRule = Infer<typeof outcomeRule>

const flowOutcome = word(['completed', 'failed'])

export type FlowOutcome = Infer<typeof flowOutcome>

const flowState = union('phase', {
  held: {
    /** When a submission that was not finished is cancelled. */
    until: maybe(whole),
  },
  open: {},
  sealed: {},
  ended: { outcome: flowOutcome, at: whole },
  cancelled: { policy: flowCancelPolicy, at: whole, reason: text, by: text, force: flag, graceMs: whole },
})

/** Held: no member runs yet. Sealed: the flow accepts no more members and ends with the last one. */
export type FlowState = Infer<typeof flowState>

const submission = object({ digest: text, nodeCount: whole, edgeCount: whole })

/** What a submission in several calls adds up to. */
export type Submission = Infer<typeof submission>

const flowWalk = object({
  purpose: word(['release', 'cancel', 'replay', 'remove']),
  fromRank: maybe(whole),
  fromId: maybe(text),
  /** The member that a replay begins with: it stays back until the walk is over. */
  rootId: maybe(executionId),
})

/** Work on all members of a flow in the order of their ranks, with the position that it has reached. */
export type FlowWalk = Infer<typeof flowWalk>

const pendingNode = frozenObject({
  executionId,
  name: text,
  policy: maybe(frozenObject({ policy: groupPolicy, need: maybe(whole), losers: maybe(losers) })),
  hasCondition: flag,
  key: maybe(text),
  requestId: maybe(text),
  task: text,
  version: maybe(whole),
  lane: text,
  class: text,
  priority: whole,
  tags: frozenList(tag),
  retry: retryPolicy,
  delayMs: maybe(whole),
  attemptTimeoutMs: maybe(whole),
  totalTimeoutMs: maybe(whole),
  compensationTimeoutMs: maybe(whole),
  retentionMs: whole,
  dedupeMs: maybe(whole),
  digest: maybe(text),
  payload: maybe(blobInfo),
  needs: maybe(frozenList(text)),
  fairness: maybe(fairness),
  limits: maybe(frozenList(limitRef)),
  trace: maybe(text),
})

/** A node of a graph that is not created yet: the settings of its submit. */
export type PendingNode = Infer<typeof pendingNode>

const pendingEdge = frozenObject({
  /** The positions of both ends among the nodes. */
  upstream: whole,
  downstream: whole,
  hands: maybe(union('as', { input: frozen({ name: text }), payload: frozen({}) })),
  onFailure: maybe(edgeTolerance),
})

export type PendingEdge = Infer<typeof pendingEdge>

export const pendingParts = { nodes: frozenList(pendingNode), edges: frozenList(pendingEdge) }
const pendingGraph = frozenObject(pendingParts)

/** A graph that is not created yet. Its payloads are stored in the slot of its run. */
export type PendingGraph = Infer<typeof pendingGraph>

const flowFollowUp = frozenObject({
  requestId: maybe(text),
  name: text,
  tags: frozenList(tag),
  outcomeRule,
  retentionMs: whole,
  dedupeMs: maybe(whole),
  digest: text,
  input: maybe(blobInfo),
  at: whole,
  /** Whether it took the place of a pending one. */
  hasDisplaced: flag,
  ...pendingParts,
})

/** One more run of a flow: the submit that asked for it. */
export type FlowFollowUp = Infer<typeof flowFollowUp>

export const flow = record('flow', {
  id: flowId,
  /** The caller's own id, from which `id` was derived. */
  key: rare(text),
  requestId: rare(text),
  namespace: text,
  /** The name of its definition. */
  name: text,
  tags: tagList,
  outcomeRule,
  retentionMs: whole,
  createdAt: whole,
  changedAt: whole,
  state: flowState,
  submission: maybe(submission),
  memberCount: whole,
  edgeCount: whole,
  counts: memberCounts,
  /** Members without dependants that ended without completing. Counted where the outcome rule needs it. */
  failedSinkCount: whole,
  /** Groups that need more upstreams than they have. */
  shortGroupCount: whole,
  /** Whether any group cancels the upstreams that it does not need. */
  cancelsLosers: flag,
  /** Whether any member was replayed, so that its result may differ from the one passed on. */
  hasReplays: flag,
  walk: rare(flowWalk),
  /** Rises with every change, so that a count over several calls can detect a concurrent change. */
  version: whole,
  /** Members that failed, expired or were cancelled, and whose failure an edge ignores. */
  ignoredCount: rare(whole),
  /** The input of its definition. Stored if the definition has conditions, which are evaluated by workers. */
  input: rare(blobInfo),
  /** How long after its end the id stays taken, if that is longer than the retention. */
  dedupeMs: rare(whole),
  /** Set when its retention is over and only its id is kept: it is in no list, and has no members any more. */
  removedAt: rare(whole),
  /** The run that begins when this one has finished. */
  followUp: rare(flowFollowUp),
  /** The graph of a follow-up that has begun, until all its members and edges exist. */
  begins: rare(pendingGraph),
  /** How many runs with its id ended before this one. */
  run: rare(whole),
  /** Where the input of its definition is stored, if it waited there as that of a follow-up: the number of the run. */
  inputSlot: rare(whole),
  /** The latest submits whose runs or follow-ups are past, so that a late repetition starts nothing. */
  pastRequests: rare(frozenList(text)),
  /** Budgets that every member spends that is added to it. Those of a submitted graph are part of its nodes. */
  budgets: rare(frozenList(limitRef)),
  /** The schedule that created it, and the boundary. */
  schedule: rare(firingOf),
  /** The schedule whose next firing waits for its end. */
  awaitedBy: rare(text),
})

export interface Flow extends InferRecord<typeof flow> {}
