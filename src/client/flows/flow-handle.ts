/** A handle for one flow: its result, its state, its members, and the operations on it. */
import { boolean, shape } from '../../options/shape.ts'
import type { CancelFlowResult, ExecutionId, FlowId, Position, Refused } from '../../kernel/index.ts'
import { EngineError } from '../../kernel/engine-error.ts'
import { unwrap } from '../transport/unwrap.ts'
import type { ReplayOptions } from '../executions/execution-calls.ts'
import type { Duration } from '../define/duration.ts'
import type { ExecutionDescription } from '../executions/description.ts'
import type { EndMoment, EndNews } from '../events/end-watcher.ts'
import type { HandleClient } from '../executions/execution-handle.ts'
import type { Session } from '../session.ts'
import type { FlowCalls } from './flow-calls.ts'
import type { FlowCancelOptions } from './flow-options.ts'
import { summariseMember } from './flow-description.ts'
import type { FlowDescription, MemberSummary } from './flow-description.ts'
import { FlowMember } from './flow-member.ts'
import type { DeclaredGraph } from '../define/graph-builder.ts'
import { memberIdOf } from '../transport/ids.ts'
import { checkGivenName } from '../checks/names.ts'
import type { SubscribeOptions, SubscriptionItem } from '../events/subscription.ts'
import type { Jsonify } from '../define/jsonify.ts'
import type { AnyTask, Task } from '../define/task.ts'
import { waitForEnd } from '../events/await-end.ts'
import type { WaitOptions } from '../events/await-end.ts'

export interface FlowHandleCancelOptions extends FlowCancelOptions {
  /** Waits until the cancelled members have ended: true, or the limit of the wait. */
  readonly wait?: boolean | Duration
}

export interface MembersOptions {
  /** True includes the upstreams of each member. */
  readonly edges?: boolean
}

const membersOptions = shape<MembersOptions>()('{ edges: true }', { edges: boolean })

/** The result of a cancel. The policy is that of the first cancel. */
export type FlowCancelled = Exclude<CancelFlowResult, Refused>

/** The part of the client that a flow's handle uses. */
export interface FlowClient extends HandleClient {
  subscribe(options: SubscribeOptions): AsyncGenerator<SubscriptionItem, void, undefined>
  readonly try: Pick<Session, 'resolve'> & FlowCalls
  describeFlow(id: FlowId): Promise<FlowDescription>
  cancelFlow(id: FlowId, reason: string, options?: FlowHandleCancelOptions): Promise<FlowCancelled>
  setFlowTags(id: FlowId, tags: Readonly<Record<string, string | undefined>>): Promise<void>
}

/**
 * The effect of a submit: the flow was created, joined, or created in the place of one that had ended. `follow_up`: it runs once
 * more when its present run has ended; `follow_up_replaced`: in the place of a pending follow-up.
 */
export type FlowCreated = 'created' | 'joined' | 'replaced' | 'follow_up' | 'follow_up_replaced'

/** The graph that names the flow's result nodes: drawn by the submit, or drawn again when needed. */
export type GraphSource = DeclaredGraph | (() => Promise<DeclaredGraph>)

/** The results of the members without dependants, by the names of their nodes. A member that a condition skipped has none. */
export type SinkResults = Readonly<Record<string, unknown>>

/** The end of a flow, with the members that return its results, as far as they were read. */
interface ReadEnd {
  readonly ended: FlowDescription
  readonly known: ReadonlyMap<
    string | undefined,
    { readonly member: FlowMember; readonly description: ExecutionDescription | undefined }
  >
}

/** Results that are read concurrently. */
const CONCURRENT_READ_COUNT = 32

/** Results that are read together with the end of the flow, to save a round trip. */
const READ_AHEAD_COUNT = 8

export class FlowHandle<Output = unknown> {
  readonly id: FlowId
  /** Set by a submit. */
  readonly created: FlowCreated | undefined
  protected readonly client: FlowClient
  readonly #graph: GraphSource | undefined
  /** A point before the flow existed, in the ends that were followed. */
  readonly #since: EndMoment | undefined

  constructor(client: FlowClient, id: FlowId, graph?: GraphSource, created?: FlowCreated, since?: EndMoment) {
    this.client = client
    this.id = id
    this.#graph = graph
    this.created = created
    this.#since = since
  }

