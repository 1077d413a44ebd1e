/**
 * One flow from its submission to its rest, by workers that choose at random what to finish next, repeat themselves, speak
 * for leases that they have lost and leave others to run out, with engines that do as little at a time as they may.
 */
import type {
  ExecutionId,
  Fence,
  Flow,
  FlowCancelPolicy,
  FlowId,
  OperationInput,
  OperationName,
  OperationResult,
  Outcome,
} from '../../src/kernel/index.ts'
import type { PartitionDump } from '../../src/stores/store.ts'
import { call, TestFabric } from '../conformance/fabric.ts'
import { problemsOf } from '../conformance/invariants.ts'
import { memory } from '../conformance/targets.ts'
import type { Graph } from './flow-graphs.ts'
import { handover } from './flow-script.ts'
import { repairsOf } from './step-rules.ts'

/** How a node ends when it is run to its end; `unmet` if its condition is not met. */
export type NodeEnd = 'completed' | 'failed' | 'unmet'

/** Nodes and edges that one call brings. */
const PART = 60
const LEASE_TTL_MS = 1_000
const CLAIM_COUNT = 7
/** Steps after which a run that is not at rest never will be, per node. */
const STEPS_PER_NODE = 60

interface Held {
  readonly executionId: ExecutionId
  readonly fence: Fence
}

export interface RunOptions {
  readonly graph: Graph
  readonly outcomeRule?: 'all_members' | 'sinks'
  /** Decides what is done next, over and over; any numbers will do. */
  readonly choices: readonly number[]
  /** Every how many calls everything is looked at. */
  readonly looksEvery: number
}

export class FlowRun {
  readonly fabric = new TestFabric(memory)
  readonly flowId = 'f0-00000000-0000-7000-8000-000000000000' as FlowId
  readonly problems: string[] = []
  readonly #options: RunOptions
  readonly #held: Held[] = []
  readonly #lost: Held[] = []
  /** What came of each node's attempts is up to the plan of the moment. */
  endOf: (node: number) => NodeEnd = () => 'completed'
  /** What else must hold whenever everything is looked at. */
  alsoLook: (dump: PartitionDump) => string[] = () => []
  #lastCall: (() => Promise<unknown>) | undefined
  #calls = 0
  #choice = 0
  #ids = 0

  constructor(options: RunOptions) {
    this.#options = options
  }

  idOf(node: number): ExecutionId {
    return `0-00000000-0000-7000-8000-${node.toString().padStart(12, '0')}` as ExecutionId
  }

  nodeOf(id: ExecutionId): number {
    return Number(id.slice(-12))
  }

  mint(what: string): string {
    this.#ids += 1
    return `${what}-${this.#ids}`
  }

