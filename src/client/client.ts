/** What a program uses to submit work and to look after it. Refusals are thrown as `EngineError`; `try` returns them. */
import type { ExecutionId, Explanation, OperationName, OperationResult, Refused } from '../kernel/index.ts'
import type { Runtime } from '../runtime/index.ts'
import { Batcher } from '../stores/batcher.ts'
import { EngineError } from '../stores/engine-error.ts'
import type { Store, StoreReport } from '../stores/store.ts'
import { Calls } from './calls.ts'
import type { CancelOptions, DescribedParts, ReplayOptions, RevokeOptions } from './calls.ts'
import { describe } from './description.ts'
import type { ExecutionDescription } from './description.ts'
import { EndWatcher } from './end-watcher.ts'
import type { EndListener } from './end-watcher.ts'
import { ExecutionHandle } from './execution-handle.ts'
import type { HandleClient } from './execution-handle.ts'
import { explanationText } from './explanation-text.ts'
import { countLanes, listExecutions } from './listing.ts'
import type { ExecutionPage, LaneSummary, ListOptions } from './listing.ts'
import { checkKeys, checkList, checkNamespace, checkObject, checkOptions, checkSignal, invalidInput } from './names.ts'
import type { StagedResult } from './staging.ts'
import type { SubmitOptions } from './submit.ts'
import { SUBSCRIBE_KEYS, subscribe } from './subscription.ts'
import type { SubscribeOptions, SubscriptionItem } from './subscription.ts'
import type { AnyTask, Task } from './task.ts'

export interface ClientOptions {
  readonly namespace?: string
}

export type SubmitOutcome<Output> =
  | { readonly ok: true; readonly execution: ExecutionHandle<Output> }
  | { readonly ok: false; readonly error: EngineError }

export interface SubmitManyItem<Input> {
  readonly input: Input
  readonly options?: SubmitOptions
}

const SUBMIT_MANY_KEYS = ['input', 'options'] as const satisfies readonly (keyof SubmitManyItem<unknown>)[]

const ALL_PARTS: DescribedParts = { attempts: true, payload: true, result: true }
/** Items that one `submitMany` takes. */
const SUBMIT_MANY_MAX = 10_000

export class Client implements HandleClient {
  /** @internal */
  readonly store: Store
  /** @internal */
  readonly runtime: Runtime
  /** @internal */
  readonly batcher: Batcher
  readonly namespace: string
  /** The same calls, answering unions instead of throwing refusals. */
  readonly try: Calls
  readonly #ends: EndWatcher
  readonly #abort = new AbortController()
  #closing: Promise<void> | undefined

  constructor(store: Store, runtime: Runtime, options: ClientOptions = {}) {
    this.store = store
    this.runtime = runtime
    this.namespace = checkNamespace(options.namespace ?? 'default')
    this.batcher = new Batcher(store, runtime)
    this.try = new Calls(this.batcher, runtime, this.namespace)
    this.#ends = new EndWatcher(store, runtime)
  }

  /**
   * Hands over a piece of work. When this resolves, the work is stored and will not get lost. With `tx` it is left in your
   * own transaction: stored with its commit, gone with its rollback.
   *
   * @example
   * const execution = await fabric.submit(greet, { name: 'Ada' }, { id: 'greet:ada', delay: '5s' })
   * console.log(await execution.result())
   */
  async submit<Input, Parsed, Returned, Output>(
    task: Task<Input, Parsed, Returned, Output>,
    input: Input,
    options: SubmitOptions = {},
  ): Promise<ExecutionHandle<Output>> {
    this.#refuseIfClosed()
    const result = accept(await this.try.submit(task, input, options))
    return new ExecutionHandle<Output>(this, result.executionId, task, result.kind)
  }

  /**
   * Many at once: one outcome for each item, in their order. Not atomic: some may be refused while others are accepted.
   * Those that are left in a transaction go there one after the other.
   */
  async submitMany<Input, Parsed, Returned, Output>(
    task: Task<Input, Parsed, Returned, Output>,
    items: readonly SubmitManyItem<Input>[],
  ): Promise<SubmitOutcome<Output>[]> {
    this.#refuseIfClosed()
    checkList(items, 'items')
    if (items.length > SUBMIT_MANY_MAX) {
      throw invalidInput(
        'items',
        `items has ${items.length} entries, but at most ${SUBMIT_MANY_MAX} can be submitted at once.`,
      )
    }
    let staged: Promise<unknown> = Promise.resolve()
    const outcomes = items.map((item, i) => {
      const submit = () => this.#submitOne<Output>(task, item, `items[${i}]`)
      if (!isStaged(item)) return submit()
      const outcome = staged.then(submit)
      staged = outcome
      return outcome
    })
    return await Promise.all(outcomes)
  }

  /** A handle for an execution that exists, by its id or by its key. */
  execution<Input, Parsed, Returned, Output = unknown>(
    idOrKey: string,
    task?: Task<Input, Parsed, Returned, Output>,
  ): ExecutionHandle<Output> {
    return new ExecutionHandle<Output>(this, this.try.resolve(idOrKey), task)
  }

