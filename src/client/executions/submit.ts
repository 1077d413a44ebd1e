/** Builds the input of `createExecution` from a task, an input and options. Everything is checked before anything is sent. */
import { oneOf, shape, unchecked } from '../../options/shape.ts'
import { PAYLOAD_BYTES, fairClass } from '../../kernel/index.ts'
import type { CreateInput, ExecutionId, IfExists, LimitRef } from '../../kernel/index.ts'
import type { TransactionHandle } from '../../stores/store.ts'
import { msUntil, parseDuration } from '../define/duration.ts'
import type { Duration } from '../define/duration.ts'
import { checkKey, checkTags, invalidInput } from '../checks/names.ts'
import type { Tags } from '../checks/names.ts'
import { encodeValue } from '../checks/payload.ts'
import { fairnessOf } from '../define/fairness.ts'
import { budgetRefsOf, checkBudgetUses } from '../define/budget.ts'
import type { AnyBudgetUse, BudgetUse } from '../define/budget.ts'
import { checkLimitUses, limitRefsOf } from '../define/limit.ts'
import type { AnyLimitUse, LimitUse } from '../define/limit.ts'
import type { DeclaredLimits } from '../limits/declared-limits.ts'
import type { CallCodec } from '../../stores/call-codec.ts'
import { storedKey } from '../../kernel/model/limit-keys.ts'
import { digestOfInput } from './input-digest.ts'
import { canonicalList, classWithNeeds } from './canonical-needs.ts'
import type { Placed } from './fair-placement.ts'
import { shapingOf, shapingOptions } from '../define/shaping.ts'
import type { ShapingOptions } from '../define/shaping.ts'
import { overridePolicy, taskSettings } from '../define/task-settings.ts'
import type { TaskSettings } from '../define/task-settings.ts'
import { checkTask } from '../define/task.ts'
import type { AnyTask } from '../define/task.ts'
import { validate } from '../define/validation.ts'

export interface SubmitOptions extends TaskSettings, ShapingOptions {
  /** Your own id. Idempotent: submitting twice with one id starts one execution. */
  readonly id?: string
  /**
   * What to do if the id exists, whatever the input: `join` returns the existing execution, `reject` refuses, `replace`
   * starts a new one in its place, and `after` runs it once more with this input when its present run has ended. If absent,
   * the same input joins, and another input is refused with `input_differs`.
   */
  readonly ifExists?: IfExists
  /**
   * How long after its end the id stays taken, at least the retention, which is the default. After the retention only the
   * id is kept, not the result.
   */
  readonly dedupe?: Duration
  /** The delay before it may run, or the date from which it may run, by the clock of this machine. The past is no delay. */
  readonly delay?: Duration | Date
  readonly tags?: Tags
  /** Further limits that it needs permits of, besides those of its task: `[openai.for({ key: 'acme' })]`. */
  readonly limits?: readonly LimitUse<unknown>[]
  /** Further budgets that it spends, besides those of its task: `[tenants.for({ key: 'acme' })]`. */
  readonly budgets?: readonly BudgetUse<unknown>[]
  /**
   * On Postgres: your own transaction in the store's database, such as a `pg` client after its `begin`. The execution is
   * started after your commit, and never if you roll back.
   */
  readonly tx?: TransactionHandle
}

/** How far a delay may lie in the past: tolerates skewed clocks, refuses nonsense. */
const PAST_DELAY_MAX_MS = 31_557_600_000

export const submitOptions = shape<SubmitOptions>()("{ id: 'order:17', delay: '5s' }", {
  ...taskSettings.checks,
  id: checkKey,
  ifExists: oneOf<IfExists>({ join: true, reject: true, replace: true, after: true }),
  dedupe: parseDuration,
  delay: (value, field) => parseDuration(value, field, -PAST_DELAY_MAX_MS),
  tags: unchecked<Tags>(),
  limits: checkLimitUses,
  budgets: checkBudgetUses,
  tx: unchecked<TransactionHandle>(),
  ...shapingOptions,
})

export type ParsedSubmit = ReturnType<typeof submitOptions>

export interface SubmitItem {
  readonly task: AnyTask
  readonly input: unknown
  readonly options?: SubmitOptions
}

export interface PreparedSubmit {
  readonly input: CreateInput
  readonly blobs: readonly Uint8Array[]
}

export interface SubmitSetting {
  readonly namespace: string
  readonly indexedTags: readonly string[]
  /** Absent if the input is only checked, and not submitted. */
  readonly limits?: DeclaredLimits | undefined
  /** Budgets of the parent or the flow that it spends too. */
  readonly inherited?: readonly LimitRef[] | undefined
  /** The span that the submit belongs to. */
  readonly trace?: string | undefined
  readonly codec?: CallCodec | undefined
}

interface SubmitIds {
  /** A function if the id depends on what is submitted. */
  readonly executionId: ExecutionId | ((placed: Placed) => ExecutionId)
  readonly requestId: string | undefined
}

/** Returns a promise only if the task has a schema, or a limit that the process uses for the first time. */
export function prepareSubmit(
  { task, input, options = {} }: SubmitItem,
  ids: SubmitIds,
  setting: SubmitSetting,
): PreparedSubmit | Promise<PreparedSubmit> {
  return prepareParsed({ task, input, options: submitOptions(options) }, ids, setting)
}

