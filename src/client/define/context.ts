/** The context that a handler receives besides its input. */
import type { StandardSchemaV1 } from '@standard-schema/spec'
import type { ExecutionId, FlowId, Instant } from '../../kernel/model/base-records.ts'
import type { AttemptKind } from '../../kernel/model/records.ts'
import type { Log } from '../../runtime/log.ts'
import type { Spending } from './budget.ts'
import type { ChildCalls } from './children.ts'
import type { Duration } from './duration.ts'
import type { FrameCalls, FrameSchemas, InboxMessage, SignalSchemas, SummaryCalls } from './frames.ts'
import type { Jsonify } from './jsonify.ts'
import type { LimitDefinition, LimitedOptions } from './limit.ts'
import type { MemberFlow } from './member-flow.ts'
import type { Tags } from '../checks/names.ts'
import type { StepRetryOptions } from './retry.ts'
import type { SignalAnswer } from './signal-wait.ts'
import type { AnyInputs } from './upstreams.ts'
import type { NamedWaitable, Waitable } from './waitable.ts'

export interface ProgressReport {
  /** From 0 to 100. */
  readonly percent?: number
  readonly message?: string
}

export interface StepOptions {
  /** How the step alone is retried. Without it, a failure is thrown to the handler. */
  readonly retry?: StepRetryOptions
  /** The time limit of one try. */
  readonly timeout?: Duration
}

/** The context of one try of a step. */
export interface StepContext<Frames extends FrameSchemas = FrameSchemas> {
  /** The recorded name. A name that is used again gets a number appended. */
  readonly name: string
  /** The number of this try, from 1. */
  readonly attempt: number
  /** The same for every try of this step. Pass it to services that deduplicate requests. */
  readonly idempotencyKey: string
  /** Aborts with the handler's signal, and when the step times out. */
  readonly signal: AbortSignal
  /** Streams frames. Those of a step that is recorded are not written again; another try of the step writes further ones. */
  readonly frames: FrameCalls<Frames>
  /** Changes the summary of the execution. */
  readonly summary: SummaryCalls
  /** Records what was spent. Without a key, each call of each try counts. */
  readonly spend: (spending: Spending, options?: SpendOptions) => Promise<SpendReceipt>
  /**
   * Reserves amounts before an expensive call. A budget without room that asks for an approval parks the execution, and the step
   * runs again afterwards.
   */
  readonly reserve: (spending: Spending, options?: SpendOptions) => Promise<BudgetReservation>
}

export interface SpendOptions {
  /** Identifies the call within its execution and its budgets. Another call with the same key counts nothing. */
  readonly key?: string
}

/** A limit that was passed. */
export interface BudgetOverrun {
  readonly budget: string
  readonly key: string
  readonly dimension: string
  readonly spent: number
  readonly limit: number
}

export interface SpendReceipt {
  /** `already_spent`: a call with the same key has counted before. */
  readonly kind: 'spent' | 'already_spent'
  /** The hard limits that are passed now. */
  readonly hard: readonly BudgetOverrun[]
  /** The soft limits that are passed now. */
  readonly soft: readonly BudgetOverrun[]
}

/** Amounts that are held until they are settled or released, or until the worker dies. */
export interface BudgetReservation {
  /** Replaces the reserved amounts by what was really spent, which may be more. Idempotent. */
  readonly settle: (spending: Spending) => Promise<SpendReceipt>
  /** Gives the reserved amounts back. No-op after a settle. */
  readonly release: () => Promise<void>
}

/** Work whose result is stored. It must return JSON, bytes or undefined. */
export type StepFunction<Value, Frames extends FrameSchemas = FrameSchemas> = (
  step: StepContext<Frames>,
) => Promise<Value> | Value

export interface WaitpointOptions {
  /** How long the waitpoint accepts signals, whether or not the handler waits for them yet. */
  readonly expires?: Duration
}