  /** Everything that is known of an execution, or only the parts asked for. */
  async describe(idOrKey: string, parts: DescribedParts = ALL_PARTS): Promise<ExecutionDescription> {
    this.#refuseIfClosed()
    const reply = await this.try.describe(idOrKey, parts)
    return describe(accept(reply.result), reply.blobs)
  }

  async why(idOrKey: string): Promise<{ readonly explanation: Explanation; readonly text: string }> {
    this.#refuseIfClosed()
    const { explanation } = accept(await this.try.why(idOrKey))
    return { explanation, text: explanationText(explanation) }
  }

  async cancel(
    idOrKey: string,
    reason: string,
    options?: CancelOptions,
  ): Promise<'cancelled' | 'cancel_requested' | 'already_cancelled'> {
    this.#refuseIfClosed()
    return accept(await this.try.cancel(idOrKey, reason, options)).kind
  }

  async replay(idOrKey: string, options?: ReplayOptions): Promise<void> {
    this.#refuseIfClosed()
    accept(await this.try.replay(idOrKey, options))
  }

  /** Takes an execution away from the worker that holds it; another one starts it anew. */
  async revokeLease(idOrKey: string, reason: string, options?: RevokeOptions): Promise<void> {
    this.#refuseIfClosed()
    accept(await this.try.revokeLease(idOrKey, reason, options))
  }

  async changePriority(idOrKey: string, priority: number): Promise<void> {
    this.#refuseIfClosed()
    accept(await this.try.changePriority(idOrKey, priority))
  }

  async setTags(idOrKey: string, tags: Readonly<Record<string, string | undefined>>): Promise<void> {
    this.#refuseIfClosed()
    const result = await this.try.setTags(idOrKey, tags)
    if (result.kind === 'refused' && result.code === 'invalid_input') {
      throw new EngineError(result.code, { ...result.detail, field: 'tags', message: tooManyTags(result.detail.limit) })
    }
    accept(result)
  }

  async list(options: ListOptions = {}): Promise<ExecutionPage> {
    this.#refuseIfClosed()
    return await listExecutions(this.try, this.store.settings.executionPartitions, options)
  }

  /** Every lane that has executions, with how many in each state. */
  async lanes(lane?: string): Promise<LaneSummary[]> {
    this.#refuseIfClosed()
    return await countLanes(this.try, this.store.settings.executionPartitions, lane)
  }

  /** Events as they happen, in order within a partition. Each carries a cursor from which a later call goes on. */
  subscribe(options: SubscribeOptions = {}): AsyncGenerator<SubscriptionItem, void, undefined> {
    this.#refuseIfClosed()
    checkOptions(options, SUBSCRIBE_KEYS, "{ types: ['execution_ended'] }")
    checkSignal(options.signal)
    const signals = options.signal === undefined ? [this.#abort.signal] : [options.signal, this.#abort.signal]
    const executionId = options.executionId === undefined ? {} : { executionId: this.try.resolve(options.executionId) }
    return subscribe(this.store, this.runtime, { ...options, ...executionId, signal: AbortSignal.any(signals) })
  }

  report(): Promise<StoreReport> {
    return this.store.report()
  }

  get isClosed(): boolean {
    return this.#closing !== undefined
  }

  /** Finishes calls under way, ends subscriptions and waits, and closes the store. */
  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
  }

  /** @internal */
  watchEnd(id: ExecutionId, notify: EndListener): ReturnType<EndWatcher['watch']> {
    this.#refuseIfClosed()
    return this.#ends.watch(id, notify)
  }

  async #close(): Promise<void> {
    this.#abort.abort()
    this.#ends.close()
    await this.batcher.close()
    await this.store.close()
  }

  async #submitOne<Output>(
    task: AnyTask,
    item: SubmitManyItem<unknown>,
    field: string,
  ): Promise<SubmitOutcome<Output>> {
    try {
      checkManyItem(item, field)
      const result = accept(await this.try.submit(task, item.input, item.options))
      return { ok: true, execution: new ExecutionHandle<Output>(this, result.executionId, task, result.kind) }
    } catch (error) {
      if (error instanceof EngineError) return { ok: false, error }
      throw error
    }
  }

  #refuseIfClosed(): void {
    if (this.isClosed) throw new EngineError('fabric_closed')
  }
}

/** An input given without its wrapping would be taken for an item without an input. */
function checkManyItem(item: unknown, field: string): void {
  checkObject(item, field, '{ input, options }')
  checkKeys(item, SUBMIT_MANY_KEYS, field)
  if (!('input' in item)) throw invalidInput(field, `${field} has no input.`)
}

/** Looked at before the item has been checked. */
function isStaged(item: SubmitManyItem<unknown> | null | undefined): boolean {
  return item?.options?.tx !== undefined
}

function tooManyTags(limit: number | undefined): string {
  return `tags would be more than ${limit} together with those that the execution has: remove some by setting them to undefined.`
}

/** The result, or the refusal as an error. */
export function accept<R extends OperationResult<OperationName> | StagedResult>(result: R): Exclude<R, Refused> {
  if (result.kind === 'refused') throw new EngineError(result.code, result.detail)
  return result as Exclude<R, Refused>
}
