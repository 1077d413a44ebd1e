/**
 * Defines a task: a name, schemas and default settings. A task can be imported anywhere, even where its handler cannot.
 * A handler is an async function that implements the task in a worker.
 */
import type { StandardSchemaV1 } from '@standard-schema/spec'
import { shape } from '../../options/shape.ts'
import type { Check } from '../../options/shape.ts'
import type { Jsonify } from './jsonify.ts'
import { parseBatch } from './batch.ts'
import type { BatchFunction, BatchHandling, BatchOptions } from './batch.ts'
import type { TaskContext } from './context.ts'
import { EngineError } from '../../kernel/engine-error.ts'
import { checkList, checkObject, checkTagName, checkTaskName, invalidInput, show } from '../checks/names.ts'
import { checkSignalName } from '../checks/signal-names.ts'
import { checkFrameName } from './frames.ts'
import type { FrameSchemas, SignalSchemas } from './frames.ts'
import { checkFairness } from './fairness.ts'
import type { FairShare, FairnessOf } from './fairness.ts'
import { checkBudgetUses } from './budget.ts'
import type { AnyBudgetUse, BudgetUse } from './budget.ts'
import { checkLimitUses } from './limit.ts'
import type { AnyLimitUse, LimitUse } from './limit.ts'
import { parseShouldRetry } from './retry.ts'
import type { ShouldRetry } from './retry.ts'
import { DEFAULT_POLICY, overridePolicy, taskSettings } from './task-settings.ts'
import type { TaskPolicy, TaskSettings } from './task-settings.ts'
import type { AnyInputs } from './upstreams.ts'
import { checkSchema } from './validation.ts'
import { TAG_COUNT_MAX, VERSION_MAX } from '../../kernel/limits.ts'

/** Versions of a task that one handler serves. Every version is one more queue that a claim reads. */
const SERVED_VERSION_COUNT_MAX = 16

/** One schema for each upstream whose result the handler wants, under the name that it has in `ctx.inputs`. */
export type InputSchemas = Readonly<Record<string, StandardSchemaV1>>

/** The settings of a task, and what belongs to the definition alone. */
export interface TaskDefinition<Input = never> extends TaskSettings {
  /**
   * A whole number from 1. Raise it when older workers cannot handle new executions. Executions carry the version that they were
   * submitted with, and workers claim only the versions that they serve. Default: none, and every worker with a handler serves it.
   */
  readonly version?: number
  /** Names of tags that a child takes over from its parent, unless its start sets them. */
  readonly inheritTags?: readonly string[]
  /**
   * Divides the lane between keys, such as tenants: `(input) => input.tenant`. However much one key has submitted, the first
   * execution of another starts next. A key with weight 2 gets twice the share of one with weight 1, the default.
   */
  readonly fairness?: (input: Input) => FairShare
  /**
   * Limits that its executions need permits of while they run: `[openai]`, or `[openai.for({ key: (input) => input.tenant })]`.
   * Those of a submit are added.
   */
  readonly limits?: readonly LimitUse<Input>[]
  /** Budgets that its executions spend: `[tenants]`. Those of a submit are added. */
  readonly budgets?: readonly BudgetUse<Input>[]
}

export interface TaskOptions<
  I extends StandardSchemaV1,
  O extends StandardSchemaV1,
  U extends InputSchemas = InputSchemas,
  G extends SignalSchemas = SignalSchemas,
  F extends FrameSchemas = FrameSchemas,
> extends TaskDefinition<StandardSchemaV1.InferInput<I>> {
  readonly input?: I
  readonly output?: O
  /** What a flow has to hand on to it. One that may be missing is optional in its schema. */
  readonly inputs?: U
  /** What may be sent to its executions. No other name is then accepted by their handles, and every value is checked. */
  readonly signals?: G
  /** What the handler streams: `ctx.frames.token(value)`. No other frames can be written. */
  readonly frames?: F
}

