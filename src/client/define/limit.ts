/**
 * Defines a limit that all workers share: a rate over a sliding window, a cap on what runs at once, or both. Tasks and submits
 * refer to it; its key and its weight are functions of the input, evaluated when an execution is submitted.
 */
import { EXECUTION_LIMIT_MAX, LIMIT_COUNT_MAX } from '../../kernel/limits.ts'
import type { Rate } from '../../kernel/model/limit-schema.ts'
import type { LimitRef } from '../../kernel/model/records.ts'
import { oneOf, required, shape, wholeNumber } from '../../options/shape.ts'
import { checkKey, checkList, checkTaskName, invalidInput, show, wrongValue } from '../checks/names.ts'
import { parseDuration } from './duration.ts'
import type { Duration } from './duration.ts'

/** So much may start in any interval of this length. */
export interface RateOptions {
  readonly count: number
  readonly per: Duration
}

/** At least one rate or a cap. A rate admits weight, which is 1 for each execution unless the limit is used with another. */
export interface LimitOptions {
  readonly perSecond?: number
  readonly perMinute?: number
  readonly perHour?: number
  readonly perDay?: number
  /** A rate over any other interval: `{ count: 10, per: '15s' }`. */
  readonly rate?: RateOptions
  /** How many executions of one key may run at once, over all workers. */
  readonly concurrency?: number
}

/** The checked options. */
export interface LimitTerms {
  readonly rate: Rate | undefined
  readonly concurrency: number | undefined
}

/** What a task does with a limit. A function gets the input of the submit. */
export interface UseOptions<Input> {
  /** Whose use is counted, such as a tenant or a model. Without it, all use is counted together. */
  readonly key?: string | ((input: Input) => string)
  /** What one execution weighs in the rate, such as its tokens: 1 unless given. It takes one slot of the cap in any case. */
  readonly weight?: number | ((input: Input) => number)
  /** `drop` ends an execution that has never started as skipped, instead of letting it wait for a permit. */
  readonly newest?: 'drop'
  /** `cancel` requests the cancel of the execution that holds the key for longest, and waits for its permit. Needs a cap. */
  readonly previous?: 'cancel'
}

/** A use of a limit by a task or a submit. */
export interface LimitUse<Input = never> {
  readonly definition: LimitDefinition
  readonly options: UseOptions<Input>
}

/** A limit. As a use of itself, it counts all executions together, with a weight of 1 each. */
export interface LimitDefinition extends LimitUse<unknown> {
  readonly name: string
  readonly terms: LimitTerms
  /**
   * Uses the limit with a key and a weight.
   *
   * @example
   * task('summarise', { limits: [openai.for({ key: (input: Job) => input.tenant, weight: (input: Job) => input.tokens })] })
   */
  for<Input = unknown>(options: UseOptions<Input>): LimitUse<Input>
}

/** How long a key is held back for all workers. */
export interface LimitedOptions {
  /** The key that the execution itself uses, unless given. */
  readonly key?: string
  /** What the service asked for, such as its header `retry-after`. At most a day. */
  readonly retryAfter: Duration
}

/** The uses of a task, whatever its input. */
export type AnyLimitUse = LimitUse

const RATE_PERIOD_MAX_MS = 31 * 86_400_000

const count = wholeNumber(1, LIMIT_COUNT_MAX)

const limitOptions = shape<LimitOptions>()('{ perMinute: 400, concurrency: 50 }', {
  perSecond: count,
  perMinute: count,
  perHour: count,
  perDay: count,
  rate: shape<RateOptions>()("{ count: 10, per: '15s' }", { count: required(count), per: required(checkPeriod) }),
  concurrency: count,
})

const PERIODS = { perSecond: 1_000, perMinute: 60_000, perHour: 3_600_000, perDay: 86_400_000 } as const

const useOptions = shape<UseOptions<never>>()("{ key: 'acme', weight: 2 }", {
  key: (value, field) => (typeof value === 'function' ? value : checkKey(value, field)),
  weight: (value, field) => (typeof value === 'function' ? value : checkWeight(value, field)),
  newest: oneOf<'drop'>(['drop']),
  previous: oneOf<'cancel'>(['cancel']),
})

/** Marks limits and their uses. The same symbol in every copy of the library. */
const USE_MARK = Symbol.for('flowfabric.limit')

/**
 * Defines a limit that all workers share.
 *
 * @example
 * const openai = limit('openai', { perMinute: 400, concurrency: 50 })
 * const summarise = task<{ text: string }, string>('summarise', { limits: [openai] })
 */
export function limit(name: string, options: LimitOptions): LimitDefinition {
  checkTaskName(name, 'limit name')
  const terms = limitTerms(options, `the options of limit '${name}'`)
  return definitionOf(name, terms)
}

/** Refers to a limit that is defined elsewhere, for callers whose keys and weights were evaluated before. Declares nothing. */
export function limitReference(name: string): LimitDefinition {
  checkTaskName(name, 'limit name')
  return definitionOf(name, NO_TERMS)
}

function definitionOf(name: string, terms: LimitTerms): LimitDefinition {
  const made: { definition?: LimitDefinition } & Omit<LimitDefinition, 'definition'> = {
    name,
    terms,
    options: {},
    for: (given) => useOf(definition, given),
  }
  const definition = Object.assign(made, { definition: made as LimitDefinition })
  return mark(definition)
}

