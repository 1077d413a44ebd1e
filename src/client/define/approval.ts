/** Approvals: a wait that ends once enough people send `approve`, or one sends `reject`. */
import type { StandardSchemaV1 } from '@standard-schema/spec'
import { boolean, shape, wholeNumber } from '../../options/shape.ts'
import type { Instant } from '../../kernel/model/base-records.ts'
import { checkSenders, flattenCondition } from './condition-draft.ts'
import type { ConditionDraft } from './condition-draft.ts'
import { invalidInput, wrongValue } from '../checks/names.ts'
import { checkWaitpointKey } from '../checks/signal-names.ts'
import type { Jsonify } from './jsonify.ts'
import { checkValue, unansweredOf } from './signal-wait.ts'
import type { Sender } from './signal-wait.ts'
import { checkSchema } from './validation.ts'
import { WAITABLE } from './waitable.ts'
import type { NamedWaitable, WaitOutcome, WaitPlan, Waitable } from './waitable.ts'
import { timingOf, waitSettings } from './wait-options.ts'
import type { WaitSettings } from './wait-options.ts'

/** The names of the signals that are votes. */
export const APPROVE = 'approve'
export const REJECT = 'reject'
/** The reason of an approval that was given no other. */
export const APPROVAL_REASON = 'approval'

/** A waitpoint that a handler has opened, by its key. */
export interface WaitpointReference {
  readonly key: string
}

export interface ApprovalOptions<S extends StandardSchemaV1 = StandardSchemaV1> extends WaitSettings {
  /** How many must approve; 1 unless given. */
  readonly need?: number
  /** The identities that may vote, as their links or programs state them. Other votes do not count. */
  readonly of?: readonly string[]
  /** False counts every vote, including several by one person. Otherwise only the first vote of a person counts. */
  readonly distinct?: boolean
  /** How many rejections decide against it; 1 unless given. */
  readonly rejections?: number
  /** Validates the value of each approving vote before the handler receives it. */
  readonly answer?: S
  /** The waitpoint that votes are sent to, opened earlier so that links could be sent out. Without it, the wait opens one. */
  readonly on?: WaitpointReference
}

const approvalOptions = shape<ApprovalOptions>()("{ need: 2, of: ['ada', 'bob', 'eve'], timeout: '3d' }", {
  ...waitSettings.checks,
  need: wholeNumber(1),
  of: checkSenders,
  distinct: boolean,
  rejections: wholeNumber(1),
  answer: checkSchema,
  on: keyOf,
})

/** One vote: its sender, its value and its time. */
export interface Vote<Value = unknown> {
  readonly verdict: typeof APPROVE | typeof REJECT
  readonly by: Sender
  readonly at: Instant
  readonly value: Value
}

interface Unapproved {
  readonly ok: false
  /** The votes that counted, in order of arrival, unvalidated. */
  readonly votes: readonly Vote[]
  readonly at: Instant
}

export type ApprovalAnswer<Value = unknown> =
  | {
      readonly ok: true
      /** The approving votes, in order of arrival. */
      readonly votes: readonly Vote<Value>[]
      readonly at: Instant
    }
  | (Unapproved & { readonly reason: 'rejected' | 'timed_out' })
  /** An operator ended the wait without a decision. */
  | (Unapproved & { readonly reason: 'resumed'; readonly by: Sender; readonly note: string | undefined })
  /** Enough approved, but the value of one vote does not match the schema. */
  | (Unapproved & { readonly reason: 'invalid_answer'; readonly message: string })

/**
 * Waits until enough people have approved, or too many have rejected. Each person counts once, by the identity in their
 * signed link or the name that a trusted program passes.
 *
 * @example
 * const review = await ctx.waitFor('review', approval({ need: 2, of: ['ada', 'bob', 'eve'], timeout: '3d', remind: '1d' }))
 * if (!review.ok) throw new PermanentError(`review ${review.reason}`)
 */