  /** The next of the choices, below a bound. */
  choose(below: number): number {
    const { choices } = this.#options
    const chosen = choices[this.#choice % choices.length] ?? 0
    this.#choice += 1
    // The same numbers come round again, and are not to mean the same each time.
    return (chosen + Math.floor(this.#choice / choices.length) * 7) % below
  }

  /** Sends a call, at times twice; the repetition does nothing more. */
  async send<N extends OperationName>(operation: N, input: OperationInput<N>): Promise<OperationResult<N>> {
    const sent = call(operation, input)
    const [answer] = await this.fabric.batch(sent)
    this.#lastCall = () => this.send(operation, input)
    this.#calls += 1
    if (answer?.kind !== 'answered') throw new Error(`${operation} was answered with ${JSON.stringify(answer)}`)
    this.problems.push(...repairsOf(answer))
    if (this.#calls % this.#options.looksEvery === 0) await this.look()
    return answer.result as OperationResult<N>
  }

  async look(): Promise<PartitionDump> {
    const dump = await this.fabric.dump()
    this.problems.push(...problemsOf(dump), ...this.alsoLook(dump))
    return dump
  }

  /** In one call if it is small, else in parts, some of which are sent twice. */
  async submit(): Promise<void> {
    const { graph, outcomeRule = 'all_members' } = this.#options
    const nodes = graph.policies.map((policy, node) => ({
      name: `n${node}`,
      create: this.#createInput(node),
      policy,
      hasCondition: true as const,
    }))
    const edges = graph.edges.map(({ from, to, hands, onFailure }) => ({
      upstreamId: this.idOf(from),
      downstreamId: this.idOf(to),
      hands: handover(hands, from),
      onFailure,
    }))
    const about = {
      flowId: this.flowId,
      requestId: 'submit',
      namespace: 'default',
      name: 'graph',
      tags: [],
      outcomeRule,
    }
    const counts = { retentionMs: 60_000, digest: 'graph', nodeCount: nodes.length, edgeCount: edges.length }
    let at = { nodes: 0, edges: 0 }
    for (;;) {
      const nodePart = nodes.slice(at.nodes, at.nodes + PART)
      const isLast = at.nodes + nodePart.length === nodes.length
      const edgePart = isLast ? edges.slice(at.edges, at.edges + PART - nodePart.length) : []
      const parts = { nodesBefore: at.nodes, nodes: nodePart, edgesBefore: at.edges, edges: edgePart }
      const result = await this.send('submitFlow', { ...about, ...counts, ...parts })
      if (result.kind === 'refused') throw new Error(`the graph was refused: ${result.code}`)
      if (result.kind !== 'accepted') return
      if (this.choose(3) > 0) at = { nodes: result.nodes, edges: result.edges }
    }
  }

  /** Runs until nothing is left to do, or the limit is reached. */
  async comeToRest(): Promise<PartitionDump> {
    let stepsLeft = 200 + STEPS_PER_NODE * this.#options.graph.policies.length
    while (stepsLeft > 0 && this.problems.length === 0) {
      stepsLeft -= 1
      if ((await this.step()) || (await this.#finish())) continue
      this.fabric.runtime.jump(LEASE_TTL_MS)
      if ((await this.drain()) === 0 && !(await this.claim())) return this.look()
    }
    this.problems.push('it does not come to rest')
    return this.look()
  }

  /** One random action. False if there was nothing to do. */
  async step(): Promise<boolean> {
    switch (this.choose(12)) {
      case 0:
        return (await this.#due(1)) > 0 || this.#finish()
      case 1:
        await this.#lastCall?.()
        return this.#finish()
      case 2:
        await this.#speakForALostLease()
        return this.#finish()
      case 3:
        await this.send('reconcileDependencies', {})
        await this.send('reconcileSiblingCancels', {})
        return this.#finish()
      case 4:
        this.#forget()
        return this.claim()
      case 5:
      case 6:
      case 7:
        return (await this.claim()) || this.#finish()
      default:
        return (await this.#finish()) || this.claim()
    }
  }

  /** Sent twice at times, as by a caller whose reply was lost. */
  async replay(node: number): Promise<void> {
    const input = { executionId: this.idOf(node), requestId: this.mint('replay'), subtree: true }
    let result = await this.send('replayExecution', input)
    for (
      ;
      result.kind === 'refused' && result.code === 'flow_busy';
      result = await this.send('replayExecution', input)
    ) {
      await this.drain()
    }
    if (result.kind === 'refused') throw new Error(`the replay of ${node} was refused: ${result.code}`)
    if (this.choose(2) === 0) await this.send('replayExecution', input)
  }

  cancel(policy: FlowCancelPolicy, force: boolean): Promise<OperationResult<'cancelFlow'>> {
    return this.send('cancelFlow', { flowId: this.flowId, policy, reason: 'no', by: 'me', force, graceMs: 100 })
  }

  flowIn(dump: PartitionDump): Flow {
    const flow = dump.records.find((record) => record.type === 'flow')
    if (flow === undefined) throw new Error('the flow is gone')
    return flow
  }

  /** An engine does all that is due. Returns how much that was. */
  async drain(): Promise<number> {
    let count = 0
    for (;;) {
      const handled = await this.#due(200)
      if (handled === 0) return count
      count += handled
    }
  }

  async #due(limit: number): Promise<number> {
    const result = await this.send('runDue', { limit, seed: 1 })
    return result.handled.length
  }

  async claim(): Promise<boolean> {
    const result = await this.send('claimForWorker', {
      requestId: this.mint('claim'),
      workerId: 'worker',
      workerInstanceId: 'worker-1',
      queues: [{ lane: 'main', class: 'node' }],
      count: 1 + this.choose(CLAIM_COUNT),
      leaseTtlMs: LEASE_TTL_MS,
      seed: 1,
    })
    for (const { executionId, fence } of result.executions) this.#held.push({ executionId, fence })
    return result.executions.length > 0
  }

  async #finish(): Promise<boolean> {
    const [held] = this.#held.splice(this.choose(Math.max(1, this.#held.length)), 1)
    if (held === undefined) return false
    this.#lost.push(held)
    await this.#end(held)
    return true
  }

  async #end(held: Held): Promise<void> {
    switch (this.endOf(this.nodeOf(held.executionId))) {
      case 'completed':
        await this.send('completeExecution', held)
        return
      case 'unmet':
        await this.send('skipExecution', held)
        return
      case 'failed':
        await this.send('failExecution', { ...held, failure: { category: 'permanent', message: 'no' }, seed: 1 })
    }
  }

  /** A worker is gone: its lease runs out. */
  #forget(): void {
    const [gone] = this.#held.splice(0, 1)
    if (gone !== undefined) this.#lost.push(gone)
  }

  async #speakForALostLease(): Promise<void> {
    const lost = this.#lost[this.choose(Math.max(1, this.#lost.length))]
    if (lost !== undefined) await this.#end(lost)
  }

  #createInput(node: number): OperationInput<'createExecution'> {
    return {
      executionId: this.idOf(node),
      namespace: 'default',
      task: 'node',
      lane: 'main',
      class: 'node',
      priority: 0,
      tags: [],
      retry: { attempts: 1, backoff: { kind: 'fixed', delayMs: 0 }, jitter: false, onlyCategories: [] },
      retentionMs: 0,
      ifExists: 'join',
    }
  }
}

/** How every node has ended; undefined for one that has not. */
export function endsOf(run: FlowRun, dump: PartitionDump): Map<number, Outcome | undefined> {
  const ends = new Map<number, Outcome | undefined>()
  for (const record of dump.records) {
    if (record.type !== 'execution') continue
    ends.set(run.nodeOf(record.id), record.state.phase === 'ended' ? record.state.outcome : undefined)
  }
  return ends
}
