/**
 * The argument of `ctx.waitFor`: a condition in the kernel's form, its timeout, and how to build the answer from the signals
 * that met it. Made by `signal`, `approval` and `when`.
 */
import type { Instant } from '../../kernel/model/base-records.ts'
import type { Amounts } from '../../kernel/model/budget-schema.ts'
import type { ConditionNode, SourceType, TimeoutBehaviour } from '../../kernel/model/journal-schema.ts'

/** A signal as a handler receives it. */
export interface ReceivedSignal<Value = unknown> {
  readonly name: string
  /** The waitpoint that it was sent to; undefined if it was sent to the execution by its name. */
  readonly waitpoint: string | undefined
  readonly value: Value
  /** The sender: the principal of a signed link, or the name that a trusted program passed. */
  readonly by: { readonly type: SourceType; readonly identity: string }
  readonly at: Instant
  /** Its number among all signals of the execution. */
  readonly sequence: number
}

/** How a wait ended, with the signals that counted, in order of arrival. */
export interface WaitOutcome {
  readonly how: 'satisfied' | 'operator' | 'timed_out'
  readonly by: string | undefined
  readonly reason: string | undefined
  readonly at: Instant
  readonly signals: readonly ReceivedSignal[]
  /** Of the question of a budget: what an approval adds to it. */
  readonly asks?: Amounts | undefined
}

/** The parts of a wait that are stored. */
export interface WaitPlan {
  readonly nodes: readonly ConditionNode[]
  /** Waitpoints that the wait opens itself. */
  readonly opens: readonly string[]
  readonly reason: string
  readonly timeoutMs: number | undefined
  /** The wait ends when its waitpoint expires, by the store's clock, instead of by a timeout. */
  readonly untilExpiry?: boolean
  readonly onTimeout: TimeoutBehaviour
  readonly remindEveryMs: number | undefined
  readonly resumeDelayMs: number | undefined
  readonly asks?: Amounts
}

/** Marks waitables. The same symbol in every copy of the library. */
export const WAITABLE: unique symbol = Symbol.for('flowfabric.waitable')

/** A condition that a handler can wait for. Made by `signal`, `approval`, `when` and `ctx.waitpoint`, never by hand. */
export interface Waitable<Answer> {
  readonly [WAITABLE]: {
    /** The name of the wait if the handler passes none. */
    readonly name?: string
    /** `name` is the name of the wait, numbered if the handler uses it again. */
    readonly plan: (name: string) => WaitPlan
    /** Asynchronous because schemas may be. */
    readonly answer: (outcome: WaitOutcome) => Promise<Answer>
  }
}

/** A waitable that names its wait: a signal by its name, a waitpoint or an approval `on` one by its key. */
export interface NamedWaitable<Answer> extends Waitable<Answer> {
  readonly [WAITABLE]: Waitable<Answer>[typeof WAITABLE] & { readonly name: string }
}
