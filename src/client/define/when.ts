/**
 * Conditions over several signals: all of them, any of them, or a number of them. Conditions nest. Each part counts
 * independently, so one signal may meet several parts.
 */
import { oneOf, shape } from '../../options/shape.ts'
import type { Instant } from '../../kernel/model/base-records.ts'
import type { CountBy } from '../../kernel/model/journal-schema.ts'
import { keyOf } from './approval.ts'
import type { WaitpointReference } from './approval.ts'
import { checkSenders, flattenCondition, singleLeaf } from './condition-draft.ts'
import type { ConditionDraft } from './condition-draft.ts'
import { checkList, invalidInput } from '../checks/names.ts'
import { checkSignalName } from '../checks/signal-names.ts'
import { CONDITION, ownOptionsOf, unansweredOf } from './signal-wait.ts'
import type { ConditionPart, Sender, Unanswered } from './signal-wait.ts'
import { WAITABLE } from './waitable.ts'
import type { ReceivedSignal, WaitOutcome, Waitable } from './waitable.ts'
import { timingOf, waitSettings } from './wait-options.ts'
import type { WaitSettings } from './wait-options.ts'

/** A part of a condition: a signal by its name, any signal at a waitpoint, or another condition. */
export type Part = ConditionPart | WaitpointReference

/** The signals that counted, in order of arrival. */
export type ConditionAnswer =
  | { readonly ok: true; readonly signals: readonly ReceivedSignal[]; readonly at: Instant }
  | (Unanswered & { readonly signals: readonly ReceivedSignal[] })

/** A condition that is waited for, or a part of another condition. */
export interface ConditionWait extends Waitable<ConditionAnswer>, ConditionPart {}

export interface CountOptions extends WaitSettings {
  /** The name of the signals that count. Any name unless given. */
  readonly name?: string
  /**
   * What is counted: waitpoints that received a signal (the default), distinct senders, or signals.
   */
  readonly by?: Exclude<CountBy, 'once'>
  /** The senders whose signals count. All unless given. */
  readonly from?: readonly string[]
}

const countOptions = shape<CountOptions>()("{ name: 'approve', by: 'sources' }", {
  ...waitSettings.checks,
  name: checkSignalName,
  by: oneOf<NonNullable<CountOptions['by']>>({ waitpoints: true, sources: true, signals: true }),
  from: checkSenders,
})

export type OperatorAnswer =
  | { readonly ok: true; readonly by: Sender; readonly note: string | undefined; readonly at: Instant }
  | { readonly ok: false; readonly reason: 'timed_out'; readonly at: Instant }

/**
 * Conditions over several signals.
 *
 * @example
 * const ready = await ctx.waitFor('ready', when.every([signal('paid'), when.either([signal('packed'), courier])], { timeout: '2d' }))
 */
export const when = {
  /** Met once all parts are met. */
  every(parts: readonly Part[], settings: WaitSettings = {}): ConditionWait {
    return group('every', parts, settings)
  },

  /** Met once one part is met. */
  either(parts: readonly Part[], settings: WaitSettings = {}): ConditionWait {
    return group('either', parts, settings, 1)
  },

  /** Met once the given number has been counted at these places. */
  count(need: number, places: readonly Part[], options: CountOptions = {}): ConditionWait {
    const { name, by = 'waitpoints', from = [], ...settings } = countOptions(options)
    checkList(places, 'places')
    const draft: ConditionDraft = { kind: 'leaf', need, by, name, from, targets: places.map(placeOf) }
    return conditionWait(draft, settings)
  },

  /** Met by no signal: an operator has to resume the execution. */
  operator(settings: WaitSettings = {}): Waitable<OperatorAnswer> {
    const timing = timingOf(waitSettings(settings))
    const root = { kind: 'operator', parent: undefined, need: 1, by: 'once', name: undefined } as const
    const nodes = [{ ...root, from: [], targets: [] }]
    const plan = { nodes, opens: [], reason: 'operator_review', ...timing }
    return { [WAITABLE]: { plan: () => plan, answer: (outcome) => Promise.resolve(answerOperator(outcome)) } }
  },
} as const

/** All parts are needed unless a number is given. */
function group(word: string, parts: readonly Part[], settings: WaitSettings, need?: number): ConditionWait {
  checkList(parts, `the parts of when.${word}`)
  return conditionWait(
    { kind: 'group', need: need ?? parts.length, parts: parts.map((part, i) => draftOf(part, i, word)) },
    waitSettings(settings),
  )
}

function conditionWait(draft: ConditionDraft, settings: ReturnType<typeof waitSettings>): ConditionWait {
  const plan = { nodes: flattenCondition(draft), opens: [], reason: 'signal', ...timingOf(settings) }
  return {
    [WAITABLE]: { plan: () => plan, answer: (outcome) => Promise.resolve(answerCondition(outcome)) },
    [CONDITION]: { draft, ownOptions: ownOptionsOf(settings) },
  }
}

function draftOf(part: Part, index: number, word: string): ConditionDraft {
  const field = `when.${word}[${index}]`
  if (!isConditionPart(part)) return singleLeaf(placeKey(part, field), undefined)
  const { draft, ownOptions } = part[CONDITION]
  if (ownOptions.length === 0) return draft
  throw invalidInput(
    field,
    `${field} has ${ownOptions.join(', ')} of its own, which a part of a condition cannot have. Set the timeout on the outermost condition, and check values in the handler.`,
  )
}

/** The place at which a count looks for a signal or waitpoint. */
function placeOf(part: Part, index: number): string {
  const field = `when.count[${index}]`
  if (!isConditionPart(part)) return placeKey(part, field)
  const draft = draftOf(part, index, 'count')
  const target = draft.kind === 'leaf' && draft.by === 'once' && draft.from.length === 0 ? draft.targets[0] : undefined
  if (target !== undefined) return target
  throw invalidInput(
    field,
    `${field} is a condition of its own, but when.count counts at places: name waitpoints or signals, and limit the senders with { from }.`,
  )
}

function placeKey(part: unknown, field: string): string {
  if (isWaitOfItsOwn(part)) {
    throw invalidInput(
      field,
      `${field} is a wait with an answer of its own, such as an approval or an operator's: wait for it by itself, or count its signals with when.count(2, [waitpoint], { name: 'approve', by: 'sources' }).`,
    )
  }
  return keyOf(part, field)
}

function isConditionPart(part: unknown): part is ConditionPart {
  return typeof part === 'object' && part !== null && CONDITION in part
}

function isWaitOfItsOwn(part: unknown): boolean {
  return typeof part === 'object' && part !== null && WAITABLE in part && !('key' in part)
}

function answerCondition(outcome: WaitOutcome): ConditionAnswer {
  const { signals, at } = outcome
  const unanswered = unansweredOf(outcome)
  return unanswered === undefined ? { ok: true, signals, at } : { ...unanswered, signals }
}

function answerOperator(outcome: WaitOutcome): OperatorAnswer {
  const { at, by, reason } = outcome
  if (outcome.how === 'timed_out') return { ok: false, reason: 'timed_out', at }
  return { ok: true, by: { type: 'operator', identity: by ?? '' }, note: reason, at }
}
