/** A handle for one execution: its result, its state, and the operations on it. */
import type { Explanation, ExecutionId, PublicState } from '../../kernel/index.ts'
import { EngineError } from '../../kernel/engine-error.ts'
import type { ContinueOrderOptions, DescribedParts, ReplayOptions } from './execution-calls.ts'
import type { CancelOptions } from './cancel-options.ts'
import type { ChildSummary, ExecutionDescription } from './description.ts'
import { ExecutionEndedError } from '../define/errors.ts'
import type { ResumeOptions, SignalReceipt, SignalSendOptions } from '../journal/journal-calls.ts'
import { boolean, shape, unchecked } from '../../options/shape.ts'
import { checkSignal, invalidInput, show } from '../checks/names.ts'
import type { SubscribeOptions, SubscriptionItem } from '../events/subscription.ts'
import type { FrameSchemas } from '../define/frames.ts'
import { framesOptions, logsOptions, summaryOptions } from '../streams/stream-calls.ts'
import type { Streams, Summary, SummaryOptions } from '../streams/stream-calls.ts'
import type { FrameItem, FramesOptions } from '../streams/read-frames.ts'
import type { LogItem, LogsOptions } from '../streams/read-logs.ts'
import type { AnySignals, AnyTask } from '../define/task.ts'
import { validate } from '../define/validation.ts'
import { SealedValue } from '../../stores/opened-value.ts'
import { waitForEnd } from '../events/await-end.ts'
import type { EndSource, WaitOptions } from '../events/await-end.ts'

/** The part of the client that a handle uses. */
export interface HandleClient extends EndSource {
  describe(id: ExecutionId, parts?: DescribedParts): Promise<ExecutionDescription>
  why(id: ExecutionId): Promise<{ readonly explanation: Explanation; readonly text: string }>
  cancel(
    id: ExecutionId,
    reason: string,
    options?: CancelOptions,
  ): Promise<'cancelled' | 'cancel_requested' | 'already_cancelled'>
  replay(id: ExecutionId, options?: ReplayOptions): Promise<void>
  continueOrder(id: ExecutionId, options?: ContinueOrderOptions): Promise<'order_continued' | 'order_not_held'>
  signal(id: ExecutionId, name: string, value?: unknown, options?: SignalSendOptions): Promise<SignalReceipt>
  resume(id: ExecutionId, options: ResumeOptions): Promise<void>
  children(id: ExecutionId): AsyncGenerator<ChildSummary, void, undefined>
  changePriority(id: ExecutionId, priority: number): Promise<void>
  setTags(id: ExecutionId, tags: Readonly<Record<string, string | undefined>>): Promise<void>
  /** @internal */
  eventsOf(id: ExecutionId, options: EventsOptions): AsyncGenerator<SubscriptionItem, void, undefined>
  /** @internal */
  readonly streams: Streams
}

export type EventsOptions = Pick<SubscribeOptions, 'signal' | 'fromStart' | 'cursor'>

const eventsOptions = shape<EventsOptions>()('{ fromStart: true }', {
  signal: checkSignal,
  fromStart: boolean,
  cursor: unchecked<string>(),
})

/**
 * The effect of a submit: the execution was created, joined, replaced or staged in a transaction that has yet to commit; or
 * it has a follow-up, which may have taken the place of another one.
 */
export type Created = 'created' | 'joined' | 'replaced' | 'staged' | 'follow_up' | 'follow_up_replaced'

/** The value is optional if it may be undefined. */
type SignalArguments<Value> = undefined extends Value
  ? [value?: Value, options?: SignalSendOptions]
  : [value: Value, options?: SignalSendOptions]

export class ExecutionHandle<Output = unknown, Signals = AnySignals, Frames extends FrameSchemas = FrameSchemas> {
  readonly id: ExecutionId
  /** Set by a submit. */
  readonly created: Created | undefined
  readonly #client: HandleClient
  readonly #task: AnyTask | undefined
  /** The digest of the input of a staged submit that joins only the same input. */
  readonly #digest: string | undefined
  /** Whether what a staged submit has started or joined was found. */
  #isRecognised = false

