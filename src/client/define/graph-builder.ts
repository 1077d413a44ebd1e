/** Collects the nodes that a graph's function declares, and validates each at once. Errors name the node. */
import { FLOW_EDGE_MAX, FLOW_MEMBER_MAX } from '../../kernel/limits.ts'
import type { PolicyInput } from '../../kernel/rules/edge-group.ts'
import { EngineError } from '../../kernel/engine-error.ts'
import { nodeSettings } from './flow-node.ts'
import type { FlowNode, NodeOptions, NodeSettings } from './flow-node.ts'
import { boolean, shape, unchecked } from '../../options/shape.ts'
import { checkGivenName, invalidInput, show } from '../checks/names.ts'
import { checkTask } from './task.ts'
import type { AnyTask } from './task.ts'
import { UPSTREAM_MARK, checkUpstreams } from './upstreams.ts'
import type { AnyInputs, NamedUpstream, NoInputs, Upstream, Upstreams } from './upstreams.ts'

export interface DeclaredNode {
  readonly name: string
  readonly task: AnyTask
  readonly input: unknown
  readonly settings: NodeSettings
  readonly policy: PolicyInput | undefined
  readonly edges: readonly NamedUpstream[]
  readonly passesInputs: boolean
  /** Decides whether the node runs. */
  readonly when: Condition | undefined
}

/** The condition of a node. Whatever a caller passed, so its answer is checked. */
export type Condition = (inputs: AnyInputs) => unknown

/** The nodes whose results are the result of the flow: one, an object of several, or none. */
export type FlowResults = string | Readonly<Record<string, string>> | undefined

export interface DeclaredGraph {
  readonly nodes: readonly DeclaredNode[]
  readonly edgeCount: number
  readonly results: FlowResults
}

const nodeOptions = shape<NodeOptions<unknown, NoInputs>>()("{ after: allOf(build), input: { env: 'prod' } }", {
  ...nodeSettings,
  input: unchecked(),
  after: unchecked(),
  inputs: boolean,
  when: checkCondition,
})

export class GraphBuilder {
  readonly #input: unknown
  readonly #flowName: string
  readonly #nodes = new Map<string, { readonly made: FlowNode; readonly declared: DeclaredNode }>()
  #edgeCount = 0
  #isFinished = false

  constructor(flowName: string, input: unknown) {
    this.#flowName = flowName
    this.#input = input
  }

  readonly node = (name: string, task: AnyTask, detail: unknown = {}): FlowNode => {
    this.#refuse(name)
    const declared = this.#declare(checkGivenName(name, 'node name'), checkTask(task), detail)
    this.#edgeCount += declared.edges.length
    if (this.#edgeCount > FLOW_EDGE_MAX) throw this.#tooMany(name, 'edges', FLOW_EDGE_MAX)
    const made: FlowNode = Object.defineProperty({ node: name }, UPSTREAM_MARK, { value: true })
    this.#nodes.set(name, { made, declared })
    return made
  }

  finish(returned: unknown): DeclaredGraph {
    this.#isFinished = true
    if (returned instanceof Promise) {
      returned.catch(() => undefined)
      throw invalidInput(
        'flow',
        `What draws flow '${this.#flowName}' is async: do what takes time before the submit, and pass it as the input.`,
      )
    }
    if (this.#nodes.size === 0) throw invalidInput('flow', `Flow '${this.#flowName}' has no nodes.`)
    return {
      nodes: [...this.#nodes.values()].map(({ declared }) => declared),
      edgeCount: this.#edgeCount,
      results: this.#resultsOf(returned),
    }
  }

  #refuse(name: string): void {
    if (this.#isFinished) {
      throw invalidInput('flow', `Flow '${this.#flowName}' has been drawn: '${name}' comes too late.`)
    }
    if (this.#nodes.has(name)) {
      throw invalidInput('flow', `Flow '${this.#flowName}' has two nodes of the name '${name}'.`)
    }
    if (this.#nodes.size === FLOW_MEMBER_MAX) throw this.#tooMany(name, 'nodes', FLOW_MEMBER_MAX)
  }

  #tooMany(name: string, what: string, limit: number): EngineError {
    return new EngineError('graph_limit_exceeded', {
      limit,
      nodes: [name],
      message: `With node '${name}', flow '${this.#flowName}' has more than ${limit} ${what}.`,
    })
  }

  #declare(name: string, task: AnyTask, detail: unknown): DeclaredNode {
    if (typeof detail === 'function') {
      const input: unknown = (detail as (scope: { input: unknown }) => unknown)({ input: this.#input })
      return { name, task, input, settings: {}, policy: undefined, edges: [], passesInputs: true, when: undefined }
    }
    const { input, after, inputs = true, when, ...settings } = nodeOptions(detail, `the options of node '${name}'`)
    const waits = after === undefined ? undefined : checkUpstreams(after, name)
    for (const { upstream } of waits?.edges ?? []) this.#checkOwn(upstream, name)
    if (when !== undefined && !inputs) {
      throw invalidInput(
        'when',
        `Node '${name}' has a condition, which decides by its inputs: leave out inputs: false.`,
      )
    }
    const edges = waits?.edges ?? []
    return { name, task, input, settings, policy: policyOf(waits), edges, passesInputs: inputs, when }
  }

  #checkOwn(upstream: Upstream, name: string): void {
    if (this.#nodes.get(upstream.node)?.made === upstream) return
    throw invalidInput(
      'after',
      `Node '${name}' waits for '${upstream.node}', which is not of this graph: nodes belong to the flow, and to the submit, for which they were made.`,
    )
  }

  #resultsOf(returned: unknown): FlowResults {
    if (returned === undefined || returned === null) return undefined
    if (typeof returned !== 'object') throw this.#noResult(returned)
    if (UPSTREAM_MARK in returned) return this.#resultOf(returned)
    return Object.fromEntries(Object.entries(returned).map(([key, node]) => [key, this.#resultOf(node)]))
  }

  #resultOf(value: unknown): string {
    const name = typeof value === 'object' && value !== null && 'node' in value ? value.node : undefined
    if (typeof name !== 'string' || this.#nodes.get(name)?.made !== value) throw this.#noResult(value)
    return name
  }

  #noResult(value: unknown): EngineError {
    return invalidInput(
      'flow',
      `What draws flow '${this.#flowName}' returns ${show(value)}, but must return one of its nodes, an object of them, or nothing.`,
    )
  }
}

function checkCondition(when: unknown, field: string): Condition {
  if (typeof when === 'function') return when as Condition
  throw invalidInput(field, `${field} must be a function from the inputs to a boolean, and is ${show(when)}.`)
}

/** A node that waits for all its upstreams, or has none, needs no policy. */
function policyOf(waits: Upstreams | undefined): PolicyInput | undefined {
  return waits === undefined || waits.policy.policy === 'all_of' ? undefined : waits.policy
}
