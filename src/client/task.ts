/**
 * A task is a contract: a name, schemas and how its executions are to be treated. It can be imported anywhere, also
 * where its handler cannot. A handler is one ordinary async function that fulfils the contract in a worker.
 */
import type { StandardSchemaV1 } from '@standard-schema/spec'
import { RETENTION_DEFAULT_MS } from '../kernel/index.ts'
import type { RetryPolicy } from '../kernel/index.ts'
import { parseDuration } from './duration.ts'
import type { Duration } from './duration.ts'
import {
  checkKeys,
  checkLane,
  checkObject,
  checkOptions,
  checkPriority,
  checkTaskName,
  invalidInput,
  show,
} from './names.ts'
import { parseRetry } from './retry.ts'
import type { RetryOptions } from './retry.ts'
import type { TaskContext } from './context.ts'

export interface TimeoutOptions {
  /** How long one attempt may run; after that it counts as failed and the retry policy decides. */
  readonly attempt?: Duration
  /** How long the execution may take from submit to end, retries and waits included. */
  readonly total?: Duration
}

const TIMEOUT_KEYS = ['attempt', 'total'] as const satisfies readonly (keyof TimeoutOptions)[]

/** How executions of a task are treated unless a submit says otherwise. */
export interface TaskSettings {
  readonly lane?: string
  readonly priority?: number
  readonly retry?: RetryOptions
  readonly timeout?: TimeoutOptions
  /** How long an ended execution is kept. */
  readonly retention?: Duration
}

export const TASK_SETTING_KEYS = [
  'lane',
  'priority',
  'retry',
  'timeout',
  'retention',
] as const satisfies readonly (keyof TaskSettings)[]

export interface TaskOptions<I extends StandardSchemaV1, O extends StandardSchemaV1> extends TaskSettings {
  readonly input?: I
  readonly output?: O
}

const TASK_KEYS = ['input', 'output', ...TASK_SETTING_KEYS] as const satisfies readonly (keyof TaskOptions<
  StandardSchemaV1,
  StandardSchemaV1
>)[]

/** What the settings come to once they are checked. */
export interface TaskPolicy {
  readonly lane: string
  readonly priority: number
  readonly retry: RetryPolicy
  readonly attemptTimeoutMs: number | undefined
  readonly totalTimeoutMs: number | undefined
  readonly retentionMs: number
}

export interface HandlerOptions {
  /** How many executions of this task one worker runs at once, within the worker's own concurrency. */
  readonly concurrency?: number
}

const HANDLER_KEYS = ['concurrency'] as const satisfies readonly (keyof HandlerOptions)[]

export type HandlerFunction<Parsed, Returned> = (input: Parsed, context: TaskContext) => Promise<Returned> | Returned

/** A task together with the function that does its work: what a worker is given. */
export interface Handler {
  readonly task: AnyTask
  readonly options: HandlerOptions
  readonly run: (input: unknown, context: TaskContext) => Promise<unknown>
}

/** By its shape: whoever made it may have a copy of the library of its own. */
export function isHandler(value: unknown): value is Handler {
  if (typeof value !== 'object' || value === null || !('run' in value) || !('task' in value)) return false
  const { run, task } = value
  return typeof run === 'function' && typeof task === 'object' && task !== null && 'name' in task
}

/**
 * `Input` is what a submit takes, `Parsed` what the handler sees after the schema, `Returned` what the handler gives
 * back, `Output` what the caller's `result()` answers.
 */
export interface Task<Input, Parsed, Returned, Output> {
  readonly name: string
  readonly policy: TaskPolicy
  readonly inputSchema: StandardSchemaV1 | undefined
  readonly outputSchema: StandardSchemaV1 | undefined
  handle(run: HandlerFunction<Parsed, Returned>): Handler
  handle(options: HandlerOptions, run: HandlerFunction<Parsed, Returned>): Handler
  /** Carries the types; never has a value. */
  readonly types?: { readonly input: Input; readonly output: Output }
}

// eslint-disable-next-line @typescript-eslint/no-explicit-any -- any task whatever; its types are in the handler's closure
export type AnyTask = Task<any, any, any, any>

/** Marks what `task` made, and is the same in every copy of the library. A copy of a task does not have it. */
const TASK_MARK = Symbol.for('flowfabric.task')

export function isTask(value: unknown): value is AnyTask {
  return typeof value === 'object' && value !== null && TASK_MARK in value
}