  constructor(client: HandleClient, id: ExecutionId, task?: AnyTask, created?: Created, digest?: string) {
    this.#client = client
    this.id = id
    this.#task = task
    this.created = created
    this.#digest = digest
  }

  /**
   * Waits for the end. Resolves with the handler's result; rejects with `ExecutionEndedError` on any other outcome. While a
   * follow-up is pending, the end is that of the follow-up. Rejects with `result_expired` if only the id is kept. If a staged
   * execution's transaction rolls back, this never settles: pass a signal.
   */
  async result(options: WaitOptions = {}): Promise<Output> {
    return await this.resultOf(await this.#end(options, { result: true }))
  }

  /**
   * Describes the execution, with its result if there is one.
   * @internal
   */
  describeResult(): Promise<ExecutionDescription> {
    return this.#client.describe(this.id, { result: true })
  }

  /**
   * Returns the result of an ended execution, or throws for any other outcome than `completed`.
   * @internal
   */
  async resultOf(ended: ExecutionDescription): Promise<Output> {
    if (ended.outcome !== 'completed') {
      throw new ExecutionEndedError(ended.outcome ?? 'failed', {
        executionId: this.id,
        state: ended.state,
        message: ended.failure?.message ?? ended.reason,
      })
    }
    if (ended.removed?.hadResult === true) throw new EngineError('result_expired', { executionId: this.id })
    if (ended.result instanceof SealedValue) throw new EngineError(ended.result.sealed, { executionId: this.id })
    return (await validate(this.#task?.outputSchema, ended.result, 'invalid_output', 'result')) as Output
  }

  /** Waits for the end, with any outcome. */
  wait(options: WaitOptions = {}): Promise<ExecutionDescription> {
    return this.#end(options)
  }

  async #checkSignal(name: string, value: unknown): Promise<void> {
    const schemas = this.#task?.signals ?? {}
    const known = Object.keys(schemas)
    if (this.#task === undefined || known.length === 0) return
    if (!known.includes(name)) {
      throw invalidInput(
        'signal name',
        `Task '${this.#task.name}' takes no signal ${show(name)}; it takes ${known.map((each) => `'${each}'`).join(', ')}.`,
      )
    }
    await validate(schemas[name], value, 'invalid_payload', name)
  }

  #end(options: WaitOptions, parts?: DescribedParts): Promise<ExecutionDescription> {
    let isExpected = this.created === 'staged'
    return waitForEnd(this.#client, this.id, options, async (news) => {
      const description = await this.#describeExisting(parts, isExpected && news !== 'ended')
      if (description !== undefined) isExpected = false
      return description?.outcome === undefined ? undefined : description
    })
  }

  /** Returns undefined while a staged execution does not exist yet. */
  async #describeExisting(
    parts: DescribedParts | undefined,
    isExpected: boolean,
  ): Promise<ExecutionDescription | undefined> {
    try {
      const description = await this.#client.describe(this.id, parts)
      if (this.created === 'staged' && !this.#isRecognised) {
        this.#refuseOther(description)
        // A later submit may give it another input.
        this.#isRecognised = true
      }
      return description
    } catch (error) {
      if (isExpected && error instanceof EngineError && error.code === 'execution_not_found') return undefined
      throw error
    }
  }

  /** A staged submit is refused after the commit: its caller learns of it here. */
  #refuseOther({ task, state, inputDigest }: ExecutionDescription): void {
    if (task !== this.#task?.name) throw new EngineError('execution_exists', { executionId: this.id, state })
    const isOther = this.#digest !== undefined && inputDigest !== undefined && inputDigest !== this.#digest
    if (isOther) throw new EngineError('input_differs', { executionId: this.id, state })
  }

  /** Until its transaction commits, a staged execution is not found, here and in the methods below. */
  describe(): Promise<ExecutionDescription> {
    return this.#client.describe(this.id)
  }