  /**
   * Waits for the end. Resolves with the results of the nodes that the flow's function returned, or, if the handle does not know
   * the definition, with those of all nodes that no other node waits for, by name. A node that a condition skipped has no result.
   * Rejects with `flow_failed`, which names the first member that failed, `flow_cancelled`, or `result_expired` if
   * only the id is kept. If another run begins before the results are read, waits for that one.
   */
  async result(options: WaitOptions = {}): Promise<Output> {
    for (;;) {
      const read = await this.#readEnd(options)
      try {
        const result = await this.#resultAt(read, options)
        // The members of the next run have the same names, so a list of them does not show that they are others.
        if (this.#graph !== undefined || !(await this.#hasRunAgain(read.ended))) return result
      } catch (error) {
        const isGone = error instanceof EngineError && error.code === 'execution_not_found'
        if (!isGone || !(await this.#hasRunAgain(read.ended))) throw error
      }
    }
  }

  /** Waits for the end, and reads the results together with it if they are few. */
  async #readEnd(options: WaitOptions): Promise<ReadEnd> {
    const ahead = this.#resultMembers()
    let read: readonly (ExecutionDescription | undefined)[] = []
    const ended = await this.#end(options, ahead, async (news) => {
      const describing = this.client.describeFlow(this.id)
      // The first read seldom finds the flow ended, so it does not read the results.
      const reading = news === undefined ? [] : ahead.map((member) => member.describeResult().catch(() => undefined))
      const [description, ...results] = await Promise.all([describing, ...reading])
      read = results
      return description
    })
    return { ended, known: new Map(ahead.map((member, i) => [member.node, { member, description: read[i] }])) }
  }

  async #resultAt({ ended, known }: ReadEnd, options: WaitOptions): Promise<Output> {
    if (ended.outcome !== 'completed') throw await this.#failure(ended)
    if (ended.removedAt !== undefined) throw new EngineError('result_expired', { flowId: this.id })
    if (this.#graph === undefined) return (await this.#sinkResults()) as Output
    const output = async (name: string, task: AnyTask | undefined) => {
      const { member, description } = known.get(name) ?? {}
      if (member !== undefined && description?.outcome === 'completed') return await member.resultOf(description)
      return await this.#resultUnlessExcused(this.#member(name, task), options)
    }
    return (await resultsOf(await this.#drawn(), output)) as Output
  }

  async #hasRunAgain(ended: FlowDescription): Promise<boolean> {
    const { createdAt, outcome } = await this.client.describeFlow(this.id)
    return outcome === undefined || createdAt !== ended.createdAt
  }

  /** Returns the result of a member of a flow that has completed; undefined if a condition skipped it. */
  async #resultUnlessExcused(member: FlowMember, options: WaitOptions): Promise<unknown> {
    const { outcome, isExcused } = await member.describe()
    return outcome === 'skipped' && isExcused ? undefined : await member.result(options)
  }

