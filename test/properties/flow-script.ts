/** Turns commands about flows into calls, and learns from the answers how far a submission in parts and a listing have come. */
import { taskClass } from '../../src/kernel/index.ts'
import type {
  CreateInput,
  EdgeInput,
  ExecutionId,
  FlowId,
  Handover,
  HolderInput,
  NodeInput,
  OperationInput,
} from '../../src/kernel/index.ts'
import type { Answer, Call } from '../../src/stores/store.ts'
import { call } from '../conformance/fabric.ts'
import type { FlowCommand, FlowScale, NodeRun } from './flow-commands.ts'
import { FlowLooks } from './flow-looks.ts'
import type { GraphEdge } from './flow-graphs.ts'

type CommandOf<K extends FlowCommand['kind']> = Extract<FlowCommand, { kind: K }>

/** What commands point at by number. */
export interface Pointers {
  readonly id: (execution: number) => ExecutionId
  readonly flowId: (flow: number) => FlowId
  readonly lease: (fromTheEnd: number) => HolderInput
  readonly mint: (what: string) => string
}

/** A whole graph on its way to a store, and the bytes of its nodes. */
interface Submission {
  readonly input: OperationInput<'submitFlow'>
  readonly blobs: readonly Uint8Array[]
}

const DEFINITION_INPUT = new TextEncoder().encode('{}')

const NAMESPACE = 'acme'
/** Nodes beside which a call brings edges too. */
const EDGES_BESIDE_NODES = 12

export class FlowScript {
  readonly #scale: FlowScale
  readonly #to: Pointers
  readonly #looks: FlowLooks
  readonly #submissions = new Map<FlowId, Submission>()
  /** The members of a flow, by the answers. */
  readonly #members = new Map<FlowId, ExecutionId[]>()
  readonly #arrived = new Map<FlowId, { readonly nodes: number; readonly edges: number }>()
  #lastCreate: OperationInput<'createFlow'> | undefined
  #lastReplay: OperationInput<'replayExecution'> | undefined