  async state(): Promise<PublicState> {
    return (await this.#client.describe(this.id, {})).state
  }

  /** Explains why it is not running, or what it is doing, as data and as text. */
  why(): Promise<{ readonly explanation: Explanation; readonly text: string }> {
    return this.#client.why(this.id)
  }

  cancel(
    reason = 'cancelled by its caller',
    options?: CancelOptions,
  ): Promise<'cancelled' | 'cancel_requested' | 'already_cancelled'> {
    return this.#client.cancel(this.id, reason, options)
  }

  /**
   * Sends a signal to the execution: to the mailbox of the signal's name, or to a waitpoint. A signal that arrives before its
   * wait is buffered. A value for a mailbox is validated with the task's schema for the name.
   *
   * @example
   * await execution.signal('paid', { amount: 12 }, { key: event.id })
   * await execution.signal('approve', undefined, { waitpoint: 'review', by: user.email })
   */
  signal<Name extends keyof Signals & string>(
    name: Name,
    ...rest: SignalArguments<Signals[Name]>
  ): Promise<SignalReceipt>
  signal(
    name: string,
    value: unknown,
    options: SignalSendOptions & { readonly waitpoint: string },
  ): Promise<SignalReceipt>
  async signal(name: string, value?: unknown, options?: SignalSendOptions): Promise<SignalReceipt> {
    // The task's schemas are those of mailboxes. A waitpoint takes any name, such as the votes of an approval.
    if (options?.waitpoint === undefined) await this.#checkSignal(name, value)
    return await this.#client.signal(this.id, name, value, options)
  }

  /** Ends its current wait with an operator's authority. The handler resumes and receives `resumed`. */
  resume(options: ResumeOptions): Promise<void> {
    return this.#client.resume(this.id, options)
  }

  /** Runs an ended execution again. */
  async replay(options?: ReplayOptions): Promise<void> {
    await this.#client.replay(this.id, options)
  }

  /** If it has failed and holds back later executions of its order: lets them run. */
  continueOrder(options?: ContinueOrderOptions): Promise<'order_continued' | 'order_not_held'> {
    return this.#client.continueOrder(this.id, options)
  }

  /** Yields the children that its handler has started, in that order. */
  children(): AsyncGenerator<ChildSummary, void, undefined> {
    return this.#client.children(this.id)
  }

  changePriority(priority: number): Promise<void> {
    return this.#client.changePriority(this.id, priority)
  }

  setTags(tags: Readonly<Record<string, string | undefined>>): Promise<void> {
    return this.#client.setTags(this.id, tags)
  }

  /**
   * Yields its frames: those that are kept, then new ones as they are written, until the execution ends. Says when a new attempt
   * begins, and how many frames were trimmed. Every item has a cursor, from which a later call continues without a gap or a
   * repetition, also after a retry and in another process.
   *
   * @example
   * for await (const item of execution.frames()) if (item.kind === 'frame') process.stdout.write(item.value)
   */
  frames<Name extends keyof Frames & string = keyof Frames & string>(
    options: FramesOptions<Name> = {},
  ): AsyncGenerator<FrameItem<Frames, Name>, void, undefined> {
    const frames = this.#client.streams.frames(this.id, this.#frameSchemas, framesOptions(options))
    return frames as AsyncGenerator<FrameItem<Frames, Name>, void, undefined>
  }

  /**
   * Yields the lines that its handlers wrote by `ctx.log`: those that are kept, then new ones, until the execution ends. New
   * lines are stored within a second, and with the end of a run.
   *
   * @example
   * for await (const line of execution.logs({ follow: false })) if (line.kind === 'line') console.log(line.message)
   */
  logs(options: LogsOptions = {}): AsyncGenerator<LogItem, void, undefined> {
    return this.#client.streams.logs(this.id, logsOptions(options))
  }

  get #frameSchemas(): FrameSchemas {
    return this.#task?.frames ?? {}
  }

  /** Returns the summary that its handler keeps; undefined before the first. */
  summary(): Promise<Summary | undefined> {
    return this.#client.streams.summary(this.id)
  }

  /** Yields the summary now and after changes, the latest version only, until the execution ends. */
  summaries(options: SummaryOptions = {}): AsyncGenerator<Summary, void, undefined> {
    return this.#client.streams.summaries(this.id, summaryOptions(options))
  }

  /** Yields its events as they are written, and ends after the event of its end; at once if it has ended before. */
  events(options: EventsOptions = {}): AsyncGenerator<SubscriptionItem, void, undefined> {
    return this.#client.eventsOf(this.id, eventsOptions(options))
  }
}