const taskOptions = shape<TaskOptions<StandardSchemaV1, StandardSchemaV1>>()(
  "{ retry: { attempts: 3 }, timeout: { attempt: '30s' } }",
  {
    ...taskSettings.checks,
    version: (value, field) => checkVersion(value, field, 1),
    inheritTags: checkTagNames,
    fairness: checkFairness,
    limits: checkLimitUses,
    budgets: checkBudgetUses,
    input: checkSchema,
    output: checkSchema,
    inputs: schemasOf('input'),
    signals: schemasOf('signal', checkSignalName),
    frames: schemasOf('frame', checkFrameName),
  },
)

type MayMiss<S extends StandardSchemaV1> = undefined extends StandardSchemaV1.InferInput<S> ? true : false

/** The results that upstreams must pass to satisfy the schemas. */
export type InputsGiven<U extends InputSchemas> = string extends keyof U
  ? AnyInputs
  : { readonly [K in keyof U as MayMiss<U[K]> extends true ? never : K]: StandardSchemaV1.InferInput<U[K]> } & {
      readonly [K in keyof U as MayMiss<U[K]> extends true ? K : never]?: StandardSchemaV1.InferInput<U[K]>
    }

/** The parsed results that the handler receives. */
export type InputsSeen<U extends InputSchemas> = string extends keyof U
  ? AnyInputs
  : { readonly [K in keyof U]: StandardSchemaV1.InferOutput<U[K]> }

/** The values that the signals of a task take. A task without signal schemas accepts any. */
export type SignalsSent<G extends SignalSchemas> = string extends keyof G
  ? AnySignals
  : { readonly [K in keyof G]: StandardSchemaV1.InferInput<G[K]> }

export type AnySignals = Readonly<Record<string, unknown>>

export interface HandlerOptions {
  /** How many executions of this task one worker runs at once, within the worker's own concurrency. */
  readonly concurrency?: number
  /** How many slots of the worker one execution takes, at most the worker's concurrency. Default: 1. */
  readonly slots?: number
  /**
   * The versions of the task whose executions this handler runs; 0 stands for executions without a version. Default: the version
   * of the task, the 15 versions before it, and executions without a version.
   */
  readonly versions?: readonly number[]
  /**
   * Called with what the handler threw. False makes the failure permanent, so the execution fails without a retry. It is a
   * part of the handler, because the retry policy of the task is stored with its executions.
   */
  readonly shouldRetry?: ShouldRetry
}

export type HandlerFunction<
  Parsed,
  Returned,
  Inputs = AnyInputs,
  Frames extends FrameSchemas = FrameSchemas,
  Signals extends SignalSchemas = SignalSchemas,
> = (input: Parsed, context: TaskContext<Inputs, Frames, Signals>) => Promise<Returned> | Returned

/** A task together with the function that implements it. Workers run handlers. */
export interface Handler {
  readonly task: AnyTask
  readonly options: HandlerOptions
  readonly run: (input: unknown, context: TaskContext) => Promise<unknown>
  /** Set if a worker calls it for many executions at once, instead of `run`. */
  readonly batch?: BatchHandling
}

/** Checks the shape rather than the class, since the handler may come from another copy of the library. */
export function isHandler(value: unknown): value is Handler {
  if (typeof value !== 'object' || value === null || !('run' in value) || !('task' in value)) return false
  const { run, task } = value
  return typeof run === 'function' && typeof task === 'object' && task !== null && 'name' in task
}

/**
 * `Input` is what a submit takes, `Parsed` what the handler receives, `Returned` what the handler returns, `Output` what the caller's
 * `result()` resolves with. Input and result are stored as JSON in between: without a schema, `Parsed` and `Output` are what JSON makes
 * of them; with a schema, what it parses from that. In a flow, `Inputs` is the type of `ctx.inputs`, and `Given` what the
 * upstreams must pass for that.
 */
export interface Task<
  Input,
  Parsed,
  Returned,
  Output,
  Inputs = AnyInputs,
  Given = Inputs,
  Signals extends SignalSchemas = SignalSchemas,
  Frames extends FrameSchemas = FrameSchemas,
