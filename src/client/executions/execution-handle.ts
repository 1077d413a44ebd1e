/** One handle for one execution: its result, its state, and what can be done to it. */
import type { Explanation, ExecutionId, PublicState } from '../../kernel/index.ts'
import { EngineError } from '../../kernel/engine-error.ts'
import type { DescribedParts, ReplayOptions } from './execution-calls.ts'
import type { CancelOptions } from './cancel-options.ts'
import type { ExecutionDescription } from './description.ts'
import { ExecutionEndedError } from '../define/errors.ts'
import type { ResumeOptions, SignalReceipt, SignalSendOptions } from '../journal/journal-calls.ts'
import { invalidInput, show } from '../checks/names.ts'
import type { SubscribeOptions, SubscriptionItem } from '../events/subscription.ts'
import type { AnySignals, AnyTask } from '../define/task.ts'
import { validate } from '../define/validation.ts'
import { waitForEnd } from '../events/await-end.ts'
import type { EndSource, WaitOptions } from '../events/await-end.ts'

/** What a handle needs of the client that made it. */
export interface HandleClient extends EndSource {
  describe(id: ExecutionId, parts?: DescribedParts): Promise<ExecutionDescription>
  why(id: ExecutionId): Promise<{ readonly explanation: Explanation; readonly text: string }>
  cancel(
    id: ExecutionId,
    reason: string,
    options?: CancelOptions,
  ): Promise<'cancelled' | 'cancel_requested' | 'already_cancelled'>
  replay(id: ExecutionId, options?: ReplayOptions): Promise<void>
  signal(id: ExecutionId, name: string, value?: unknown, options?: SignalSendOptions): Promise<SignalReceipt>
  resume(id: ExecutionId, options: ResumeOptions): Promise<void>
  changePriority(id: ExecutionId, priority: number): Promise<void>
  setTags(id: ExecutionId, tags: Readonly<Record<string, string | undefined>>): Promise<void>
  subscribe(options: SubscribeOptions): AsyncGenerator<SubscriptionItem, void, undefined>
}

/** What a submit did: started the execution, met one that existed, or left it in a transaction that has yet to commit. */
export type Created = 'created' | 'joined' | 'replaced' | 'staged'

/** A value that may be undefined may be left out. */
type SignalArguments<Value> = undefined extends Value
  ? [value?: Value, options?: SignalSendOptions]
  : [value: Value, options?: SignalSendOptions]

export class ExecutionHandle<Output = unknown, Signals = AnySignals> {
  readonly id: ExecutionId
  /** Set by a submit. */
  readonly created: Created | undefined
  readonly #client: HandleClient
  readonly #task: AnyTask | undefined

  constructor(client: HandleClient, id: ExecutionId, task?: AnyTask, created?: Created) {
    this.#client = client
    this.id = id
    this.#task = task
    this.created = created
  }

  /**
   * Waits for the end. Resolves with the handler's result; rejects with `ExecutionEndedError` on any other outcome. What is
   * staged is waited for until it exists, and for ever if its transaction rolls back: pass a signal.
   */
  async result(options: WaitOptions = {}): Promise<Output> {
    return await this.resultOf(await this.#end(options, { result: true }))
  }

  /**
   * Looks once, with the result if there is one.
   * @internal
   */
  describeResult(): Promise<ExecutionDescription> {
    return this.#client.describe(this.id, { result: true })
  }

  /**
   * What an end means to whoever waits for the result.
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
    return (await validate(this.#task?.outputSchema, ended.result, 'invalid_output', 'result')) as Output
  }

  /** Waits for the end, whatever it is. */
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
      const description = await this.#look(parts, isExpected && news !== 'ended')
      if (description !== undefined) isExpected = false
      return description?.outcome === undefined ? undefined : description
    })
  }

  /** Undefined while it does not exist, if it is expected to. */
  async #look(parts: DescribedParts | undefined, isExpected: boolean): Promise<ExecutionDescription | undefined> {
    try {
      const description = await this.#client.describe(this.id, parts)
      if (this.created === 'staged') this.#refuseOther(description)
      return description
    } catch (error) {
      if (isExpected && error instanceof EngineError && error.code === 'execution_not_found') return undefined
      throw error
    }
  }

  /** A submit cannot join the execution of another task, and one that was staged is told so here at last. */
  #refuseOther({ task, state }: ExecutionDescription): void {
    if (task === this.#task?.name) return
    throw new EngineError('execution_exists', { executionId: this.id, state })
  }

  /** What is staged is not found before it exists, here and in everything below. */
  describe(): Promise<ExecutionDescription> {
    return this.#client.describe(this.id)
  }

  async state(): Promise<PublicState> {
    return (await this.#client.describe(this.id, {})).state
  }

  /** Why it is not running, or what it is doing: facts, and a sentence. */
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
   * Tells the execution something, by the signal's name. What comes before its handler waits for it is kept. A value is
   * checked with the schema that its task has for the name.
   *
   * @example
   * await execution.signal('paid', { amount: 12 }, { key: event.id })
   */
  async signal<Name extends keyof Signals & string>(
    name: Name,
    ...[value, options]: SignalArguments<Signals[Name]>
  ): Promise<SignalReceipt> {
    await this.#checkSignal(name, value)
    return await this.#client.signal(this.id, name, value, options)
  }

  /** Ends the wait that it is in, with an operator's authority: its handler goes on and is told so. */
  resume(options: ResumeOptions): Promise<void> {
    return this.#client.resume(this.id, options)
  }

  /** Runs an ended execution again. */
  async replay(options?: ReplayOptions): Promise<void> {
    await this.#client.replay(this.id, options)
  }

  changePriority(priority: number): Promise<void> {
    return this.#client.changePriority(this.id, priority)
  }

  setTags(tags: Readonly<Record<string, string | undefined>>): Promise<void> {
    return this.#client.setTags(this.id, tags)
  }

  events(
    options: { readonly signal?: AbortSignal; readonly fromStart?: boolean; readonly cursor?: string } = {},
  ): AsyncGenerator<SubscriptionItem, void, undefined> {
    return this.#client.subscribe({ ...options, executionId: this.id })
  }
}