/** Whether a definition has no terms of its own, but stands for one that the store has. */
export function isLimitReference({ terms }: LimitDefinition): boolean {
  return terms === NO_TERMS
}

const NO_TERMS: LimitTerms = { rate: undefined, concurrency: undefined }

/** Returns the name of a limit that is given by its definition or its name. */
export function limitName(limit: LimitDefinition | string): string {
  return typeof limit === 'string' ? limit : limit.name
}

/** Checks the options of a limit. Any change of it takes the same ones. */
export function limitTerms(options: unknown, field = 'options'): LimitTerms {
  const { rate, concurrency, ...rest } = limitOptions(options, field)
  const rates: Rate[] = rate === undefined ? [] : [{ count: rate.count, windowMs: rate.per }]
  for (const [name, windowMs] of Object.entries(PERIODS)) {
    const given = rest[name as keyof typeof PERIODS]
    if (given !== undefined) rates.push({ count: given, windowMs })
  }
  if (rates.length > 1) {
    throw invalidInput(field, `${field} has ${rates.length} rates, but a limit has one. Define a limit for each rate.`)
  }
  if (rates.length === 0 && concurrency === undefined) {
    throw invalidInput(field, `${field} has neither a rate nor a concurrency, so nothing would be limited.`)
  }
  return { rate: rates[0], concurrency }
}

/** Checks the list of limits of a task or a submit. */
export function checkLimitUses(value: unknown, field: string): readonly AnyLimitUse[] {
  checkList(value, field)
  if (value.length > EXECUTION_LIMIT_MAX) throw tooMany(value.length, field)
  return value.map((use) => {
    if (isUse(use)) return use
    throw invalidInput(field, `${field} contains ${show(use)}, which neither limit(…) nor its for(…) returned.`)
  })
}

/** Returns the limits that an execution needs, with the keys and weights of its input, in the order in which permits are taken. */
export function limitRefsOf(uses: readonly AnyLimitUse[], input: unknown): readonly LimitRef[] | undefined {
  if (uses.length === 0) return undefined
  if (uses.length > EXECUTION_LIMIT_MAX) throw tooMany(uses.length, 'limits')
  const refs = uses.map((use) => refOf(use, input)).sort(compareRefs)
  for (const [i, ref] of refs.entries()) {
    const next = refs[i + 1]
    if (next === undefined || compareRefs(ref, next) !== 0) continue
    throw invalidInput(
      'limits',
      `limits names the limit '${ref.limit}' twice${ref.key === '' ? '' : ` with the key '${ref.key}'`}: an execution takes one permit of a key. Give the weights in one use.`,
    )
  }
  return refs
}

/** Ascending by name and key: all executions take their permits in the same order. */
export function compareRefs(a: Pick<LimitRef, 'limit' | 'key'>, b: Pick<LimitRef, 'limit' | 'key'>): number {
  if (a.limit !== b.limit) return a.limit < b.limit ? -1 : 1
  if (a.key !== b.key) return a.key < b.key ? -1 : 1
  return 0
}

function useOf<Input>(definition: LimitDefinition, given: UseOptions<Input>): LimitUse<Input> {
  const field = `the use of limit '${definition.name}'`
  const { newest, previous } = useOptions(given, field)
  if (newest !== undefined && previous !== undefined) {
    throw invalidInput(field, `${field} has both newest and previous, of which only one can decide who gives way.`)
  }
  if (previous !== undefined && definition.terms.concurrency === undefined && !isLimitReference(definition)) {
    throw invalidInput(
      field,
      `${field} has previous: 'cancel', but the limit has no concurrency: a cancel frees no permit of a rate.`,
    )
  }
  return mark({ definition, options: given })
}

function refOf({ definition, options }: AnyLimitUse, input: unknown): LimitRef {
  const { name } = definition
  const { key, weight = 1, newest, previous } = options as UseOptions<unknown>
  return {
    limit: name,
    key: key === undefined ? '' : checkKey(typeof key === 'function' ? key(input) : key, `key of limit '${name}'`),
    weight: checkWeight(typeof weight === 'function' ? weight(input) : weight, `weight of limit '${name}'`),
    instead: newest ?? previous,
    budget: undefined,
  }
}

function mark<U extends AnyLimitUse>(use: U): U {
  return Object.defineProperty(use, USE_MARK, { value: true })
}

function isUse(value: unknown): value is AnyLimitUse {
  return typeof value === 'object' && value !== null && USE_MARK in value
}

function tooMany(given: number, field: string): Error {
  return invalidInput(field, `${field} has ${given} limits, but one execution has at most ${EXECUTION_LIMIT_MAX}.`)
}

function checkPeriod(value: unknown, field: string): number {
  const ms = parseDuration(value, field, 1)
  if (ms <= RATE_PERIOD_MAX_MS) return ms
  throw invalidInput(field, `${field} is ${ms} ms, but must be at most ${RATE_PERIOD_MAX_MS} ms, which is 31 days.`)
}

function checkWeight(value: unknown, field: string): number {
  if (Number.isInteger(value) && (value as number) >= 0 && (value as number) <= LIMIT_COUNT_MAX) return value as number
  throw wrongValue(field, value, `a whole number from 0 to ${LIMIT_COUNT_MAX}`)
}
