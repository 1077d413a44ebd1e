/** The calls that concern flows, as unions: what the kernel returned, refusals included. */
import { CANCEL_GRACE_DEFAULT_MS, FOLLOW_UP_EDGE_MAX, FOLLOW_UP_NODE_MAX, MEMBER_PAGE_MAX } from '../../kernel/index.ts'
import { EngineError } from '../../kernel/engine-error.ts'
import type {
  AddDependencyInput,
  AddDependencyResult,
  AddExecutionResult,
  CancelFlowResult,
  CreateFlowResult,
  DescribeFlowResult,
  ExecutionId,
  FlowId,
  FlowInput,
  LimitRef,
  ListEdgesResult,
  ListMembersResult,
  PolicyInput,
  Position,
  SealResult,
  SetFlowTagsResult,
  SetPolicyResult,
  SubmitFlowResult,
  UpstreamInput,
} from '../../kernel/index.ts'
import type { Partition } from '../../stores/store.ts'
import { flowBudgetRefs } from '../define/budget.ts'
import { flowPolicyOf, overrideFlowPolicy } from '../define/flow.ts'
import type { AnyFlow, FlowPolicy } from '../define/flow.ts'
import { sendGraph } from './flow-submission.ts'
import { digestOf, prepareGraph, prepareNode } from './flow-graph.ts'
import { createFlowOptions, flowCancelOptions, flowSubmitOptions, refuseTransaction } from './flow-options.ts'
import type { CreateFlowOptions, FlowCancelOptions, FlowSubmitOptions } from './flow-options.ts'
import type { DeclaredGraph, DeclaredNode } from '../define/graph-builder.ts'
import { sendSpan } from '../transport/send-span.ts'
import { flowIdFromKey, mintFlowId, partitionOf } from '../transport/ids.ts'
import { checkNodeName } from '../checks/hashed-names.ts'
import { checkReason, checkTags, checkTaskName, invalidInput } from '../checks/names.ts'
import { declaredLimitsOf } from '../limits/declared-limits.ts'
import type { Bound, Session } from '../session.ts'
import { dedupeOf } from '../executions/submit.ts'
import type { SubmitSetting } from '../executions/submit.ts'
import { splitTags } from '../executions/tag-changes.ts'
import { validate } from '../define/validation.ts'

export interface MemberToAdd extends Pick<DeclaredNode, 'name' | 'task' | 'input' | 'settings' | 'policy'> {
  readonly executionId: ExecutionId
  readonly after: readonly UpstreamInput[]
}

/** The result of submitting a flow, and the graph that was drawn. */
export interface SubmittedFlow {
  readonly result: SubmitFlowResult
  /** Whether the flow took the place of one that had ended. */
  readonly isReplaced: boolean
  readonly flowId: FlowId
  readonly graph: DeclaredGraph
}

/** A submit is a span, and the runs of all members are spans below it. */
export async function submitFlow(
  session: Session,
  flow: AnyFlow,
  input: unknown,
  options: FlowSubmitOptions,
  /** Called with the flow's partition before anything is sent. */
  onPlaced: (partition: Partition) => void = () => undefined,
): Promise<SubmittedFlow> {
  return await session.batcher.tracing.span(
    () => sendSpan(flow.name),
    async (span) => {
      const submitted = await submitInSpan(session, flow, input, options, onPlaced)
      span.set('messaging.message.id', submitted.flowId)
      if (submitted.result.kind === 'refused') span.fail(submitted.result.code)
      return submitted
    },
  )
}

async function submitInSpan(
  session: Session,
  flow: AnyFlow,
  input: unknown,
  options: FlowSubmitOptions,
  onPlaced: (partition: Partition) => void,
): Promise<SubmittedFlow> {
  refuseTransaction(options)
  const { id, ifExists, dedupe, onProgress = () => undefined, ...settings } = flowSubmitOptions(options)
  const dedupeMs = dedupeOf(id, dedupe)
  const policy = overrideFlowPolicy(flow.policy, settings)
  const graph = await drawFlow(flow, input)
  const head = flowInputOf(session, id, flow.name, policy)
  const inherited = await flowBudgets(session, policy, input)
  const prepared = await prepareGraph(graph, head.flowId, { ...submitSettingOf(session), inherited }, input)
  // A minted id is unique, so there is no other graph to compare with.
  const identity = { name: flow.name, outcomeRule: policy.outcomeRule }
  const digest = id === undefined ? '' : digestOf(graph, prepared, identity, session.batcher.codec)
  onPlaced(partitionOf(head.flowId))
  const send: Parameters<typeof sendGraph>[2] = async (call, blobs) => {
    return (await session.run(call.flowId, 'submitFlow', call, blobs)).result
  }
  const { result, isReplaced } = await sendGraph({ ...head, digest, ifExists, dedupeMs }, prepared, send, onProgress)
  if (ifExists === 'after') throwIfTooLargeToWait(result, graph)
  return { result, isReplaced, flowId: head.flowId, graph }
}

