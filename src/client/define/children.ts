/** Children: executions that a handler starts, and the calls that wait for them. */
import type { ExecutionId } from '../../kernel/model/base-records.ts'
import type { Tags } from '../checks/names.ts'
import type { Duration } from './duration.ts'
import type { ChildFailedError } from './errors.ts'
import type { BudgetUse } from './budget.ts'
import type { LimitUse } from './limit.ts'
import type { NoShaping } from './no-shaping.ts'
import type { TaskSettings } from './task-settings.ts'
import type { NoInputs } from './upstreams.ts'

/** A task that a handler can call; only its types matter here. */
export interface CallableTask<Input, Output, Given> {
  readonly name: string
  readonly types?: { readonly input: Input; readonly output: Output; readonly given: Given }
}

/** A child has no upstreams, so a task that requires their results cannot be called. */
type WithoutInputs<Given> = NoInputs extends Given ? unknown : never

/** The input and the options of a child. The input may be left out if it may be undefined. */
type ChildArguments<Input, Options> = undefined extends Input
  ? [input?: Input, options?: Options]
  : [input: Input, options?: Options]

/** Settings of one child; the task's apply unless given. */
export interface ChildOptions extends TaskSettings, NoShaping {
  /** The delay before it may run, or the date from which it may run, by the clock of this machine. The past is no delay. */
  readonly delay?: Duration | Date
  readonly tags?: Tags
  /** Further limits that it needs permits of, besides those of its task. */
  readonly limits?: readonly LimitUse<unknown>[]
  /** Further budgets that it spends, besides those of its task. */
  readonly budgets?: readonly BudgetUse<unknown>[]
}

export interface SpawnOptions extends ChildOptions {
  /** True for a child that its parent neither waits for nor stops: it is not cancelled with the parent. */
  readonly detached?: boolean
}

/** A started child that its parent does not wait for. */
export interface DetachedChild {
  readonly id: ExecutionId
  /** The recorded name. A name that is used again gets a number appended. */
  readonly name: string
}

/** A started child. */
export interface ChildHandle<Output = unknown> extends DetachedChild {
  /** Waits for the child without occupying a worker. Throws a `ChildFailedError` if it does not complete. */
  readonly result: () => Promise<Output>
}

/** A child to wait for: its handle, or the promise that `ctx.spawn` returned. */
export type Child<Output = unknown> = ChildHandle<Output> | PromiseLike<ChildHandle<Output>>

type OutputOf<C> = C extends Child<infer Output> ? Output : never

/** The results of children, each at the position of its child. */
export type ChildOutputs<Children extends readonly Child[]> = {
  -readonly [K in keyof Children]: OutputOf<Children[K]>
}

/** How one child ended. */
export type ChildOutcome<Output> =
  { readonly ok: true; readonly value: Output } | { readonly ok: false; readonly error: ChildFailedError }

export type ChildOutcomes<Children extends readonly Child[]> = {
  -readonly [K in keyof Children]: ChildOutcome<OutputOf<Children[K]>>
}

/** A child that completed before the others. */
export interface ChildWinner<Output = unknown> {
  /** Its position in the list. */
  readonly index: number
  readonly name: string
  readonly value: Output
}

type Winner<Children extends readonly Child[]> = ChildWinner<OutputOf<Children[number]>>

export interface ChildRaceOptions {
  /** What happens to the children that are still open when the race is decided. They run on unless given. */
  readonly losers?: 'cancel' | 'let_run'
}

/** The calls of a handler context that start children and wait for them. */
export interface ChildCalls {
  /**
   * Runs another task as a child, and returns its result. The handler occupies no worker while it waits. Later runs of the
   * handler get the recorded result. Throws a `ChildFailedError` if the child does not complete.
   *
   * @example
   * const invoice = await ctx.call('invoice', createInvoice, { order })
   */
  readonly call: <Input, Output, Given>(
    name: string,
    task: CallableTask<Input, Output, Given> & WithoutInputs<Given>,
    ...rest: ChildArguments<NoInfer<Input>, ChildOptions>
  ) => Promise<Output>
  /**
   * Starts a child without waiting for it. Starts of one turn are sent together.
   *
   * @example
   * const pages = await ctx.all(urls.map((url) => ctx.spawn(`page:${url}`, fetchPage, { url })))
   */
  readonly spawn: {
    <Input, Output, Given>(
      name: string,
      task: CallableTask<Input, Output, Given> & WithoutInputs<Given>,
      input: NoInfer<Input>,
      options: SpawnOptions & { readonly detached: true },
    ): Promise<DetachedChild>
    <Input, Output, Given>(
      name: string,
      task: CallableTask<Input, Output, Given> & WithoutInputs<Given>,
      ...rest: ChildArguments<NoInfer<Input>, SpawnOptions & { readonly detached?: false }>
    ): Promise<ChildHandle<Output>>
  }
  /**
   * Waits until all children have completed, and returns their results in order. Throws the `ChildFailedError` of the first
   * child that fails; the others run on, or are cancelled with `{ losers: 'cancel' }`.
   */
  readonly all: {
    <const Children extends readonly Child[]>(
      children: Children,
      options?: ChildRaceOptions,
    ): Promise<ChildOutputs<Children>>
    <const Children extends readonly Child[]>(
      name: string,
      children: Children,
      options?: ChildRaceOptions,
    ): Promise<ChildOutputs<Children>>
  }
  /** Waits until all children have ended, and returns how each one ended, in order. */
  readonly settled: {
    <const Children extends readonly Child[]>(children: Children): Promise<ChildOutcomes<Children>>
    <const Children extends readonly Child[]>(name: string, children: Children): Promise<ChildOutcomes<Children>>
  }
  /** Returns the first child that completes. Throws a `ChildrenFailedError` if all of them fail. */
  readonly any: {
    <const Children extends readonly Child[]>(children: Children, options?: ChildRaceOptions): Promise<Winner<Children>>
    <const Children extends readonly Child[]>(
      name: string,
      children: Children,
      options?: ChildRaceOptions,
    ): Promise<Winner<Children>>
  }
  /**
   * Returns the first children that complete, as many as needed, in the order in which they completed. Throws a
   * `ChildrenFailedError` as soon as too few can complete.
   */
  readonly quorum: {
    <const Children extends readonly Child[]>(
      need: number,
      children: Children,
      options?: ChildRaceOptions,
    ): Promise<Winner<Children>[]>
    <const Children extends readonly Child[]>(
      name: string,
      need: number,
      children: Children,
      options?: ChildRaceOptions,
    ): Promise<Winner<Children>[]>
  }
}