  async #sinkResults(): Promise<SinkResults> {
    const completed = new Map<ExecutionId, MemberSummary>()
    // The members are listed in the order of the graph, so every upstream is listed before its downstreams.
    for await (const member of this.members({ edges: true })) {
      for (const { id } of member.upstreams) completed.delete(id)
      if (member.outcome === 'completed') completed.set(member.id, member)
    }
    const results: [string, unknown][] = []
    const sinks = [...completed.values()]
    for (let i = 0; i < sinks.length; i += CONCURRENT_READ_COUNT) {
      const reading = sinks.slice(i, i + CONCURRENT_READ_COUNT).map(async ({ id, node = id }) => {
        const { result } = await this.client.describe(id, { result: true })
        return [node, result] as [string, unknown]
      })
      results.push(...(await Promise.all(reading)))
    }
    return Object.fromEntries(results)
  }

  /** Waits for the end, with any outcome. Members of a cancelled flow may still be running. */
  wait(options: WaitOptions = {}): Promise<FlowDescription> {
    return this.#end(options, this.#resultMembers(), () => this.client.describeFlow(this.id))
  }

  #end(
    options: WaitOptions,
    last: readonly FlowMember[],
    describe: (news: EndNews | undefined) => Promise<FlowDescription>,
  ): Promise<FlowDescription> {
    const look = async (news: EndNews | undefined) => {
      const description = await describe(news)
      return description.outcome === undefined ? undefined : description
    }
    return waitForEnd(this.client, this.id, options, look, {
      lastMembers: last.map(({ id }) => id),
      since: this.#since,
    })
  }

  /** The members whose results are the flow's, if they are known and few. */
  #resultMembers(): FlowMember[] {
    if (this.#graph === undefined || typeof this.#graph === 'function') return []
    const { results, nodes } = this.#graph
    const names = typeof results === 'string' ? [results] : Object.values(results ?? {})
    if (names.length > READ_AHEAD_COUNT) return []
    return [...new Set(names)].map((name) => this.#member(name, taskOf(nodes, name)))
  }

  describe(): Promise<FlowDescription> {
    return this.client.describeFlow(this.id)
  }

  /**
   * Cancels the flow. No member starts after that. With `wait`, resolves once the flow has settled.
   *
   * @example
   * await handle.cancel('superseded by release 43', { policy: 'cancel_pending', wait: '10s' })
   */
  cancel(reason = 'cancelled by its caller', options?: FlowHandleCancelOptions): Promise<FlowCancelled> {
    return this.client.cancelFlow(this.id, reason, options)
  }

  /** Returns the handle of a member by its name. A member that was added with an id of its own is found by that id instead. */
  member<Input, Parsed, Returned, Output, Inputs, Given, const Name extends string>(
    name: Name,
    task: Task<Input, Parsed, Returned, Output, Inputs, Given>,
  ): FlowMember<Output, Name, Jsonify<Returned>>
  member<const Name extends string>(name: Name): FlowMember<unknown, Name>
  member(name: string, task?: AnyTask): FlowMember {
    const id = memberIdOf(this.id, checkGivenName(name, 'node name'))
    return new FlowMember(this.client, { flowId: this.id, node: name, id }, task)
  }

  /** Waits for one member's result. */
  async output(name: string, options: WaitOptions = {}): Promise<unknown> {
    const { nodes = [] } = (await this.#drawn()) ?? {}
    return await this.#output(name, taskOf(nodes, name), options)
  }

  /** Replays an ended member; with `subtree`, also the members that were skipped because of it. */
  replay(name: string, options?: ReplayOptions): Promise<void> {
    return this.member(name).replay(options)
  }

  /** Reads all members in the order of the graph, page by page. */
  async *members(options: MembersOptions = {}): AsyncGenerator<MemberSummary, void, undefined> {
    const { edges } = membersOptions(options)
    const nodes = new Map<ExecutionId, string>()
    let cursor: Position | undefined
    do {
      const page = unwrap(await this.client.try.listFlowMembers(this.id, { edges, cursor }))
      for (const { execution } of page.members) nodes.set(execution.id, execution.member?.name ?? '')
      for (const view of page.members) yield summariseMember(view, nodes)
      cursor = page.cursor
    } while (cursor !== undefined)
  }

  /** Yields the events of the flow and of its members. */
  events(
    options: Pick<SubscribeOptions, 'signal' | 'fromStart' | 'cursor' | 'types'> = {},
  ): AsyncGenerator<SubscriptionItem, void, undefined> {
    return this.client.subscribe({ ...options, flowId: this.id })
  }

  setTags(tags: Readonly<Record<string, string | undefined>>): Promise<void> {
    return this.client.setFlowTags(this.id, tags)
  }

  async #drawn(): Promise<DeclaredGraph | undefined> {
    return typeof this.#graph === 'function' ? await this.#graph() : this.#graph
  }

  #member(name: string, task: AnyTask | undefined): FlowMember {
    return task === undefined ? this.member(name) : this.member(name, task)
  }

  #output(name: string, task: AnyTask | undefined, options: WaitOptions): Promise<unknown> {
    return this.#member(name, task).result(options)
  }

  async #failure(ended: FlowDescription): Promise<EngineError> {
    if (ended.cancel !== undefined) {
      return new EngineError('flow_cancelled', {
        flowId: this.id,
        message: `${ended.cancel.by} cancelled it: ${ended.cancel.reason}`,
      })
    }
    const failed = await this.#firstFailed()
    if (failed === undefined) return new EngineError('flow_failed', { flowId: this.id })
    return new EngineError('flow_failed', {
      flowId: this.id,
      executionId: failed.id,
      outcome: failed.outcome,
      nodes: failed.node === undefined ? undefined : [failed.node],
      message: failureText(failed),
    })
  }

  /** Returns the first member in the order of the graph that failed, or else the first that was skipped. */
  async #firstFailed(): Promise<MemberSummary | undefined> {
    let skipped: MemberSummary | undefined
    for await (const member of this.members()) {
      if (member.isExcused) continue
      if (member.outcome === 'failed' || member.outcome === 'expired') return member
      if (member.outcome === 'cancelled' && !member.isSuperseded) return member
      if (member.outcome === 'skipped') skipped ??= member
    }
    return skipped
  }
}

/** Returns what the flow's function returned, with each node replaced by its result. */
async function resultsOf(
  graph: DeclaredGraph | undefined,
  output: (name: string, task: AnyTask | undefined) => Promise<unknown>,
): Promise<unknown> {
  if (graph?.results === undefined) return undefined
  const { results, nodes } = graph
  if (typeof results === 'string') return await output(results, taskOf(nodes, results))
  const tasks = new Map(nodes.map((node) => [node.name, node.task]))
  const entries = Object.entries(results).map(
    async ([key, node]) => [key, await output(node, tasks.get(node))] as const,
  )
  return Object.fromEntries(await Promise.all(entries))
}

function taskOf(nodes: DeclaredGraph['nodes'], name: string): AnyTask | undefined {
  return nodes.find((node) => node.name === name)?.task
}

function failureText({ id, node, outcome, failure, reason }: MemberSummary): string {
  const why = failure === undefined ? reason : `${failure.category}: ${failure.message.split('\n')[0] ?? ''}`
  const name = node === undefined ? id : `'${node}'`
  return `Node ${name} ${outcome === 'failed' ? 'failed' : `ended as ${outcome ?? 'unknown'}`}${why === undefined ? '' : ` (${why})`}.`
}