/** The graph of a follow-up waits in the record of its flow, which limits its size. */
function throwIfTooLargeToWait(result: SubmitFlowResult, { nodes, edgeCount }: DeclaredGraph): void {
  if (result.kind !== 'refused' || result.code !== 'graph_limit_exceeded') return
  if (nodes.length <= FOLLOW_UP_NODE_MAX && edgeCount <= FOLLOW_UP_EDGE_MAX) return
  throw new EngineError(result.code, {
    ...result.detail,
    message: `A flow that waits for the end of another run has at most ${FOLLOW_UP_NODE_MAX} nodes and ${FOLLOW_UP_EDGE_MAX} edges, and this one has ${nodes.length} and ${edgeCount}. Wait for the end, and submit it with ifExists: 'replace'.`,
  })
}

async function createFlow(session: Session, name: string, options: CreateFlowOptions = {}): Promise<CreateFlowResult> {
  const { id, hold = false, ...settings } = createFlowOptions(options)
  const policy = flowPolicyOf(settings)
  const head = flowInputOf(session, id, checkTaskName(name, 'flow name'), policy)
  const budgets = await flowBudgets(session, policy, undefined)
  return (await session.run(head.flowId, 'createFlow', { ...head, budgets, hold })).result
}

/** Returns what all members of a flow spend. Their children spend it too. The store has the budgets before the members. */
export async function flowBudgets(
  session: Session,
  { budgets }: FlowPolicy,
  input: unknown,
): Promise<readonly LimitRef[] | undefined> {
  if (budgets.length === 0) return undefined
  await declaredLimitsOf(session.batcher, session.runtime).budgets.declare(budgets)
  return flowBudgetRefs(budgets, input)
}

function flowInputOf(session: Session, key: string | undefined, name: string, policy: FlowPolicy): FlowInput {
  const flowId =
    key === undefined
      ? mintFlowId(session.batcher.partitionNumberToFill(), session.runtime)
      : flowIdFromKey(session.namespace, key, session.settings.executionPartitions)
  return {
    flowId,
    key,
    // A minted id is unique, so a retry needs no request id to be recognised.
    requestId: key === undefined ? undefined : session.runtime.uuid(),
    namespace: session.namespace,
    name,
    tags: checkTags(policy.tags, session.settings.indexedTags),
    outcomeRule: policy.outcomeRule,
    retentionMs: policy.retentionMs,
  }
}

/** Creates an execution as a member, together with the edges that lead to it. */
async function addNewMember(session: Session, flowIdOrKey: string, member: MemberToAdd): Promise<AddExecutionResult> {
  const flowId = session.resolveFlow(flowIdOrKey)
  const { executionId, name, after, policy } = member
  const { input, payload } = await prepareNode(member, executionId, submitSettingOf(session))
  const blobs = payload === undefined ? [] : [payload]
  const call = { flowId, executionId, name, create: input.create, policy, after }
  return (await session.run(flowId, 'addExecutionToFlow', call, blobs)).result
}

/** Makes an existing execution a member. It must be in the flow's partition. */
async function addExecutionToFlow(
  session: Session,
  flowIdOrKey: string,
  idOrKey: string,
  name: string,
): Promise<AddExecutionResult> {
  const flowId = session.resolveFlow(flowIdOrKey)
  const executionId = session.resolve(idOrKey)
  if (partitionOf(executionId) !== partitionOf(flowId)) {
    throw invalidInput(
      'execution',
      `${executionId} lives in another partition than the flow ${flowId}: create members with add(…), which puts them where their flow is.`,
    )
  }
  const input = { flowId, executionId, name: checkNodeName(name), after: [] }
  return (await session.run(flowId, 'addExecutionToFlow', input)).result
}

