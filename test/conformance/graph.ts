/** A flow under test: its members have names, and are claimed, ended and looked at by them. */
import type {
  AddDependencyInput,
  AddDependencyResult,
  AddExecutionInput,
  AddExecutionResult,
  CancelFlowInput,
  CancelFlowResult,
  Claimed,
  EdgeGroup,
  EdgeState,
  EdgeTolerance,
  Execution,
  ExecutionId,
  FlowId,
  FlowView,
  Handover,
  PublicState,
  ReplayInput,
  ReplayResult,
  SealResult,
} from '../../src/kernel/index.ts'
import type { TestFabric } from './fabric.ts'
import { LANE, heldOf, permanentFailure } from './given.ts'
import type { Draft, Given, Held } from './given.ts'

/** What a node waits for: a name, or a name whose result is handed on. */
export type Upstream =
  string | { readonly from: string; readonly hands?: Handover | undefined; readonly onFailure?: EdgeTolerance }

export const upstreamName = (upstream: Upstream): string => (typeof upstream === 'string' ? upstream : upstream.from)
export const handoverOf = (upstream: Upstream): Handover | undefined =>
  typeof upstream === 'string' ? undefined : upstream.hands
export const toleranceOf = (upstream: Upstream): EdgeTolerance | undefined =>
  typeof upstream === 'string' ? undefined : upstream.onFailure

/** What a test changes of an otherwise ordinary new member. */
export interface NewMember extends Partial<Omit<AddExecutionInput, 'after' | 'create'>> {
  readonly after?: readonly Upstream[]
  readonly draft?: Draft
}

export class Graph {
  readonly flowId: FlowId
  readonly #fabric: TestFabric
  readonly #given: Given
  readonly #ids: Map<string, ExecutionId>
  readonly #classOf: (name: string) => string
  readonly #held = new Map<string, Held>()

  constructor(
    fabric: TestFabric,
    given: Given,
    flowId: FlowId,
    ids: Map<string, ExecutionId>,
    classOf: (name: string) => string,
  ) {
    this.flowId = flowId
    this.#fabric = fabric
    this.#given = given
    this.#ids = ids
    this.#classOf = classOf
  }

  id(name: string): ExecutionId {
    const id = this.#ids.get(name)
    if (id === undefined) throw new Error(`the test's graph has no node ${name}`)
    return id
  }

