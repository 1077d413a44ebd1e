/** What a handler is given besides its input. */
import type { ExecutionId, FlowId, Instant } from '../../kernel/model/base-records.ts'
import type { AttemptKind } from '../../kernel/model/records.ts'
import type { Log } from '../../runtime/log.ts'
import type { Duration } from './duration.ts'
import type { MemberFlow } from './member-flow.ts'
import type { Tags } from '../checks/names.ts'
import type { RetryOptions } from './retry.ts'
import type { SignalAnswer } from './signal-wait.ts'
import type { AnyInputs } from './upstreams.ts'
import type { Waitable } from './waitable.ts'

export interface ProgressReport {
  /** From 0 to 100. */
  readonly percent?: number
  readonly message?: string
}

export interface StepOptions {
  /** How often and when the step alone is tried again. Without it, a failure is the handler's to catch. */
  readonly retry?: RetryOptions
  /** How long one try may take. */
  readonly timeout?: Duration
}

/** What the work of a step knows. */
export interface StepContext {
  /** As it is recorded: a name that was said before has a number behind it. */
  readonly name: string
  /** Counts the tries of this step, from 1 on. */
  readonly attempt: number
  /** The same for every try of this step: hand it to services that recognise repeated requests. */
  readonly idempotencyKey: string
  /** Aborts when that of the handler does, and when the step runs out of time. */
  readonly signal: AbortSignal
}

/** Work whose value is kept. What it returns has to be JSON, bytes or undefined. */
export type StepFunction<Value> = (step: StepContext) => Promise<Value> | Value

export interface WaitpointOptions {
  /** How long it takes signals, whether or not the handler has come to wait for them. */
  readonly expires?: Duration
}

export interface TokenOptions {
  /** Whom the token is made for. Its signals come from this principal, so that one holder cannot be two voters. */
  readonly for?: string
  /** How long it is good, at most as long as its key. */
  readonly expires?: Duration
  /** Only signals of these names may be sent with it. */
  readonly names?: readonly string[]
}

/** A place for signals that the handler has opened. Waited for as it is, it answers the first signal that comes. */
export interface HandlerWaitpoint extends Waitable<SignalAnswer> {
  readonly key: string
  readonly id: string
  /** Rises when tokens are issued anew, which makes those of before worthless. */
  readonly generation: number
  readonly isOpen: boolean
  readonly expiresAt: Instant | undefined
  /** A signed text that lets whoever holds it send signals here, and nowhere else. */
  readonly token: (options?: TokenOptions) => string
}

/** What a handler knows of the execution it runs, and how it speaks back. */
export interface TaskContext<Inputs = AnyInputs> {
  readonly executionId: ExecutionId
  readonly key: string | undefined
  readonly task: string
  readonly lane: string
  readonly namespace: string
  readonly tags: Tags
  /** Counts from 1 over the whole life of the execution, replays included. */
  readonly attempt: number
  readonly attemptKind: AttemptKind
  /** Failed attempts before this one, since the submit or the last replay. */
  readonly failureCount: number
  /** The same for every attempt: hand it to services that recognise repeated requests. */
  readonly idempotencyKey: string
  /** The flow that the execution is a member of, and its name there. */
  readonly flowId: FlowId | undefined
  readonly node: string | undefined
  /** The results of those that the execution waited for, by name. Those of an upstream that did not complete are absent. */
  readonly inputs: Inputs
  /** The flow from inside: adds members to it, and waits for them. Outside a flow its methods are refused. */
  readonly flow: MemberFlow
  /** Aborts when the lease is lost, a cancel is wished, the attempt runs out of time, the worker stops or the execution is parked. */
  readonly signal: AbortSignal
  /** When the attempt runs out of time, in milliseconds since the epoch by this machine's clock. */
  readonly deadlineAt: number | undefined
  readonly log: Log
  /** Says how far the work has come. Reports in quick succession are merged, the last one is never lost; a long message is cut. */
  readonly progress: (report: number | ProgressReport, message?: string) => Promise<void>
  /**
   * Has something called if this run of the handler ends by being parked: what follows the wait, a `finally` included, then
   * does not run, and what the handler has opened is to be closed here. The latest is called first.
   */
  readonly onPark: (cleanUp: () => Promise<void> | void) => void
  /**
   * Does something once: its value is stored, and answered from there whenever the handler runs again. A name that is said
   * again is numbered in the order of the calls. What failed, and was not to be tried again, throws a `StepFailedError`.
   *
   * @example
   * const receipt = await ctx.step('charge', { retry: { attempts: 5 } }, (step) => charge(order, step.idempotencyKey))
   */
  readonly step: {
    <Value>(name: string, run: StepFunction<Value>): Promise<Value>
    <Value>(name: string, options: StepOptions, run: StepFunction<Value>): Promise<Value>
  }
  /** Rests without holding a worker. */
  readonly sleep: (name: string, duration: Duration) => Promise<void>
  /**
   * Waits without holding a worker, and answers how the wait ended. Waits of one handler come one after the other.
   *
   * @example
   * const paid = await ctx.waitFor('payment', signal('paid', { timeout: '1h' }))
   */
  readonly waitFor: <Answer>(name: string, waitable: Waitable<Answer>) => Promise<Answer>
  /** Opens a place for signals ahead of the wait for them, so that links to it can be handed out. The same key is the same place. */
  readonly waitpoint: (key: string, options?: WaitpointOptions) => Promise<HandlerWaitpoint>
  /** The time, by the store's clock; the same whenever the handler runs again. */
  readonly now: (name?: string) => Promise<Instant>
  /** A fraction in [0, 1) that is the same whenever the handler runs again. Nothing is stored for it. */
  readonly random: (name?: string) => number
}
