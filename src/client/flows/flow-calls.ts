/** The calls that concern flows, as unions: what the kernel answered, refusals included. */
import { CANCEL_GRACE_DEFAULT_MS, LIST_PAGE_MAX, MEMBER_PAGE_MAX, readyIndex } from '../../kernel/index.ts'
import type {
  AddDependencyResult,
  AddExecutionResult,
  CancelFlowResult,
  CreateFlowResult,
  DescribeFlowResult,
  ExecutionId,
  FlowId,
  FlowInput,
  Handover,
  ListEdgesResult,
  ListFlowsResult,
  ListMembersResult,
  PolicyInput,
  Position,
  SealResult,
  SetFlowTagsResult,
  SetPolicyResult,
  SubmitFlowResult,
  UpstreamInput,
} from '../../kernel/index.ts'
import type { Reply } from '../../stores/batcher.ts'
import { executionPartition } from '../../stores/store.ts'
import type { Partition } from '../../stores/store.ts'
import { parseDuration } from '../define/duration.ts'
import { flowPolicyOf, overrideFlowPolicy } from '../define/flow.ts'
import type { AnyFlow, FlowDefinition, FlowPolicy } from '../define/flow.ts'
import { isAtomic, sendGraph } from './flow-submission.ts'
import { digestOf, prepareGraph, prepareNode } from './flow-graph.ts'
import type { PreparedGraph } from './flow-graph.ts'
import {
  CREATE_FLOW_KEYS,
  FLOW_CANCEL_KEYS,
  FLOW_SUBMIT_KEYS,
  checkCancelPolicy,
  refuseTransaction,
} from './flow-options.ts'
import type { CreateFlowOptions, FlowCancelOptions, FlowQuery, FlowSubmitOptions } from './flow-options.ts'
import type { DeclaredGraph, DeclaredNode } from '../define/graph-builder.ts'
import { flowIdFromKey, mintFlowId, partitionOf } from '../transport/ids.ts'
import {
  checkBoolean,
  checkKey,
  checkOptions,
  checkReason,
  checkTags,
  checkTaskName,
  invalidInput,
} from '../checks/names.ts'
import { StoreCalls } from '../transport/store-calls.ts'
import { splitTags } from '../executions/tag-changes.ts'
import { validate } from '../define/validation.ts'

export interface MemberToAdd extends Pick<DeclaredNode, 'name' | 'task' | 'input' | 'settings' | 'policy'> {
  readonly executionId: ExecutionId
  readonly after: readonly UpstreamInput[]
}

/** What a submit of a flow did, and the graph that it drew. */
export interface SubmittedFlow {
  readonly result: SubmitFlowResult
  readonly flowId: FlowId
  readonly graph: DeclaredGraph
}

export class FlowCalls extends StoreCalls {
  async submitFlow<Input, Output>(
    flow: FlowDefinition<Input, Output>,
    input: Input,
    options: FlowSubmitOptions = {},
  ): Promise<SubmitFlowResult> {
    return (await this.submitDrawn(flow, input, options)).result
  }

  /** @internal */
  async submitDrawn(
    flow: AnyFlow,
    input: unknown,
    options: FlowSubmitOptions,
    /** Hears where the flow goes, before anything of it is sent. */
    onPlaced: (partition: Partition) => void = () => undefined,
  ): Promise<SubmittedFlow> {
    refuseTransaction(options)
    checkOptions(options, FLOW_SUBMIT_KEYS, "{ id: 'release:42' }")
    const policy = overrideFlowPolicy(flow.policy, options)
    const graph = await drawFlow(flow, input)
    const { id, onProgress = () => undefined } = options
    const head = this.#headOf(id, flow.name, policy)
    const prepared = await prepareGraph(graph, head.flowId, this.submitSetting)
    // Under an id that nobody else can have there is no other graph to tell it apart from.
    const identity = { name: flow.name, outcomeRule: policy.outcomeRule }
    const digest = id === undefined ? '' : digestOf(graph, prepared, identity)
    onPlaced(partitionOf(head.flowId))
    const result = await sendGraph(
      { ...head, digest },
      prepared,
      (call, blobs) => this.#send(prepared, call, blobs),
      onProgress,
    )
    return { result, flowId: head.flowId, graph }
  }