> {
  readonly name: string
  readonly version: number | undefined
  readonly policy: TaskPolicy
  /** Names of tags that a child takes over from its parent. */
  readonly inheritTags: readonly string[]
  readonly fairness: FairnessOf | undefined
  readonly limits: readonly AnyLimitUse[]
  readonly budgets: readonly AnyBudgetUse[]
  readonly inputSchema: StandardSchemaV1 | undefined
  readonly outputSchema: StandardSchemaV1 | undefined
  /** Schemas of the results that upstreams pass, by name. */
  readonly inputSchemas: InputSchemas | undefined
  /** The schemas of its signals by name: `signal('review', { schema: brief.signals.review })`. Empty if it names none. */
  readonly signals: Signals
  /** The schemas of its frames by name. Empty if it streams none. */
  readonly frames: Frames
  handle(run: HandlerFunction<Parsed, Returned, Inputs, Frames, Signals>): Handler
  handle(options: HandlerOptions, run: HandlerFunction<Parsed, Returned, Inputs, Frames, Signals>): Handler
  /**
   * Handles many executions with one call. Each has its own lease, retries and outcome. There are no durable steps.
   *
   * @example
   * const mailHandler = mail.handleBatch({ max: 50, wait: '200ms' }, async (items, { signal }) => {
   *   const answers = await sendAll(items.map(({ input }) => input), signal)
   *   return answers.map((answer) => (answer.ok ? answer.id : new Error(answer.reason)))
   * })
   */
  handleBatch(options: BatchOptions & HandlerOptions, run: BatchFunction<Parsed, Returned>): Handler
  /** Carries types only; never set. */
  readonly types?: {
    readonly input: Input
    readonly returned: Returned
    readonly output: Output
    readonly given: Given
  }
}

/** The arguments of a call that leaves the input out: none, if the input may be undefined. */
export type OmittedInput<Input> = undefined extends Input ? [] : [input: Input]

// eslint-disable-next-line @typescript-eslint/no-explicit-any -- any task whatever; its types are in the handler's closure
export type AnyTask = Task<any, any, any, any, any, any>

/** Marks tasks. The same symbol in every copy of the library. Not enumerable, so a spread copy lacks it. */
const TASK_MARK = Symbol.for('flowfabric.task')

export function isTask(value: unknown): value is AnyTask {
  return typeof value === 'object' && value !== null && TASK_MARK in value
}

/** Refuses a value that `task` did not make, such as a task's name. */
export function checkTask(value: unknown): AnyTask {
  if (isTask(value)) return value
  throw new EngineError('unknown_task', {
    field: 'task',
    message: `task is ${show(value)}, which task(…) did not make.`,
  })
}

/**
 * Defines a task by its schemas, or by type parameters alone.
 *
 * @example
 * const greet = task<{ name: string }, string>('greet', { retry: { attempts: 3 } })
 * const greetHandler = greet.handle(({ name }) => `Hello, ${name}`)
 */
export function task<Input = unknown, Output = unknown, Inputs = AnyInputs>(
  name: string,
  settings?: TaskDefinition<Input>,
): Task<Input, Jsonify<Input>, Output, Jsonify<Output>, Inputs>
export function task<
  I extends StandardSchemaV1,
  O extends StandardSchemaV1,
  U extends InputSchemas = InputSchemas,
  G extends SignalSchemas = SignalSchemas,
  F extends FrameSchemas = FrameSchemas,
>(
  name: string,
  options: TaskOptions<I, O, U, G, F> &
    (
      | { readonly input: I }
      | { readonly output: O }
      | { readonly inputs: U }
      | { readonly signals: G }
      | { readonly frames: F }
    ),
): Task<
  StandardSchemaV1.InferInput<I>,
  StandardSchemaV1.InferOutput<I>,
  StandardSchemaV1.InferInput<O>,
  StandardSchemaV1.InferOutput<O>,
  InputsSeen<U>,
  InputsGiven<U>,
  G,
  F