/**
 * Defines a task by its schemas, or by type parameters alone.
 *
 * @example
 * const greet = task<{ name: string }, string>('greet', { retry: { attempts: 3 } })
 * const greetHandler = greet.handle(({ name }) => `Hello, ${name}`)
 */
export function task<Input = unknown, Output = unknown>(
  name: string,
  settings?: TaskSettings,
): Task<Input, Input, Output, Output>
export function task<I extends StandardSchemaV1, O extends StandardSchemaV1>(
  name: string,
  options: TaskOptions<I, O> & ({ readonly input: I } | { readonly output: O }),
): Task<
  StandardSchemaV1.InferInput<I>,
  StandardSchemaV1.InferOutput<I>,
  StandardSchemaV1.InferInput<O>,
  StandardSchemaV1.InferOutput<O>
>
export function task(
  name: string,
  options: TaskOptions<StandardSchemaV1, StandardSchemaV1> = {},
): Task<unknown, unknown, unknown, unknown> {
  checkTaskName(name, 'task name')
  checkOptions(options, TASK_KEYS, "{ retry: { attempts: 3 }, timeout: { attempt: '30s' } }")
  checkSchema(options.input, 'input')
  checkSchema(options.output, 'output')
  const self: Task<unknown, unknown, unknown, unknown> = {
    name,
    policy: overridePolicy(DEFAULT_POLICY, options),
    inputSchema: options.input,
    outputSchema: options.output,
    handle: (...parts: [HandlerFunction<unknown, unknown>] | [HandlerOptions, HandlerFunction<unknown, unknown>]) => {
      const [handlerOptions, run] = parts.length === 1 ? [{}, parts[0]] : parts
      if (typeof run !== 'function') throw invalidInput('handler', `The handler of task '${name}' must be a function.`)
      checkOptions(handlerOptions, HANDLER_KEYS, '{ concurrency: 4 }')
      checkConcurrency(handlerOptions.concurrency, name)
      return { task: self, options: handlerOptions, run: async (input, context) => await run(input, context) }
    },
  }
  return Object.defineProperty(self, TASK_MARK, { value: true })
}

/** Standard Schema says what a schema is: an object, or a function with properties. */
function checkSchema(schema: unknown, field: string): void {
  if (schema === undefined) return
  const isPossible = (typeof schema === 'object' && schema !== null) || typeof schema === 'function'
  const standard: unknown = isPossible ? (schema as Record<string, unknown>)['~standard'] : undefined
  if (typeof standard === 'object' && standard !== null && 'validate' in standard) {
    if (typeof standard.validate === 'function') return
  }
  throw invalidInput(
    field,
    `${field} is ${show(schema)}, but must be a schema that follows Standard Schema, such as one of Zod, Valibot or ArkType.`,
  )
}

const DEFAULT_POLICY: TaskPolicy = {
  lane: 'default',
  priority: 0,
  retry: parseRetry(undefined),
  attemptTimeoutMs: undefined,
  totalTimeoutMs: undefined,
  retentionMs: RETENTION_DEFAULT_MS,
}

/** A policy with what some settings change about it. What they leave out was checked before and costs nothing again. */
export function overridePolicy(policy: TaskPolicy, settings: TaskSettings): TaskPolicy {
  const { lane, priority, retry, timeout, retention } = settings
  if (timeout !== undefined) {
    checkObject(timeout, 'timeout', "{ attempt: '30s', total: '1h' }")
    checkKeys(timeout, TIMEOUT_KEYS, 'timeout')
  }
  return {
    lane: lane === undefined ? policy.lane : checkLane(lane),
    priority: priority === undefined ? policy.priority : checkPriority(priority),
    retry: retry === undefined ? policy.retry : parseRetry(retry),
    attemptTimeoutMs: parseTimeout(timeout?.attempt, 'timeout.attempt') ?? policy.attemptTimeoutMs,
    totalTimeoutMs: parseTimeout(timeout?.total, 'timeout.total') ?? policy.totalTimeoutMs,
    retentionMs: retention === undefined ? policy.retentionMs : parseDuration(retention, 'retention'),
  }
}

function parseTimeout(value: Duration | undefined, field: string): number | undefined {
  return value === undefined ? undefined : parseDuration(value, field, 1)
}

function checkConcurrency(value: unknown, taskName: string): void {
  if (value === undefined || (Number.isInteger(value) && (value as number) >= 1)) return
  throw invalidInput('concurrency', `concurrency of task '${taskName}' must be a whole number of at least 1.`)
}