  async #send(
    graph: PreparedGraph,
    input: Parameters<Parameters<typeof sendGraph>[2]>[0],
    blobs: readonly Uint8Array[],
  ): Promise<SubmitFlowResult> {
    const answer = this.run(input.flowId, 'submitFlow', input, blobs)
    if (isAtomic(graph)) this.#announceRoots(input.flowId, graph)
    return (await answer).result
  }

  /** Those who can take the first members at once hear of them before they are sent. */
  #announceRoots(flowId: FlowId, { nodes, edges }: PreparedGraph): void {
    const waiting = new Set<ExecutionId>()
    for (const edge of edges) waiting.add(edge.downstreamId)
    const ready = new Set<string>()
    for (const { input } of nodes) {
      const { executionId, delayMs = 0, lane, class: className } = input.create
      if (delayMs <= 0 && !waiting.has(executionId)) ready.add(readyIndex(lane, className))
    }
    for (const index of ready) this.batcher.announceSubmit(partitionOf(flowId), index)
  }

  async createFlow(name: string, options: CreateFlowOptions = {}): Promise<CreateFlowResult> {
    checkOptions(options, CREATE_FLOW_KEYS, "{ id: 'import:7', hold: true }")
    checkBoolean(options.hold, 'hold')
    const head = this.#headOf(options.id, checkTaskName(name, 'flow name'), flowPolicyOf(options))
    return (await this.run(head.flowId, 'createFlow', { ...head, hold: options.hold ?? false })).result
  }

  #headOf(key: string | undefined, name: string, policy: FlowPolicy): FlowInput {
    const flowId =
      key === undefined
        ? mintFlowId(this.batcher.partitionNumberToFill(), this.runtime)
        : flowIdFromKey(this.namespace, checkKey(key), this.settings.executionPartitions)
    return {
      flowId,
      key,
      // An id that nobody else can have tells a repetition by itself.
      requestId: key === undefined ? undefined : this.runtime.uuid(),
      namespace: this.namespace,
      name,
      tags: checkTags(policy.tags, this.settings.indexedTags),
      outcomeRule: policy.outcomeRule,
      retentionMs: policy.retentionMs,
    }
  }

  /** Creates an execution as a member, together with the edges that lead to it. */
  async addNewMember(flowIdOrKey: string, member: MemberToAdd): Promise<AddExecutionResult> {
    const flowId = this.resolveFlow(flowIdOrKey)
    const { executionId, name, after, policy } = member
    const { input, payload } = await prepareNode(member, executionId, this.submitSetting)
    const blobs = payload === undefined ? [] : [payload]
    const call = { flowId, executionId, name, create: input.create, policy, after }
    return (await this.run(flowId, 'addExecutionToFlow', call, blobs)).result
  }

  /** Makes an execution that exists a member. It must live in the flow's partition. */
  async addExecutionToFlow(flowIdOrKey: string, idOrKey: string, name: string): Promise<AddExecutionResult> {
    const flowId = this.resolveFlow(flowIdOrKey)
    const executionId = this.resolve(idOrKey)
    if (partitionOf(executionId) !== partitionOf(flowId)) {
      throw invalidInput(
        'execution',
        `${executionId} lives in another partition than the flow ${flowId}: create members with add(…), which puts them where their flow is.`,
      )
    }
    const input = { flowId, executionId, name: checkTaskName(name, 'node name'), after: [] }
    return (await this.run(flowId, 'addExecutionToFlow', input)).result
  }

  async addDependency(
    flowIdOrKey: string,
    upstreamId: ExecutionId,
    downstreamId: ExecutionId,
    options: { readonly hands?: Handover | undefined; readonly expectedRevision?: number | undefined } = {},
  ): Promise<AddDependencyResult> {
    const flowId = this.resolveFlow(flowIdOrKey)
    return (await this.run(flowId, 'addDependency', { flowId, upstreamId, downstreamId, ...options })).result
  }

  async setEdgeGroupPolicy(
    flowIdOrKey: string,
    executionId: ExecutionId,
    policy: PolicyInput,
  ): Promise<SetPolicyResult> {
    const flowId = this.resolveFlow(flowIdOrKey)
    return (await this.run(flowId, 'setEdgeGroupPolicy', { flowId, executionId, policy })).result
  }

  async sealFlow(flowIdOrKey: string): Promise<SealResult> {
    const flowId = this.resolveFlow(flowIdOrKey)
    return (await this.run(flowId, 'sealFlow', { flowId })).result
  }

  async cancelFlow(flowIdOrKey: string, reason: string, options: FlowCancelOptions = {}): Promise<CancelFlowResult> {
    const flowId = this.resolveFlow(flowIdOrKey)
    checkOptions(options, FLOW_CANCEL_KEYS, "{ policy: 'cancel_pending' }")
    const { policy = 'cancel_all', force = false, grace, by = 'client' } = options
    checkBoolean(force, 'force')
    const input = {
      flowId,
      policy: checkCancelPolicy(policy),
      reason: checkReason(reason),
      by: checkReason(by, 'by'),
      force,
      graceMs: grace === undefined ? CANCEL_GRACE_DEFAULT_MS : parseDuration(grace, 'grace'),
    }
    return (await this.run(flowId, 'cancelFlow', input)).result
  }

  /** Sets the tags that have a value and removes those that are `undefined`. */
  async setFlowTags(
    flowIdOrKey: string,
    tags: Readonly<Record<string, string | undefined>>,
  ): Promise<SetFlowTagsResult> {
    const flowId = this.resolveFlow(flowIdOrKey)
    const changes = splitTags(tags, this.settings.indexedTags)
    return (await this.run(flowId, 'setFlowTags', { flowId, ...changes })).result
  }

  async describeFlow(flowIdOrKey: string): Promise<DescribeFlowResult> {
    const flowId = this.resolveFlow(flowIdOrKey)
    return (await this.run(flowId, 'describeFlow', { flowId })).result
  }

  /** One page of members, in the order of the graph. */
  async listFlowMembers(
    flowIdOrKey: string,
    options: { readonly cursor?: Position | undefined; readonly edges?: boolean | undefined } = {},
  ): Promise<ListMembersResult> {
    const flowId = this.resolveFlow(flowIdOrKey)
    return (await this.run(flowId, 'listFlowMembers', { flowId, limit: MEMBER_PAGE_MAX, ...options })).result
  }

  /** One page of the edges that lead to a member, or from it. */
  async listEdges(idOrKey: string, direction: 'inbound' | 'outbound', cursor?: Position): Promise<ListEdgesResult> {
    const executionId = this.resolve(idOrKey)
    return (await this.run(executionId, 'listEdges', { executionId, direction, cursor, limit: MEMBER_PAGE_MAX })).result
  }

  /** One page of the results that upstreams have handed on to a member, from behind an upstream on. */
  readInputs(idOrKey: string, from?: ExecutionId): Promise<Reply<'readInputs'>> {
    const executionId = this.resolve(idOrKey)
    return this.run(executionId, 'readInputs', { executionId, from })
  }

  /**
   * One step of a listing in one partition.
   * @internal
   */
  async listFlowsStep(
    partition: number,
    query: FlowQuery,
    limit: number,
    cursor: Position | undefined,
  ): Promise<ListFlowsResult> {
    const input = { ...query, limit: Math.min(limit, LIST_PAGE_MAX), cursor }
    return (await this.ask(executionPartition(partition), 'listFlows', input)).result
  }
}

/** The graph that a flow's function draws for an input, which has to fit the flow's schema. */
export async function drawFlow(flow: AnyFlow, input: unknown): Promise<DeclaredGraph> {
  return flow.draw(await validate(flow.inputSchema, input, 'invalid_payload', 'input'))
}