interface ParsedItem extends Omit<SubmitItem, 'options'> {
  readonly options: ParsedSubmit
}

/** Like `prepareSubmit`, for options that were parsed before. */
export function prepareParsed(
  item: ParsedItem,
  ids: SubmitIds,
  setting: SubmitSetting,
): PreparedSubmit | Promise<PreparedSubmit> {
  const { inputSchema } = checkTask(item.task)
  if (inputSchema === undefined) return withLimits(item, ids, setting)
  return validate(inputSchema, item.input, 'invalid_payload', 'input').then(() => withLimits(item, ids, setting))
}

/** The limits are in the store before the execution that needs them. */
function withLimits(
  item: ParsedItem,
  ids: SubmitIds,
  setting: SubmitSetting,
): PreparedSubmit | Promise<PreparedSubmit> {
  const prepared = assemble(item, ids, setting)
  if (prepared.input.limits === undefined) return prepared
  const limits = setting.limits?.declare(limitUsesOf(item.task, item.options.limits))
  const budgets = setting.limits?.budgets.declare(budgetUsesOf(item.task, item.options.budgets))
  // Both are waited for from now on: either may fail first.
  return limits === undefined && budgets === undefined ? prepared : Promise.all([limits, budgets]).then(() => prepared)
}

function assemble(item: ParsedItem, ids: SubmitIds, setting: SubmitSetting): PreparedSubmit {
  const { task, options } = item
  const policy = overridePolicy(task.policy, options)
  const needs = canonicalList(policy.needs, 'needs')
  const shaping = shapingOf(options)
  // Inputs of shaped submits are not offloaded.
  const larger = shaping === undefined ? (setting.codec?.maxBytes ?? 0) : 0
  const payload = encodeValue(item.input, 'input', Math.max(PAYLOAD_BYTES, larger))
  const fairness = fairnessOf(task.fairness, item.input)
  const taskClass = classWithNeeds(task, setting.namespace, needs)
  const className = fairness === undefined ? taskClass : fairClass(taskClass)
  const placed = { lane: policy.lane, class: className, priority: policy.priority, fairness }
  const input: CreateInput = {
    executionId: typeof ids.executionId === 'function' ? ids.executionId(placed) : ids.executionId,
    key: options.id,
    requestId: ids.requestId,
    namespace: setting.namespace,
    task: task.name,
    version: task.version,
    ...placed,
    needs: needs.length === 0 ? undefined : needs,
    tags: checkTags(options.tags, setting.indexedTags),
    retry: policy.retry,
    delayMs: options.delay,
    attemptTimeoutMs: policy.attemptTimeoutMs,
    totalTimeoutMs: policy.totalTimeoutMs,
    compensationTimeoutMs: policy.compensationTimeoutMs,
    retentionMs: policy.retentionMs,
    retentions: policy.retentions,
    dedupeMs: dedupeOf(options.id, options.dedupe),
    payload: payload?.input,
    digest: options.id === undefined ? undefined : digestOfInput(payload, setting.codec),
    limits: permitsOf(item, setting),
    ifExists: options.ifExists,
    trace: setting.trace,
    shaping,
  }
  return { input, blobs: payload === undefined ? [] : [payload.bytes] }
}

/** The limits that it needs permits of, and the budgets that must have room. */
function permitsOf(
  { task, options, input }: ParsedItem,
  { namespace, inherited = [] }: SubmitSetting,
): CreateInput['limits'] {
  const refs = limitRefsOf(limitUsesOf(task, options.limits), input)
  const limits = refs?.map((ref) => ({ ...ref, key: storedKey({ namespace, key: ref.key }) }))
  const uses = budgetUsesOf(task, options.budgets)
  if (uses.length === 0 && inherited.length === 0) return limits
  return [...(limits ?? []), ...budgetRefsOf(uses, input, inherited)]
}

/** The budgets of a task and of a submit. Tasks of earlier versions of the library have none. */
export function budgetUsesOf(task: AnyTask, added: readonly AnyBudgetUse[] = []): readonly AnyBudgetUse[] {
  const own = (task.budgets as readonly AnyBudgetUse[] | undefined) ?? []
  return added.length === 0 ? own : [...own, ...added]
}

/** The limits of a task and of a submit. Tasks of earlier versions of the library have none. */
export function limitUsesOf(task: AnyTask, added: readonly AnyLimitUse[] = []): readonly AnyLimitUse[] {
  const own = (task.limits as readonly AnyLimitUse[] | undefined) ?? []
  return added.length === 0 ? own : [...own, ...added]
}

/** Without an id there is no other submit to recognise. */
export function dedupeOf(id: string | undefined, dedupe: number | undefined): number | undefined {
  if (dedupe === undefined || id !== undefined) return dedupe
  throw invalidInput('dedupe', 'dedupe says how long an id stays taken, so it needs an id.')
}

/** Converts the date of a delay into the time until then. Options that are no object are left to their check. */
export function resolveDelay(options: SubmitOptions, now: number): SubmitOptions {
  const delay: unknown = (options as SubmitOptions | null)?.delay
  return delay instanceof Date ? { ...options, delay: msUntil(delay, now, 'delay') } : options
}
