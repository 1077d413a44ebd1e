/** Waits for one signal, and the answer that the handler receives. */
import type { StandardSchemaV1 } from '@standard-schema/spec'
import { shape } from '../../options/shape.ts'
import { mailboxOf } from '../../kernel/rules/journal-ids.ts'
import type { Instant } from '../../kernel/model/base-records.ts'
import type { SourceType } from '../../kernel/model/journal-schema.ts'
import { EngineError } from '../../kernel/engine-error.ts'
import { checkSenders, flattenCondition, singleLeaf } from './condition-draft.ts'
import type { ConditionDraft } from './condition-draft.ts'
import type { Jsonify } from './jsonify.ts'
import { checkSignalName } from '../checks/signal-names.ts'
import { checkSchema, validate } from './validation.ts'
import { WAITABLE } from './waitable.ts'
import type { NamedWaitable, WaitOutcome } from './waitable.ts'
import { timingOf, waitSettings } from './wait-options.ts'
import type { WaitSettings } from './wait-options.ts'

/** The sender of a signal, or the operator who ended a wait. */
export interface Sender {
  readonly type: SourceType
  readonly identity: string
}

/** A wait that ended without being met. `resumed`: an operator ended it. */
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
  /** The value of the signal does not match the schema. Waiting again under the same name waits for the next signal. */
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
  /** Validates the signal's value before the handler receives it. */
  readonly schema?: S
  /** The senders whose signals count. All unless given. */
  readonly from?: readonly string[]
}

const signalOptions = shape<SignalOptions>()("{ schema, timeout: '1h' }", {
  ...waitSettings.checks,
  schema: checkSchema,
  from: checkSenders,
})

/** Marks a waitable that can also be a part of `when`. The same symbol in every copy of the library. */
export const CONDITION: unique symbol = Symbol.for('flowfabric.condition')

export interface ConditionPart {
  readonly [CONDITION]: {
    readonly draft: ConditionDraft
    /** Options that a part of a condition may not have. */
    readonly ownOptions: readonly string[]
  }
}

/** A wait for one signal by its name. */
export interface SignalWait<Value = unknown> extends NamedWaitable<SignalAnswer<Value>>, ConditionPart {}

/**
 * Waits for a signal that is sent to the execution by its name. Signals that arrive earlier are buffered for the next wait
 * for that name.
 *
 * @example
 * const paid = await ctx.waitFor(signal('paid', { schema: z.object({ amount: z.number() }), timeout: '1h' }))
 * if (!paid.ok) return 'unpaid'
 */
export function signal<Value = unknown>(
  name: string,
  options?: Omit<SignalOptions, 'schema'> & { readonly schema?: never },
): SignalWait<Jsonify<Value>>
export function signal<S extends StandardSchemaV1>(
  name: string,
  options: SignalOptions<S> & { readonly schema: S },
): SignalWait<StandardSchemaV1.InferOutput<S>>
export function signal(name: string, options: SignalOptions = {}): SignalWait {
  checkSignalName(name, 'signal name')
  const { schema, from, ...settings } = signalOptions(options)
  const draft = singleLeaf(mailboxOf(name), name, from)
  const plan = { nodes: flattenCondition(draft), opens: [], reason: 'signal', ...timingOf(settings) }
  return {
    [WAITABLE]: { name, plan: () => plan, answer: (outcome) => answerSignal(outcome, schema) },
    [CONDITION]: { draft, ownOptions: ownOptionsOf(options) },
  }
}

/** The options that are set, except `from`. */
export function ownOptionsOf(options: object): string[] {
  return Object.entries(options).flatMap(([key, value]) => (key === 'from' || value === undefined ? [] : [key]))
}

/** Returns the answer of a wait that one signal meets. */
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

/** Returns undefined for a wait that was met. */
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

/** Validates a signal's value, and returns the parsed value or the error. */
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
