/**
 * Defines a flow: a name, and a function that draws the graph for the input of each submit. A node can only name nodes
 * made before it, so a graph has no cycles by construction.
 */
import type { StandardSchemaV1 } from '@standard-schema/spec'
import { oneOf, shape } from '../../options/shape.ts'
import { RETENTION_DEFAULT_MS } from '../../kernel/limits.ts'
import type { OutcomeRule } from '../../kernel/model/records.ts'
import { checkBudgetUses } from './budget.ts'
import type { AnyBudgetUse, BudgetUse } from './budget.ts'
import { parseDuration } from './duration.ts'
import type { Duration } from './duration.ts'
import type { FlowNode, NodeArguments } from './flow-node.ts'
import type { Jsonify } from './jsonify.ts'
import { GraphBuilder } from './graph-builder.ts'
import type { DeclaredGraph } from './graph-builder.ts'
import { checkTagObject, checkTaskName, invalidInput } from '../checks/names.ts'
import type { Tags } from '../checks/names.ts'
import type { Task } from './task.ts'
import { checkSchema } from './validation.ts'

export interface FlowBuilder<FlowInput> {
  /** Adds a node. Ids, inputs and replays refer to it by its name. */
  node<const Name extends string, Input, Parsed, Returned, Output, Inputs, Given, Passed extends NoInfer<Given>>(
    name: Name,
    task: Task<Input, Parsed, Returned, Output, Inputs, Given>,
    ...detail: NodeArguments<FlowInput, NoInfer<Input>, NoInfer<Given>, NoInfer<Inputs>, Passed>
  ): FlowNode<Output, Name, Jsonify<Returned>>
}

/** What a graph's function may return: the node or nodes whose results are the result of the flow. */
// eslint-disable-next-line @typescript-eslint/no-invalid-void-type -- a function without a return statement returns void
export type FlowReturn = FlowNode | Readonly<Record<string, FlowNode>> | void

type OutputOf<N> = N extends { readonly types?: { readonly output: infer Output } } ? Output : never

export type FlowOutput<R> = R extends FlowNode
  ? OutputOf<R>
  : R extends Readonly<Record<string, FlowNode>>
    ? { readonly [K in keyof R]: OutputOf<R[K]> }
    : undefined

export interface FlowSettings {
  /** `all_members` (the default): no member may fail. `sinks`: only members without dependants count. */
  readonly outcome?: OutcomeRule
  /** How long an ended flow is kept, with all its members. */
  readonly retention?: Duration
  readonly tags?: Tags
  /** Budgets that all members spend, and their children: `[tenants.for({ key: 'acme' })]`. Keys by functions get the input of the flow. */
  readonly budgets?: readonly BudgetUse[]
}

export const flowSettings = shape<FlowSettings>()("{ outcome: 'sinks' }", {
  outcome: oneOf<OutcomeRule>({ all_members: true, sinks: true }),
  retention: parseDuration,
  tags: (tags): Tags => {
    checkTagObject(tags)
    return tags as Tags
  },
  budgets: checkBudgetUses,
})

export interface FlowOptions<S extends StandardSchemaV1> extends FlowSettings {
  readonly input?: S
}

const flowOptions = shape<FlowOptions<StandardSchemaV1>>()("{ outcome: 'sinks', retention: '7d' }", {
  ...flowSettings.checks,
  input: checkSchema,
})

/** The checked settings. */
export interface FlowPolicy {
  readonly outcomeRule: OutcomeRule
  readonly retentionMs: number
  readonly tags: Tags
  readonly budgets: readonly AnyBudgetUse[]
}

/** `Input` is what a submit takes, `Output` what the handle's `result()` resolves with. */
export interface FlowDefinition<Input, Output> {
  readonly name: string
  readonly policy: FlowPolicy
  readonly inputSchema: StandardSchemaV1 | undefined
  /**
   * Draws the graph for an input that matches the schema.
   * @internal
   */
  readonly draw: (input: unknown) => DeclaredGraph
  /** Carries types only; never set. */
  readonly types?: { readonly input: Input; readonly output: Output }
}

// eslint-disable-next-line @typescript-eslint/no-explicit-any -- any flow whatever; its input is checked by its schema
export type AnyFlow = FlowDefinition<any, any>

type Draw<Input, Returned> = (f: FlowBuilder<Input>, input: Input) => Returned

/** Marks flows. The same symbol in every copy of the library. */
const FLOW_MARK = Symbol.for('flowfabric.flow')

export function isFlow(value: unknown): value is AnyFlow {
  return typeof value === 'object' && value !== null && FLOW_MARK in value
}

/**
 * Declares a flow. The function runs at every submit, before anything is sent. It must be synchronous and free of side effects.
 *
 * @example
 * const release = flow('release', (f, input: { sha: string }) => {
 *   const image = f.node('build', build, { input: { sha: input.sha } })
 *   return f.node('deploy', deploy, { after: allOf({ image }), input: { env: 'prod' } })
 * })
 * const handle = await fabric.submit(release, { sha: 'f00' }, { id: 'release:f00' })
 */
export function flow<Input, Returned extends FlowReturn = FlowReturn>(
  name: string,
  draw: Draw<Input, Returned>,
): FlowDefinition<Input, FlowOutput<Returned>>
export function flow<S extends StandardSchemaV1, Returned extends FlowReturn = FlowReturn>(
  name: string,
  options: FlowOptions<S> & { readonly input: S },
  draw: Draw<StandardSchemaV1.InferOutput<S>, Returned>,
): FlowDefinition<StandardSchemaV1.InferInput<S>, FlowOutput<Returned>>
export function flow<Input, Returned extends FlowReturn = FlowReturn>(
  name: string,
  options: FlowSettings,
  draw: Draw<Input, Returned>,
): FlowDefinition<Input, FlowOutput<Returned>>
export function flow(
  name: string,
  ...parts: [Draw<unknown, FlowReturn>] | [FlowOptions<StandardSchemaV1>, Draw<unknown, FlowReturn>]
): FlowDefinition<unknown, unknown> {
  checkTaskName(name, 'flow name')
  const [options, draw] = parts.length === 1 ? [{}, parts[0]] : parts
  const { input: inputSchema, ...settings } = flowOptions(options)
  if (typeof draw !== 'function')
    throw invalidInput('flow', `What draws the graph of flow '${name}' must be a function.`)
  const self: FlowDefinition<unknown, unknown> = {
    name,
    policy: overrideFlowPolicy(DEFAULT_POLICY, settings),
    inputSchema,
    draw: (input) => {
      const builder = new GraphBuilder(name, input)
      return builder.finish(draw(builder as unknown as FlowBuilder<unknown>, input))
    },
  }
  return Object.defineProperty(self, FLOW_MARK, { value: true })
}

const DEFAULT_POLICY: FlowPolicy = {
  outcomeRule: 'all_members',
  retentionMs: RETENTION_DEFAULT_MS,
  tags: {},
  budgets: [],
}

type ParsedSettings = ReturnType<typeof flowSettings>

/** Returns a policy with the parsed settings applied. Tags and budgets are added. */
export function overrideFlowPolicy(policy: FlowPolicy, settings: ParsedSettings): FlowPolicy {
  const { outcome = policy.outcomeRule, retention = policy.retentionMs, tags, budgets = [] } = settings
  return {
    outcomeRule: outcome,
    retentionMs: retention,
    tags: { ...policy.tags, ...tags },
    budgets: [...policy.budgets, ...budgets],
  }
}

export function flowPolicyOf(settings: ParsedSettings): FlowPolicy {
  return overrideFlowPolicy(DEFAULT_POLICY, settings)
}