async function addDependency(
  session: Session,
  flowIdOrKey: string,
  upstreamId: ExecutionId,
  downstreamId: ExecutionId,
  options: Pick<AddDependencyInput, 'hands' | 'onFailure' | 'expectedRevision'> = {},
): Promise<AddDependencyResult> {
  const flowId = session.resolveFlow(flowIdOrKey)
  return (await session.run(flowId, 'addDependency', { flowId, upstreamId, downstreamId, ...options })).result
}

async function setEdgeGroupPolicy(
  session: Session,
  flowIdOrKey: string,
  executionId: ExecutionId,
  policy: PolicyInput,
): Promise<SetPolicyResult> {
  const flowId = session.resolveFlow(flowIdOrKey)
  return (await session.run(flowId, 'setEdgeGroupPolicy', { flowId, executionId, policy })).result
}

async function sealFlow(session: Session, flowIdOrKey: string): Promise<SealResult> {
  const flowId = session.resolveFlow(flowIdOrKey)
  return (await session.run(flowId, 'sealFlow', { flowId })).result
}

export async function cancelFlow(
  session: Session,
  flowIdOrKey: string,
  reason: string,
  options: FlowCancelOptions = {},
): Promise<CancelFlowResult> {
  const flowId = session.resolveFlow(flowIdOrKey)
  const { policy = 'cancel_all', force = false, grace, by = 'client' } = flowCancelOptions(options)
  const input = { flowId, policy, reason: checkReason(reason), by, force, graceMs: grace ?? CANCEL_GRACE_DEFAULT_MS }
  return (await session.run(flowId, 'cancelFlow', input)).result
}

/** Sets the tags that have a value and removes those that are `undefined`. */
async function setFlowTags(
  session: Session,
  flowIdOrKey: string,
  tags: Readonly<Record<string, string | undefined>>,
): Promise<SetFlowTagsResult> {
  const flowId = session.resolveFlow(flowIdOrKey)
  const changes = splitTags(tags, session.settings.indexedTags)
  return (await session.run(flowId, 'setFlowTags', { flowId, ...changes })).result
}

export async function describeFlow(session: Session, flowIdOrKey: string): Promise<DescribeFlowResult> {
  const flowId = session.resolveFlow(flowIdOrKey)
  return (await session.run(flowId, 'describeFlow', { flowId })).result
}

/** Returns one page of members, in the order of the graph. */
export async function listFlowMembers(
  session: Session,
  flowIdOrKey: string,
  options: { readonly cursor?: Position | undefined; readonly edges?: boolean | undefined } = {},
): Promise<ListMembersResult> {
  const flowId = session.resolveFlow(flowIdOrKey)
  return (await session.run(flowId, 'listFlowMembers', { flowId, limit: MEMBER_PAGE_MAX, ...options })).result
}

/** Returns one page of the edges that lead to a member, or from it. */
async function listEdges(
  session: Session,
  idOrKey: string,
  direction: 'inbound' | 'outbound',
  cursor?: Position,
): Promise<ListEdgesResult> {
  const executionId = session.resolve(idOrKey)
  return (await session.run(executionId, 'listEdges', { executionId, direction, cursor, limit: MEMBER_PAGE_MAX }))
    .result
}

/** Draws the graph of a flow for an input, after validating the input. */
export async function drawFlow(flow: AnyFlow, input: unknown): Promise<DeclaredGraph> {
  return flow.draw(await validate(flow.inputSchema, input, 'invalid_payload', 'input'))
}

function submitSettingOf({ namespace, settings, batcher, runtime }: Session): SubmitSetting {
  const trace = batcher.tracing.current()
  return {
    namespace,
    indexedTags: settings.indexedTags,
    limits: declaredLimitsOf(batcher, runtime),
    trace,
    codec: batcher.codec,
  }
}

export const flowCalls = {
  createFlow,
  addNewMember,
  addExecutionToFlow,
  addDependency,
  setEdgeGroupPolicy,
  sealFlow,
  cancelFlow,
  setFlowTags,
  describeFlow,
  listFlowMembers,
  listEdges,
}

export type FlowCalls = Bound<typeof flowCalls>
