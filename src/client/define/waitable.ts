/**
 * What a handler can wait for, as it is handed to `ctx.waitFor`: a condition in the kernel's own form, how long and what
 * then, and how the answer is made from the signals that met it. `signal`, `approval` and `when` make such values.
 */
import type { Instant } from '../../kernel/model/base-records.ts'
import type { ConditionNode, SourceType, TimeoutBehaviour } from '../../kernel/model/journal-records.ts'

/** A signal as a handler sees it. */
export interface ReceivedSignal<Value = unknown> {
  readonly name: string
  /** The waitpoint that it was sent to; undefined if it was sent to the execution by its name. */
  readonly waitpoint: string | undefined
  readonly value: Value
  /** Who sent it: the holder of a signed link, or whom a program with access to the store named. */
  readonly by: { readonly type: SourceType; readonly identity: string }
  readonly at: Instant
  /** Its number among all signals of the execution. */
  readonly sequence: number
}

/** How a wait ended, with the signals that counted, in the order of their arrival. */
export interface WaitOutcome {
  readonly how: 'satisfied' | 'operator' | 'timed_out'
  readonly by: string | undefined
  readonly reason: string | undefined
  readonly at: Instant
  readonly signals: readonly ReceivedSignal[]
}

/** All that the store has to know of a wait. */
export interface WaitPlan {
  readonly nodes: readonly ConditionNode[]
  /** Waitpoints that the wait opens itself. */
  readonly opens: readonly string[]
  readonly reason: string
  readonly timeoutMs: number | undefined
  /** Instead of a time of its own, it lasts as long as its waitpoint was opened for, by the store's clock. */
  readonly untilExpiry?: boolean
  readonly onTimeout: TimeoutBehaviour
  readonly remindEveryMs: number | undefined
  readonly resumeDelayMs: number | undefined
}

export const WAITABLE: unique symbol = Symbol('flowfabric.waitable')

/** Something a handler can wait for. Made by `signal`, `approval`, `when` and `ctx.waitpoint`, never by hand. */
export interface Waitable<Answer> {
  readonly [WAITABLE]: {
    /** `name` is that of the wait: numbered if the handler says it again. */
    readonly plan: (name: string) => WaitPlan
    /** May look at values with schemas, so it is asynchronous. */
    readonly answer: (outcome: WaitOutcome) => Promise<Answer>
  }
}
