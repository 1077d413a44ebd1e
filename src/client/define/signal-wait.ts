/** Waiting for one signal, and what a handler is told once the wait is over. */
import type { StandardSchemaV1 } from '@standard-schema/spec'
import { optionKeys } from '../checks/exhaustive.ts'
import { mailboxOf } from '../../kernel/rules/journal-ids.ts'
import type { Instant } from '../../kernel/model/base-records.ts'
import type { SourceType } from '../../kernel/model/journal-records.ts'
import { EngineError } from '../../kernel/engine-error.ts'
import { checkSenders, layFlat, singleLeaf } from './condition-draft.ts'
import type { ConditionDraft } from './condition-draft.ts'
import { checkOptions } from '../checks/names.ts'
import { checkSignalName } from '../checks/signal-names.ts'
import { checkSchema, validate } from './validation.ts'
import { WAITABLE } from './waitable.ts'
import type { WaitOutcome, Waitable } from './waitable.ts'
import { WAIT_SETTING_KEYS, parseWaitSettings } from './wait-options.ts'
import type { WaitSettings } from './wait-options.ts'

/** Who sent a signal or ended a wait. */
export interface Sender {
  readonly type: SourceType
  readonly identity: string
}

/** A wait that ended without what it was for. `resumed`: an operator ended it. */
export type Unanswered =
  | { readonly ok: false; readonly reason: 'timed_out'; readonly at: Instant }
  | {
      readonly ok: false
      readonly reason: 'resumed'
      readonly at: Instant
      readonly by: Sender
      /** Why, in the operator's words. */
      readonly note: string | undefined
    }

export type SignalAnswer<Value = unknown> =
  | { readonly ok: true; readonly value: Value; readonly name: string; readonly by: Sender; readonly at: Instant }
  | Unanswered
  /** A signal came whose value the schema refuses. Waiting again under the same name waits for the next one. */
  | {
      readonly ok: false
      readonly reason: 'invalid_value'
      readonly message: string
      readonly value: unknown
      readonly name: string
      readonly by: Sender
      readonly at: Instant
    }

export interface SignalOptions<S extends StandardSchemaV1 = StandardSchemaV1> extends WaitSettings {
  /** What the signal's value is checked with when the handler is given it. */
  readonly schema?: S
  /** Whose signals count; anybody's if left out. */
  readonly from?: readonly string[]
}

const SIGNAL_KEYS = optionKeys<SignalOptions>()(['schema', 'from', ...WAIT_SETTING_KEYS])

/** What can be waited for by itself and as a part of `when`. */
export const CONDITION: unique symbol = Symbol('flowfabric.condition')

export interface ConditionPart {
  readonly [CONDITION]: {
    readonly draft: ConditionDraft
    /** Options of a part that only a wait of its own can have. */
    readonly ownOptions: readonly string[]
  }
}

/** A wait for one signal by its name. */
export interface SignalWait<Value = unknown> extends Waitable<SignalAnswer<Value>>, ConditionPart {}

/**
 * A signal that is sent to the execution by its name, by a program or an operator. One that came before the wait is kept
 * for it; what is not waited for yet is kept for the next wait of that name.
 *
 * @example
 * const paid = await ctx.waitFor('payment', signal('paid', { schema: z.object({ amount: z.number() }), timeout: '1h' }))
 * if (!paid.ok) return 'unpaid'
 */
export function signal<Value = unknown>(
  name: string,
  options?: Omit<SignalOptions, 'schema'> & { readonly schema?: never },
): SignalWait<Value>
export function signal<S extends StandardSchemaV1>(
  name: string,
  options: SignalOptions<S> & { readonly schema: S },
): SignalWait<StandardSchemaV1.InferOutput<S>>
export function signal(name: string, options: SignalOptions = {}): SignalWait {
  checkSignalName(name, 'signal name')
  checkOptions(options, SIGNAL_KEYS, "{ schema, timeout: '1h' }")
  const { schema, from, ...settings } = options
  checkSchema(schema, 'schema')
  const draft = singleLeaf(mailboxOf(name), name, checkSenders(from, 'from'))
  const plan = { nodes: layFlat(draft), opens: [], reason: 'signal', ...parseWaitSettings(settings) }
  return {
    [WAITABLE]: { plan: () => plan, answer: (outcome) => answerSignal(outcome, schema) },
    [CONDITION]: { draft, ownOptions: ownOptionsOf(options) },
  }
}

/** Options that say something, apart from whose signals count. */
export function ownOptionsOf(options: SignalOptions): string[] {
  return Object.entries(options).flatMap(([key, value]) => (key === 'from' || value === undefined ? [] : [key]))
}

/** The answer of a wait that one signal meets. */
export async function answerSignal(outcome: WaitOutcome, schema?: StandardSchemaV1): Promise<SignalAnswer> {
  const unanswered = unansweredOf(outcome)
  if (unanswered !== undefined) return unanswered
  const received = outcome.signals.at(-1)
  if (received === undefined) throw new EngineError('corruption', { message: 'A wait was met by no signal.' })
  const { name, by, at } = received
  const checked = await checkValue(schema, name, received.value)
  if (checked.isValid) return { ok: true, value: checked.value, name, by, at }
  return { ok: false, reason: 'invalid_value', message: checked.message, value: received.value, name, by, at }
}

/** Undefined for a wait that was met. */
export function unansweredOf({ how, at, by, reason }: WaitOutcome): Unanswered | undefined {
  switch (how) {
    case 'satisfied':
      return undefined
    case 'timed_out':
      return { ok: false, reason: 'timed_out', at }
    case 'operator':
      return { ok: false, reason: 'resumed', at, by: { type: 'operator', identity: by ?? '' }, note: reason }
  }
}

/** What a schema makes of a signal's value, or what it says against it. */
export async function checkValue(
  schema: StandardSchemaV1 | undefined,
  field: string,
  value: unknown,
): Promise<
  { readonly isValid: true; readonly value: unknown } | { readonly isValid: false; readonly message: string }
> {
  try {
    return { isValid: true, value: await validate(schema, value, 'invalid_payload', field) }
  } catch (error) {
    if (!(error instanceof EngineError) || error.code !== 'invalid_payload') throw error
    return { isValid: false, message: error.detail.message ?? error.message }
  }
}