  constructor(scale: FlowScale, to: Pointers) {
    this.#scale = scale
    this.#to = to
    this.#looks = new FlowLooks(
      (flow) => to.flowId(flow),
      (flow, member) => this.#member(to.flowId(flow), member),
    )
  }

  callFor(command: FlowCommand): Call {
    switch (command.kind) {
      case 'submit_flow':
        return this.#submit(command)
      case 'submit_more':
        return this.#submitMore(command)
      case 'create_flow':
        return this.#create(command)
      case 'add_execution':
        return this.#add(command)
      case 'add_dependency':
        return this.#depend(command)
      case 'set_policy':
        return call('setEdgeGroupPolicy', {
          flowId: this.#to.flowId(command.flow),
          executionId: this.#member(this.#to.flowId(command.flow), command.member),
          policy: command.policy,
        })
      case 'seal_flow':
        return call('sealFlow', { flowId: this.#to.flowId(command.flow) })
      case 'cancel_flow': {
        const { flow, policy, isForced: force, graceMs } = command
        return call('cancelFlow', { flowId: this.#to.flowId(flow), policy, reason: 'no', by: 'me', force, graceMs })
      }
      case 'set_flow_tags': {
        const set = command.set.map((tag) => ({ ...tag, indexed: tag.name === 'team' }))
        return call('setFlowTags', { flowId: this.#to.flowId(command.flow), set, remove: command.remove })
      }
      case 'skip_execution':
        return call('skipExecution', this.#to.lease(command.lease))
      case 'wait_for_children':
        return call('waitForChildren', this.#to.lease(command.lease))
      case 'replay_subtree':
        return this.#replay(command)
      default:
        return this.#looks.callFor(command)
    }
  }

  note(sent: Call, { result }: Extract<Answer, { kind: 'answered' }>): void {
    switch (result.kind) {
      case 'submitted':
      case 'accepted':
        this.#arrived.set(result.flowId, { nodes: result.nodes, edges: result.edges })
        for (const { create } of this.#submissions.get(result.flowId)?.input.nodes.slice(0, result.nodes) ?? []) {
          this.#join(result.flowId, create.executionId)
        }
        return
      case 'added':
        if (sent.operation === 'addExecutionToFlow' && 'executionId' in result) {
          this.#join((sent.input as OperationInput<'addExecutionToFlow'>).flowId, result.executionId)
        }
        return
      default:
        this.#looks.note(result)
    }
  }

  #submit(command: CommandOf<'submit_flow'>): Call {
    const { flow, graph, runs, outcomeRule, retentionMs, dedupeMs, ifExists, isInParts, isRepeated } = command
    const flowId = this.#to.flowId(flow)
    const known = this.#submissions.get(flowId)
    if (isRepeated && known !== undefined) return call('submitFlow', known.input, known.blobs)
    const first = flow * this.#scale.nodes
    const blobs: Uint8Array[] = []
    const nodes = graph.policies.map((policy, i): NodeInput => {
      const number = first + i
      return {
        name: `n${number}`,
        create: this.#createInput(number, runs[i]!, blobs),
        policy,
        hasCondition: i % 2 === 0 ? true : undefined,
      }
    })
    const edges = graph.edges.map((edge): EdgeInput => ({
      upstreamId: this.#to.id(first + edge.from),
      downstreamId: this.#to.id(first + edge.to),
      hands: handover(edge.hands, edge.from),
      onFailure: edge.onFailure,
    }))
    const info = {
      blob: blobs.push(DEFINITION_INPUT) - 1,
      size: DEFINITION_INPUT.byteLength,
      encoding: 'json' as const,
    }
    const input = {
      flowId,
      requestId: this.#to.mint('flow'),
      namespace: NAMESPACE,
      name: 'release',
      tags: [{ name: 'team', value: 'red', indexed: true }],
      outcomeRule,
      retentionMs,
      dedupeMs,
      ifExists,
      digest: JSON.stringify(graph),
      input: info,
      nodeCount: nodes.length,
      edgeCount: edges.length,
      nodesBefore: 0,
      nodes,
      edgesBefore: 0,
      edges,
    }
    this.#submissions.set(flowId, { input, blobs })
    if (!isInParts) return call('submitFlow', input, blobs)
    return call('submitFlow', { ...input, nodes: nodes.slice(0, 2), edges: [] }, blobs)
  }

  #submitMore({ flow, count, isAstray }: CommandOf<'submit_more'>): Call {
    const flowId = this.#to.flowId(flow)
    const known = this.#submissions.get(flowId)
    if (known === undefined) return call('describeFlow', { flowId })
    const { input, blobs } = known
    const arrived = this.#arrived.get(flowId) ?? { nodes: 0, edges: 0 }
    const nodesBefore = Math.min(input.nodes.length, arrived.nodes + (isAstray ? 1 : 0))
    const nodes = input.nodes.slice(nodesBefore, nodesBefore + count)
    // Edges come when all nodes are there, and not with so many that one call cannot write them all.
    const isReady = nodesBefore + nodes.length === input.nodes.length && nodes.length <= EDGES_BESIDE_NODES
    const edgesBefore = Math.max(0, arrived.edges - (isAstray ? 1 : 0))
    const edges = isReady ? input.edges.slice(edgesBefore, edgesBefore + count) : []
    return call('submitFlow', { ...input, nodesBefore, nodes, edgesBefore, edges }, blobs)
  }

  #create(command: CommandOf<'create_flow'>): Call {
    const { flow, isHeld: hold, outcomeRule, retentionMs, isRepeated } = command
    if (!isRepeated || this.#lastCreate === undefined) {
      const requestId = this.#to.mint('flow')
      const about = { namespace: NAMESPACE, name: 'import', tags: [] }
      this.#lastCreate = { flowId: this.#to.flowId(flow), requestId, ...about, outcomeRule, retentionMs, hold }
    }
    return call('createFlow', this.#lastCreate)
  }

  #add(command: CommandOf<'add_execution'>): Call {
    const { execution, isNew, run, policy, after, isAwaited, hands, onFailure } = command
    const holder = command.holder === undefined ? undefined : this.#to.lease(command.holder)
    const flowId = this.#flowOf(holder) ?? this.#to.flowId(command.flow)
    const blobs: Uint8Array[] = []
    const upstreams = after
      .filter(({ member }) => member < 0 || this.#members.has(flowId))
      .map(({ member, hands: handed, onFailure: tolerance }) => ({
        upstreamId: this.#member(flowId, member),
        hands: handover(handed, member),
        onFailure: tolerance,
      }))
    const input: OperationInput<'addExecutionToFlow'> = {
      flowId,
      executionId: this.#to.id(execution),
      name: `n${execution}`,
      create: isNew ? this.#createInput(execution, run, blobs) : undefined,
      policy,
      after: upstreams,
      holder,
      awaited: holder !== undefined && isAwaited ? { hands: handover(hands, execution), onFailure } : undefined,
    }
    return call('addExecutionToFlow', input, blobs)
  }

  #depend(command: CommandOf<'add_dependency'>): Call {
    const held = command.lease === undefined ? undefined : this.#to.lease(command.lease)
    const flowId = this.#flowOf(held) ?? this.#to.flowId(command.flow)
    return call('addDependency', {
      flowId,
      upstreamId: this.#member(flowId, command.upstream),
      downstreamId: held?.executionId ?? this.#member(flowId, command.downstream),
      hands: handover(command.hands, command.upstream),
      onFailure: command.onFailure,
      expectedRevision: command.isAgainstRevision ? this.#looks.revision : undefined,
      fence: held?.fence,
    })
  }

  #replay({ flow, member, isRepeated }: CommandOf<'replay_subtree'>): Call {
    if (!isRepeated || this.#lastReplay === undefined) {
      const requestId = this.#to.mint('replay')
      this.#lastReplay = {
        executionId: this.#member(this.#to.flowId(flow), member),
        requestId,
        reason: 'again',
        by: 'me',
        subtree: true,
      }
    }
    return call('replayExecution', this.#lastReplay)
  }

  /** One of the flow's own; a number below zero is any execution. */
  #member(flowId: FlowId, member: number): ExecutionId {
    const known = this.#members.get(flowId) ?? []
    return member < 0 ? this.#to.id(-1 - member) : (known[member % known.length] ?? this.#to.id(member))
  }

  /** The flow that a holder's execution is a member of. */
  #flowOf(holder: HolderInput | undefined): FlowId | undefined {
    for (const [flowId, known] of this.#members) if (known.some((id) => id === holder?.executionId)) return flowId
    return undefined
  }

  #join(flowId: FlowId, executionId: ExecutionId): void {
    const known = this.#members.get(flowId) ?? []
    if (!known.includes(executionId)) this.#members.set(flowId, [...known, executionId])
  }

  #createInput(number: number, run: NodeRun, blobs: Uint8Array[]): CreateInput {
    const { lane, priority, attempts, delayMs, totalTimeoutMs, bytes } = run
    if (bytes !== undefined) blobs.push(bytes)
    return {
      executionId: this.#to.id(number),
      namespace: NAMESPACE,
      task: 'one',
      lane,
      class: taskClass('one', undefined, { namespace: NAMESPACE }),
      priority,
      tags: [],
      retry: { attempts, backoff: { kind: 'fixed', delayMs: 1_000 }, jitter: false, onlyCategories: [] },
      delayMs,
      totalTimeoutMs,
      retentionMs: 0,
      payload: bytes === undefined ? undefined : { blob: blobs.length - 1, size: bytes.byteLength, encoding: 'bytes' },
      ifExists: 'join',
    }
  }
}

export function handover(hands: GraphEdge['hands'], from: number): Handover | undefined {
  switch (hands) {
    case 'nothing':
      return undefined
    case 'input':
      return { as: 'input', name: `from ${from}` }
    case 'payload':
      return { as: 'payload' }
  }
}