>
export function task(
  name: string,
  options: TaskOptions<StandardSchemaV1, StandardSchemaV1> = {},
): Task<unknown, unknown, unknown, unknown> {
  checkTaskName(name, 'task name')
  const {
    version,
    inheritTags = [],
    fairness,
    limits = [],
    budgets = [],
    input,
    output,
    inputs,
    signals = {},
    frames = {},
    ...settings
  } = taskOptions(options)
  const self: Task<unknown, unknown, unknown, unknown> = {
    name,
    version,
    policy: overridePolicy(DEFAULT_POLICY, settings),
    inheritTags,
    fairness,
    limits,
    budgets,
    inputSchema: input,
    outputSchema: output,
    inputSchemas: inputs,
    signals,
    frames,
    handle: (...parts: [HandlerFunction<unknown, unknown>] | [HandlerOptions, HandlerFunction<unknown, unknown>]) => {
      const [handlerOptions, run] = parts.length === 1 ? [{}, parts[0]] : parts
      if (typeof run !== 'function') throw invalidInput('handler', `The handler of task '${name}' must be a function.`)
      checkHandlerOptions(handlerOptions, name)
      return { task: self, options: handlerOptions, run: async (input, context) => await run(input, context) }
    },
    handleBatch: (
      { max, wait, ...handlerOptions }: BatchOptions & HandlerOptions,
      run: BatchFunction<unknown, unknown>,
    ) => {
      if (typeof run !== 'function') throw invalidInput('handler', `The handler of task '${name}' must be a function.`)
      checkHandlerOptions(handlerOptions, name)
      return { task: self, options: handlerOptions, run: onlyInBatches, batch: parseBatch({ max, wait }, run) }
    },
  }
  return Object.defineProperty(self, TASK_MARK, { value: true })
}

function onlyInBatches(): Promise<never> {
  return Promise.reject(new TypeError('A handler of batches runs in a worker only.'))
}

function schemasOf(noun: string, checkName: Check = String): Check<InputSchemas> {
  return (schemas, field) => {
    checkObject(schemas, field, '{ build: schema }')
    if ('~standard' in schemas) {
      throw invalidInput(field, `${field} is one schema, but must be an object with one for each ${noun} by name.`)
    }
    for (const [name, schema] of Object.entries(schemas))
      checkSchema(schema, `${field}.${String(checkName(name, field))}`)
    return schemas as InputSchemas
  }
}

function checkHandlerOptions(options: unknown, taskName: string): void {
  shape<HandlerOptions>()('{ concurrency: 4 }', {
    concurrency: (value) => checkCount(value, 'concurrency', taskName),
    slots: (value) => checkCount(value, 'slots', taskName),
    versions: (value) => checkVersions(value, taskName),
    shouldRetry: parseShouldRetry,
  })(options)
}

function checkCount(value: unknown, field: string, taskName: string): void {
  if (Number.isInteger(value) && (value as number) >= 1) return
  throw invalidInput(field, `${field} of task '${taskName}' must be a whole number of at least 1.`)
}

function checkVersion(version: unknown, field: string, minimum: number): number {
  if (Number.isInteger(version) && isBetween(version as number, minimum, VERSION_MAX)) return version as number
  throw invalidInput(
    field,
    `${field} is ${show(version)}, but must be a whole number from ${minimum} to ${VERSION_MAX}.`,
  )
}

function checkTagNames(names: unknown, field: string): string[] {
  checkList(names, field)
  if (names.length <= TAG_COUNT_MAX) return [...new Set(names.map((name) => checkTagName(name, field)))]
  throw invalidInput(field, `${field} has ${names.length} names, but at most ${TAG_COUNT_MAX} are allowed.`)
}

function isBetween(value: number, from: number, to: number): boolean {
  return value >= from && value <= to
}

function checkVersions(versions: unknown, taskName: string): void {
  if (!Array.isArray(versions) || versions.length === 0 || versions.length > SERVED_VERSION_COUNT_MAX) {
    throw invalidInput(
      'versions',
      `versions of task '${taskName}' must be a list of 1 to ${SERVED_VERSION_COUNT_MAX} versions such as [1, 2].`,
    )
  }
  for (const version of versions) checkVersion(version, 'versions', 0)
}

/** Returns the versions that a handler serves. Undefined stands for executions without a version. */
export function servedVersions({ task: { version }, options }: Handler): (number | undefined)[] {
  if (options.versions !== undefined) return [...new Set(options.versions)].map((served) => served || undefined)
  if (version === undefined) return [undefined]
  const oldest = Math.max(1, version - SERVED_VERSION_COUNT_MAX + 1)
  return [undefined, ...Array.from({ length: version - oldest + 1 }, (_, i) => version - i)]
}