export function approval<Value = unknown>(
  options: Omit<ApprovalOptions, 'answer'> & { readonly answer?: never; readonly on: WaitpointReference },
): NamedWaitable<ApprovalAnswer<Jsonify<Value>>>
export function approval<S extends StandardSchemaV1>(
  options: ApprovalOptions<S> & { readonly answer: S; readonly on: WaitpointReference },
): NamedWaitable<ApprovalAnswer<StandardSchemaV1.InferOutput<S>>>
export function approval<Value = unknown>(
  options?: Omit<ApprovalOptions, 'answer'> & { readonly answer?: never },
): Waitable<ApprovalAnswer<Jsonify<Value>>>
export function approval<S extends StandardSchemaV1>(
  options: ApprovalOptions<S> & { readonly answer: S },
): Waitable<ApprovalAnswer<StandardSchemaV1.InferOutput<S>>>
export function approval(options: ApprovalOptions = {}): Waitable<ApprovalAnswer> {
  const { need = 1, of: voters = [], distinct: isDistinct = true, ...rest } = approvalOptions(options)
  const { rejections = 1, answer, on: key, ...settings } = rest
  checkVotes(need, 'need', isDistinct ? voters : [])
  checkVotes(rejections, 'rejections', isDistinct ? voters : [])
  const timing = timingOf(settings)
  const plan = (name: string): WaitPlan => {
    const target = key ?? checkWaitpointKey(name, 'name of the wait')
    const count = (verdict: string, votes: number): ConditionDraft => ({
      kind: 'leaf',
      need: votes,
      by: isDistinct ? 'sources' : 'signals',
      name: verdict,
      from: voters,
      targets: [target],
      ...(isDistinct ? { isExclusive: true } : {}),
    })
    const nodes = flattenCondition({ kind: 'group', need: 1, parts: [count(APPROVE, need), count(REJECT, rejections)] })
    return { nodes, opens: key === undefined ? [target] : [], reason: APPROVAL_REASON, ...timing }
  }
  // Reports invalid options now rather than when a handler waits.
  plan(APPROVE)
  return {
    [WAITABLE]: {
      ...(key === undefined ? {} : { name: key }),
      plan,
      answer: (outcome) => answerApproval(outcome, answer),
    },
  }
}

/** Returns the key of a waitpoint that a handler has opened. */
export function keyOf(waitpoint: unknown, field: string): string {
  if (typeof waitpoint === 'object' && waitpoint !== null && 'key' in waitpoint) {
    return checkWaitpointKey(waitpoint.key, `${field}.key`)
  }
  throw wrongValue(field, waitpoint, 'a waitpoint that ctx.waitpoint(…) returned')
}

function checkVotes(count: number, field: string, voters: readonly string[]): void {
  if (voters.length === 0 || count <= voters.length) return
  throw invalidInput(
    field,
    `${field} is ${count}, but \`of\` names only ${voters.length}: ask more people, or lower ${field}.`,
  )
}

async function answerApproval(outcome: WaitOutcome, schema: StandardSchemaV1 | undefined): Promise<ApprovalAnswer> {
  const { at } = outcome
  const votes = votesOf(outcome)
  const unanswered = unansweredOf(outcome)
  if (unanswered !== undefined) return { ...unanswered, votes }
  // The last signal met the condition. The recorded wait may have needed other numbers than the handler passes now.
  if (outcome.signals.at(-1)?.name !== APPROVE) return { ok: false, reason: 'rejected', votes, at }
  const approvals = votes.filter((vote) => vote.verdict === APPROVE)
  const checked: Vote[] = []
  for (const vote of approvals) {
    const result = await checkValue(schema, vote.by.identity, vote.value)
    if (!result.isValid) return { ok: false, reason: 'invalid_answer', message: result.message, votes, at }
    checked.push({ ...vote, value: result.value })
  }
  return { ok: true, votes: checked, at }
}

/** The engine's own timeout signal is not a vote. */
function votesOf({ signals }: WaitOutcome): Vote[] {
  return signals.flatMap(({ name, by, at, value }) => {
    return name === APPROVE || name === REJECT ? [{ verdict: name, by, at, value }] : []
  })
}