  nameOf(id: string | undefined): string | undefined {
    return [...this.#ids].find(([, known]) => known === id)?.[0]
  }

  classOf(name: string): string {
    return this.#classOf(name)
  }

  /** Adds a new member, or one that the test has made before. */
  add(name: string, { after = [], draft, ...changes }: NewMember = {}): Promise<AddExecutionResult> {
    const executionId = changes.executionId ?? this.#ids.get(name) ?? this.#given.newId()
    this.#ids.set(name, executionId)
    const create = this.#given.createInput({ executionId, class: this.classOf(name), ...draft })
    const edges = after.map((from) => {
      return { upstreamId: this.id(upstreamName(from)), hands: handoverOf(from), onFailure: toleranceOf(from) }
    })
    return this.#fabric.run('addExecutionToFlow', {
      flowId: this.flowId,
      executionId,
      name,
      create,
      after: edges,
      ...changes,
    })
  }

  /** Puts one member before another. */
  link(from: Upstream, to: string, changes: Partial<AddDependencyInput> = {}): Promise<AddDependencyResult> {
    return this.#fabric.run('addDependency', {
      flowId: this.flowId,
      upstreamId: this.id(upstreamName(from)),
      downstreamId: this.id(to),
      hands: handoverOf(from),
      onFailure: toleranceOf(from),
      ...changes,
    })
  }

  seal(): Promise<SealResult> {
    return this.#fabric.run('sealFlow', { flowId: this.flowId })
  }

  cancel(changes: Partial<CancelFlowInput> = {}): Promise<CancelFlowResult> {
    const cancel = { policy: 'cancel_all', reason: 'not needed', by: 'operator', force: true, graceMs: 0 } as const
    return this.#fabric.run('cancelFlow', { flowId: this.flowId, ...cancel, ...changes })
  }

  replay(name: string, changes: Partial<ReplayInput> = {}): Promise<ReplayResult> {
    const requestId = this.#given.requestId()
    return this.#fabric.run('replayExecution', { executionId: this.id(name), requestId, ...changes })
  }

  /** Ends a member by an operator's hand. */
  async cancelMember(name: string): Promise<void> {
    const cancel = { reason: 'not needed', by: 'operator', force: true, graceMs: 0 } as const
    await this.#fabric.run('cancelExecution', { executionId: this.id(name), ...cancel })
  }

  /** Claims a member, which must be the next of its class. */
  async claimed(name: string): Promise<Claimed> {
    const { executions } = await this.#given.claim({ queues: [{ lane: LANE, class: this.classOf(name) }] })
    const claimed = executions[0]
    if (claimed?.executionId !== this.id(name)) throw new Error(`the test cannot claim ${name} now`)
    this.#held.set(name, heldOf(claimed))
    return claimed
  }

  async claim(name: string): Promise<Held> {
    return heldOf(await this.claimed(name))
  }

  /** Whether a worker that asks for this member's class gets anything. */
  async isClaimable(name: string): Promise<boolean> {
    const { executions } = await this.#given.claim({ queues: [{ lane: LANE, class: this.classOf(name) }] })
    return executions.length > 0
  }

  /** The holder of a member. Claims the member first if it is not held. */
  async holderOf(name: string): Promise<Held> {
    const held = this.#held.get(name)
    if (held === undefined) return this.claim(name)
    const { state } = await this.look(name)
    const isHeld = state.phase === 'active' && state.lease.id === held.fence.leaseId
    return isHeld ? held : this.claim(name)
  }

  async complete(...names: string[]): Promise<void> {
    for (const name of names) {
      const { kind } = await this.#fabric.run('completeExecution', await this.holderOf(name))
      if (kind !== 'completed') throw new Error(`the test cannot complete ${name}`)
    }
  }

  async completeWith(name: string, result: Uint8Array): Promise<void> {
    const held = await this.holderOf(name)
    const info = { blob: 0, size: result.byteLength, encoding: 'bytes' } as const
    await this.#fabric.run('completeExecution', { ...held, result: info }, [result])
  }

  async fail(...names: string[]): Promise<void> {
    for (const name of names) {
      const { kind } = await this.#fabric.run('failExecution', { ...(await this.holderOf(name)), ...permanentFailure })
      if (kind !== 'failed') throw new Error(`the test cannot fail ${name}`)
    }
  }

  /** The condition of a member is not met. */
  async skip(...names: string[]): Promise<void> {
    for (const name of names) {
      const { kind } = await this.#fabric.run('skipExecution', await this.holderOf(name))
      if (kind !== 'skipped') throw new Error(`the test cannot skip ${name}`)
    }
  }

  look(name: string): Promise<Execution> {
    return this.#fabric.look(this.id(name))
  }

  async state(name: string): Promise<PublicState> {
    const result = await this.#fabric.run('describeExecution', { executionId: this.id(name) })
    if (result.kind === 'refused') throw new Error(`the test looks for ${name}, which does not exist`)
    return result.state
  }

  /** The states of members in the order of their names; of all in the order of the graph. */
  async states(...names: string[]): Promise<PublicState[]> {
    return Promise.all((names.length === 0 ? [...this.#ids.keys()] : names).map((name) => this.state(name)))
  }

  async group(name: string): Promise<EdgeGroup | undefined> {
    return (await this.look(name)).member?.group
  }

  /** Why a member has ended, and by whom: another member by its name. */
  async endOf(name: string): Promise<string> {
    const { state } = await this.look(name)
    if (state.phase !== 'ended') return state.phase
    return [state.outcome, state.reason, this.nameOf(state.by) ?? state.by].filter((word) => word !== undefined).join()
  }

  async edge(from: string, to: string): Promise<EdgeState | undefined> {
    const result = await this.#fabric.run('listEdges', {
      executionId: this.id(to),
      direction: 'inbound',
      limit: Number.MAX_SAFE_INTEGER,
    })
    if (result.kind === 'refused') throw new Error(`the test looks for ${to}, which does not exist`)
    return result.edges.find((edge) => edge.upstreamId === this.id(from))?.state
  }

  async view(): Promise<FlowView> {
    const result = await this.#fabric.run('describeFlow', { flowId: this.flowId })
    if (result.kind === 'refused') throw new Error(`the test looks for ${this.flowId}, which does not exist`)
    return result.view
  }
}
