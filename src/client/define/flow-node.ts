/** A node of a flow: its options, and the types that it passes to the nodes after it. */
import { unchecked } from '../../options/shape.ts'
import type { Check } from '../../options/shape.ts'
import type { Tags } from '../checks/names.ts'
import type { Duration } from './duration.ts'
import type { BudgetUse } from './budget.ts'
import type { LimitUse } from './limit.ts'
import { noShaping } from './no-shaping.ts'
import type { NoShaping } from './no-shaping.ts'
import type { RetryOptions } from './retry.ts'
import type { TaskSettings, TimeoutOptions } from './task-settings.ts'
import type { AfterOption, AnyInputs, NoInputs, Upstream } from './upstreams.ts'

/** Settings of one node; the task's apply unless given. Members are kept as long as their flow. */
export interface NodeSettings extends Omit<TaskSettings, 'retention'>, NoShaping {
  /** The delay before it may run. A negative delay is none. */
  readonly delay?: Duration
  readonly tags?: Tags
  /** Further limits that it needs permits of, besides those of its task. */
  readonly limits?: readonly LimitUse<unknown>[]
  /** Further budgets that it spends, besides those of its task. */
  readonly budgets?: readonly BudgetUse<unknown>[]
}

/** Their values are checked when the node is prepared, so that errors name the node. */
export const nodeSettings = {
  lane: unchecked<string>(),
  priority: unchecked<number>(),
  retry: unchecked<RetryOptions>(),
  timeout: unchecked<TimeoutOptions>(),
  needs: unchecked<readonly string[]>(),
  delay: unchecked<Duration>(),
  tags: unchecked<Tags>(),
  limits: unchecked<readonly LimitUse<unknown>[]>(),
  budgets: unchecked<readonly BudgetUse<unknown>[]>(),
  ...noShaping,
} satisfies Readonly<Record<keyof NodeSettings, Check>>

type InputOption<Input> = undefined extends Input ? { readonly input?: Input } : { readonly input: Input }

/** The inputs of a node as its handler gets them: what its upstreams pass on, after the schemas of its task. */
type ConditionInputs<Inputs, Passed> = string extends keyof Inputs ? Passed : Omit<Passed, keyof Inputs> & Inputs

export interface ConditionOption<Inputs = AnyInputs, Passed = AnyInputs> {
  /**
   * Skips the node unless it returns true. A worker evaluates it after the claim and before the handler, so workers need the
   * definition: `fabric.work(handlers, { flows: [release] })`. Must be synchronous, and depend on its arguments and the flow's input
   * alone. An error that it throws fails the attempt.
   */
  readonly when?: (inputs: ConditionInputs<Inputs, Passed>) => boolean
}

export type NodeOptions<Input, Given, Inputs = AnyInputs, Passed = Given> = NodeSettings &
  AfterOption<Given, Passed> &
  InputOption<Input> &
  ConditionOption<Inputs, NoInfer<Passed>>

/** The settings of a node, or a function from the flow's input to the node's. */
type NodeDetail<FlowInput, Input, Given, Inputs, Passed> =
  | NodeOptions<Input, Given, Inputs, Passed>
  | (NoInputs extends Given ? (scope: { readonly input: FlowInput }) => Input : never)

export type NodeArguments<FlowInput, Input, Given, Inputs, Passed> =
  NoInputs extends NodeOptions<Input, Given>
    ? [detail?: NodeDetail<FlowInput, Input, Given, Inputs, Passed>]
    : [detail: NodeDetail<FlowInput, Input, Given, Inputs, Passed>]

/** A node of a graph. `Result` is what its handler returns and passes on, `Output` what `result()` resolves with. */
export interface FlowNode<Output = unknown, Name extends string = string, Result = Output> extends Upstream<
  Result,
  Name
> {
  readonly types?: { readonly result: Result; readonly output: Output }
}