export interface TokenOptions {
  /** The principal of the token. Its signals are sent in this name, so one holder cannot vote twice. */
  readonly for?: string
  /** How long the token is valid, at most as long as its key. */
  readonly expires?: Duration
  /** The names of signals that may be sent with it. All unless given. */
  readonly names?: readonly string[]
}

/** A waitpoint that the handler has opened. As a waitable, it is met by the first signal. */
export interface HandlerWaitpoint extends NamedWaitable<SignalAnswer> {
  readonly key: string
  readonly id: string
  /** Incremented when tokens are reissued, which invalidates earlier ones. */
  readonly generation: number
  readonly isOpen: boolean
  readonly expiresAt: Instant | undefined
  /** Issues a signed token. Its holder can send signals to this waitpoint only. */
  readonly token: (options?: TokenOptions) => string
}

/** The execution that a handler runs, and the durable calls it can make. */
export interface TaskContext<
  Inputs = AnyInputs,
  Frames extends FrameSchemas = FrameSchemas,
  Signals extends SignalSchemas = SignalSchemas,
> extends ChildCalls {
  readonly executionId: ExecutionId
  readonly key: string | undefined
  readonly task: string
  /** The version of the task at the submit. */
  readonly version: number | undefined
  readonly lane: string
  readonly namespace: string
  readonly tags: Tags
  /** Counts from 1 over the whole life of the execution, replays included. */
  readonly attempt: number
  readonly attemptKind: AttemptKind
  /** Failed attempts before this one, since the submit or the last replay. */
  readonly failureCount: number
  /** The same for every attempt. Pass it to services that deduplicate requests. */
  readonly idempotencyKey: string
  /** The flow that the execution is a member of, and its name there. */
  readonly flowId: FlowId | undefined
  readonly node: string | undefined
  /** The results of the execution's upstreams, by name. An upstream that did not complete has none. */
  readonly inputs: Inputs
  /** Adds members to the flow of the execution, and waits for them. Refused outside a flow. */
  readonly flow: MemberFlow
  /** Aborts when the lease is lost, a cancel is requested, the attempt times out, the worker stops or the execution parks. */
  readonly signal: AbortSignal
  /** When the attempt times out, in milliseconds since the epoch by this machine's clock. */
  readonly deadlineAt: number | undefined
  readonly log: Log
  /** Reports progress. Frequent reports are coalesced, and the last one is always stored. A long message is truncated. */
  readonly progress: (report: number | ProgressReport, message?: string) => Promise<void>
  /**
   * Streams frames to those who read `execution.frames()`.
   *
   * @example
   * await ctx.frames.token('Hello')
   * await ctx.frames.pipe('token', model.stream(prompt, { signal: ctx.signal }))
   */
  readonly frames: FrameCalls<Frames>
  /** Changes the summary of the execution, which `execution.summary()` returns and `execution.summaries()` follows. */
  readonly summary: SummaryCalls
  /**
   * Yields the signals that are sent to the execution by a name, as they arrive, while the handler runs. A message is taken when
   * the next one is asked for: then no later run gets it. A message that was not taken comes again in the next attempt.
   *
   * @example
   * for await (const message of ctx.inbox('say')) await ctx.step(`reply ${message.sequence}`, () => reply(message.value))
   */
  readonly inbox: <Name extends keyof Signals & string>(
    name: Name,
  ) => AsyncGenerator<InboxMessage<StandardSchemaV1.InferOutput<Signals[Name]>>, void, undefined>
  /**
   * Registers a callback for the case that this run of the handler is parked. Code after the wait, including `finally`, then
   * does not run, so release resources here. Callbacks run in reverse order.
   */
  readonly onPark: (cleanUp: () => Promise<void> | void) => void
  /**
   * Runs a function once and stores its result. Later runs of the handler return the stored result. A name that is used
   * again is numbered in call order. The result is what JSON makes of it, in the first run too. Throws a `StepFailedError` once no retry is left.
   *
   * @example
   * const receipt = await ctx.step('charge', { retry: { attempts: 5 } }, (step) => charge(order, step.idempotencyKey))
   */
  readonly step: {
    <Value>(name: string, run: StepFunction<Value, Frames>): Promise<Jsonify<Value>>
    <Value>(name: string, options: StepOptions, run: StepFunction<Value, Frames>): Promise<Jsonify<Value>>
  }
  /**
   * Registers an undo function. Unless the execution completes, all registered ones run after the handler, the last
   * registered first, each recorded as a step: after a cancel, a deadline, or a failure that is not retried. Every run of
   * the handler registers them again, so register before or right after the step. Resolves once it is stored that there is one.
   *
   * @example
   * const { booking } = await ctx.step('book', (s) => hotel.book(trip, s.idempotencyKey))
   * await ctx.compensate('cancel the booking', { retry: { attempts: 10 } }, () => hotel.cancel(booking))
   */
  readonly compensate: {
    (name: string, run: StepFunction<unknown, Frames>): Promise<void>
    (name: string, options: StepOptions, run: StepFunction<unknown, Frames>): Promise<void>
  }
  /**
   * Holds back a key of a limit for all workers, after a response that asks to retry later, and throws a `PostponeError`: the same
   * attempt runs again when the key is free, and is not counted as failed.
   *
   * @example
   * if (response.status === 429) await ctx.limited(openai, { key: input.tenant, retryAfter: '20s' })
   */
  readonly limited: (limit: LimitDefinition | string, options: LimitedOptions) => Promise<never>
  /**
   * Records what was spent, in all budgets of the execution. Never refused: it has happened. Idempotent per key; calls without one
   * are numbered in their order, so that each counts once however often the handler runs.
   *
   * @example
   * await ctx.spend({ tokens: 1200, cost: usd(0.03) }, { key: 'search' })
   */
  readonly spend: (spending: Spending, options?: SpendOptions) => Promise<SpendReceipt>
  /**
   * Reserves amounts in all budgets of the execution before an expensive call, in all dimensions or none. Throws a
   * `BudgetExceededError` if one has no room, unless that budget waits for an approval or cancels the execution.
   *
   * @example
   * const reserved = await ctx.reserve({ tokens: 4_000 }, { key: 'draft' })
   * const { text, usage } = await model.complete(prompt, { signal: ctx.signal })
   * await reserved.settle({ tokens: usage.total })
   */
  readonly reserve: (spending: Spending, options?: SpendOptions) => Promise<BudgetReservation>
  /** Sleeps without occupying a worker. */
  readonly sleep: (name: string, duration: Duration) => Promise<void>
  /**
   * Sleeps until a date, by the clock of the machine that first reaches this line. A date in the past is no sleep. The sleep is
   * named `sleepUntil` unless a name is given.
   */
  readonly sleepUntil: {
    (date: Date): Promise<void>
    (name: string, date: Date): Promise<void>
  }
  /**
   * Waits without occupying a worker, and resolves with how the wait ended. A handler waits for one thing at a time. The wait
   * takes its name from a signal or a waitpoint unless a name is given.
   *
   * @example
   * const paid = await ctx.waitFor(signal('paid', { timeout: '1h' }))
   * const review = await ctx.waitFor('review', approval({ need: 2 }))
   */
  readonly waitFor: {
    <Answer>(waitable: NamedWaitable<Answer>): Promise<Answer>
    <Answer>(name: string, waitable: Waitable<Answer>): Promise<Answer>
  }
  /** Opens a waitpoint before waiting for it, so that links to it can be sent out. Idempotent per key. */
  readonly waitpoint: (key: string, options?: WaitpointOptions) => Promise<HandlerWaitpoint>
  /** The time by the store's clock. The same in every run of the handler. */
  readonly now: (name?: string) => Promise<Instant>
  /** A random number in [0, 1). The same in every run of the handler. Nothing is stored for it. */
  readonly random: (name?: string) => number
}
