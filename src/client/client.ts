/** What a program uses to submit work and to look after it. Refusals are thrown as `EngineError`; `try` returns them. */
import type { ExecutionId, Explanation, FlowId } from '../kernel/index.ts'
import { silentLog } from '../runtime/index.ts'
import type { Runtime } from '../runtime/index.ts'
import { Batcher } from '../stores/batcher.ts'
import type { Store, StoreReport } from '../stores/store.ts'
import { accept } from './transport/accept.ts'
import { Calls } from './calls.ts'
import type { DescribedParts, ReplayOptions, RevokeOptions } from './calls.ts'
import type { CancelOptions } from './executions/cancel-options.ts'
import { describe, summarise } from './executions/description.ts'
import type { ExecutionDescription } from './executions/description.ts'
import { EndWatcher } from './events/end-watcher.ts'
import type { EndListener, EndMoment, EndWatch } from './events/end-watcher.ts'
import { ExecutionHandle } from './executions/execution-handle.ts'
import { explanationText } from './executions/explanation-text.ts'
import type { SkippedBy } from './executions/explanation-text.ts'
import { drawFlow } from './flows/flow-calls.ts'
import type { CreateFlowOptions, FlowSubmitOptions } from './flows/flow-options.ts'
import { cancelFlow } from './flows/flow-cancel.ts'
import { summariseFlow } from './flows/flow-description.ts'
import type { FlowDescription } from './flows/flow-description.ts'
import { FlowHandle } from './flows/flow-handle.ts'
import type { FlowCancelled, FlowClient, FlowHandleCancelOptions } from './flows/flow-handle.ts'
import { listFlows } from './lists/flow-listing.ts'
import type { FlowPage, ListFlowsOptions } from './lists/flow-listing.ts'
import { isFlow } from './define/flow.ts'
import type { AnyFlow, FlowDefinition } from './define/flow.ts'
import { readHandedInputs } from './flows/handed-inputs.ts'
import { noKeys } from './tokens/key-ring.ts'
import { JournalClient } from './journal/journal-client.ts'
import { countLanes, listExecutions } from './lists/listing.ts'
import type { ExecutionPage, LaneSummary, ListOptions } from './lists/listing.ts'
import { checkNamespace, checkOptions, checkSignal } from './checks/names.ts'
import { OpenFlow } from './flows/open-flow.ts'
import { submitEach } from './executions/submit-many.ts'
import type { SubmitManyItem, SubmitOutcome } from './executions/submit-many.ts'
import type { SubmitOptions } from './executions/submit.ts'
import { SUBSCRIBE_KEYS, subscribe } from './events/subscription.ts'
import type { SubscribeOptions, SubscriptionItem } from './events/subscription.ts'
import { acceptTags } from './executions/tag-changes.ts'
import type { AnyTask, SignalSchemas, SignalsSent, Task } from './define/task.ts'
import { Tokens } from './tokens/token.ts'
import type { TokenSigner } from './tokens/token.ts'
import type { AnyInputs } from './define/upstreams.ts'

export interface ClientOptions {
  readonly namespace?: string
  /** Signs and verifies tokens of waitpoints. Without it there are none. */
  readonly tokens?: TokenSigner
}

const ALL_PARTS: DescribedParts = { attempts: true, payload: true, result: true }

export class Client extends JournalClient implements FlowClient {
  /** @internal */
  override readonly store: Store
  /** @internal */
  readonly runtime: Runtime
  /** @internal */
  readonly batcher: Batcher
  /** @internal */
  readonly tokens: TokenSigner
  readonly namespace: string
  /** The same calls, answering unions instead of throwing refusals. */
  override readonly try: Calls
  readonly #ends: EndWatcher
  readonly #abort = new AbortController()
  #closing: Promise<void> | undefined

  constructor(store: Store, runtime: Runtime, options: ClientOptions = {}) {
    super()
    this.store = store
    this.runtime = runtime
    this.namespace = checkNamespace(options.namespace ?? 'default')
    this.batcher = new Batcher(store, runtime)
    this.tokens = options.tokens ?? new Tokens(noKeys, runtime, silentLog)
    this.try = new Calls(this.batcher, runtime, this.namespace, this.tokens)
    this.#ends = new EndWatcher(store, runtime)
    this.batcher.onEnd((partition, id) => this.#ends.expect(partition, id))
  }

  /**
   * Hands over a piece of work, or a whole graph of it. When this resolves, the work is stored and will not get lost. With
   * `tx` a task's is left in your own transaction: stored with its commit, gone with its rollback.
   *
   * @example
   * const execution = await fabric.submit(greet, { name: 'Ada' }, { id: 'greet:ada', delay: '5s' })
   * console.log(await execution.result())
   */
  submit<Input, Parsed, Returned, Output, Inputs, Given, Signals extends SignalSchemas>(
    task: Task<Input, Parsed, Returned, Output, Inputs, Given, Signals>,
    input: Input,
    options?: SubmitOptions,
  ): Promise<ExecutionHandle<Output, SignalsSent<Signals>>>
  submit<Input, Output>(
    flow: FlowDefinition<Input, Output>,
    input: Input,
    options?: FlowSubmitOptions,
  ): Promise<FlowHandle<Output>>
  async submit(
    what: AnyTask | AnyFlow,
    input: unknown,
    options: SubmitOptions | FlowSubmitOptions = {},
  ): Promise<ExecutionHandle | FlowHandle> {
    this.refuseIfClosed()
    return isFlow(what) ? await this.#submitFlow(what, input, options) : await this.#submitTask(what, input, options)
  }

  /**
   * Many at once: one outcome for each item, in their order. Not atomic: some may be refused while others are accepted.
   * Those that are left in a transaction go there one after the other.
   */
  async submitMany<Input, Parsed, Returned, Output, Inputs, Given>(
    task: Task<Input, Parsed, Returned, Output, Inputs, Given>,
    items: readonly SubmitManyItem<Input>[],
  ): Promise<SubmitOutcome<Output>[]> {
    this.refuseIfClosed()
    return await submitEach<Input, Output>(items, (item) => this.#submitTask(task, item.input, item.options))
  }

  /** A handle for an execution that exists, by its id or by its key. */
  execution<
    Input,
    Parsed,
    Returned,
    Output = unknown,
    Inputs = AnyInputs,
    Given = Inputs,
    Signals extends SignalSchemas = SignalSchemas,
  >(
    idOrKey: string,
    task?: Task<Input, Parsed, Returned, Output, Inputs, Given, Signals>,
  ): ExecutionHandle<Output, SignalsSent<Signals>> {
    return new ExecutionHandle<Output, SignalsSent<Signals>>(this, this.try.resolve(idOrKey), task)
  }

  /** Everything that is known of an execution, or only the parts asked for. */
  async describe(idOrKey: string, parts: DescribedParts = ALL_PARTS): Promise<ExecutionDescription> {
    this.refuseIfClosed()
    const reply = await this.try.describe(idOrKey, parts)
    const inputs = parts.inputs === true ? await readHandedInputs(this.try, idOrKey) : undefined
    return describe(accept(reply.result), reply.blobs, inputs)
  }

  async why(idOrKey: string): Promise<{ readonly explanation: Explanation; readonly text: string }> {
    this.refuseIfClosed()
    const { explanation } = accept(await this.try.why(idOrKey))
    return { explanation, text: explanationText(explanation, await this.#skippedBy(explanation)) }
  }

  async cancel(
    idOrKey: string,
    reason: string,
    options?: CancelOptions,
  ): Promise<'cancelled' | 'cancel_requested' | 'already_cancelled'> {
    this.refuseIfClosed()
    return accept(await this.try.cancel(idOrKey, reason, options)).kind
  }

  async replay(idOrKey: string, options?: ReplayOptions): Promise<void> {
    this.refuseIfClosed()
    accept(await this.try.replay(idOrKey, options))
  }

  /** Takes an execution away from the worker that holds it; another one starts it anew. */
  async revokeLease(idOrKey: string, reason: string, options?: RevokeOptions): Promise<void> {
    this.refuseIfClosed()
    accept(await this.try.revokeLease(idOrKey, reason, options))
  }

  async changePriority(idOrKey: string, priority: number): Promise<void> {
    this.refuseIfClosed()
    accept(await this.try.changePriority(idOrKey, priority))
  }

  async setTags(idOrKey: string, tags: Readonly<Record<string, string | undefined>>): Promise<void> {
    this.refuseIfClosed()
    acceptTags(await this.try.setTags(idOrKey, tags), 'execution')
  }

  /**
   * A handle for a flow that exists, by its id or by its key. With its definition and the input of its submit, its
   * `result()` answers what the flow's function returns for them.
   */
  flow<Input, Output>(idOrKey: string, flow: FlowDefinition<Input, Output>, input: Input): FlowHandle<Output>
  flow(idOrKey: string): FlowHandle<undefined>
  flow(idOrKey: string, ...drawn: [] | [AnyFlow, unknown]): FlowHandle {
    const [flow, input] = drawn
    return new FlowHandle(this, this.try.resolveFlow(idOrKey), flow && (() => drawFlow(flow, input)))
  }

  /** Opens a flow whose graph is put together step by step. Said twice with one id, it is opened once. */
  async createFlow(name: string, options?: CreateFlowOptions): Promise<OpenFlow> {
    this.refuseIfClosed()
    const result = accept(await this.try.createFlow(name, options))
    return new OpenFlow(this, result.flowId, undefined, result.kind === 'created' ? 'created' : 'joined')
  }

  /** Flows of all partitions, newest first. */
  async flows(options: ListFlowsOptions = {}): Promise<FlowPage> {
    this.refuseIfClosed()
    return await listFlows(this.try, this.store.settings.executionPartitions, options)
  }

  async describeFlow(idOrKey: string): Promise<FlowDescription> {
    this.refuseIfClosed()
    const { view, at } = accept(await this.try.describeFlow(idOrKey))
    return { ...summariseFlow(view), at }
  }

  /** Cancels a flow, and waits until it has come to rest if the options say so. */
  async cancelFlow(idOrKey: string, reason: string, options: FlowHandleCancelOptions = {}): Promise<FlowCancelled> {
    this.refuseIfClosed()
    return await cancelFlow(this.try, this.runtime, this.try.resolveFlow(idOrKey), reason, options)
  }

  async setFlowTags(idOrKey: string, tags: Readonly<Record<string, string | undefined>>): Promise<void> {
    this.refuseIfClosed()
    acceptTags(await this.try.setFlowTags(idOrKey, tags), 'flow')
  }

  async list(options: ListOptions = {}): Promise<ExecutionPage> {
    this.refuseIfClosed()
    return await listExecutions(this.try, this.store.settings.executionPartitions, options)
  }

  /** Every lane that has executions, with how many in each state. */
  async lanes(lane?: string): Promise<LaneSummary[]> {
    this.refuseIfClosed()
    return await countLanes(this.try, this.store.settings.executionPartitions, lane)
  }

  /** Events as they happen, in order within a partition. Each carries a cursor from which a later call goes on. */
  subscribe(options: SubscribeOptions = {}): AsyncGenerator<SubscriptionItem, void, undefined> {
    this.refuseIfClosed()
    checkOptions(options, SUBSCRIBE_KEYS, "{ types: ['execution_ended'] }")
    checkSignal(options.signal)
    const signals = options.signal === undefined ? [this.#abort.signal] : [options.signal, this.#abort.signal]
    const { executionId, flowId } = options
    return subscribe(this.store, this.runtime, {
      ...options,
      ...(executionId === undefined ? {} : { executionId: this.try.resolve(executionId) }),
      ...(flowId === undefined ? {} : { flowId: this.try.resolveFlow(flowId) }),
      signal: AbortSignal.any(signals),
    })
  }

  report(): Promise<StoreReport> {
    return this.store.report()
  }

  override get isClosed(): boolean {
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
  watchEnd(id: ExecutionId | FlowId, notify: EndListener, since?: EndMoment): EndWatch {
    this.refuseIfClosed()
    return this.#ends.watch(id, notify, since)
  }

  async #close(): Promise<void> {
    this.#abort.abort()
    this.#ends.close()
    await this.batcher.close()
    await this.store.close()
  }

  /** Whoever a skipped execution depended on may be gone since. */
  async #skippedBy(explanation: Explanation): Promise<SkippedBy | undefined> {
    if (explanation.why !== 'ended' || explanation.outcome !== 'skipped' || explanation.by === undefined) {
      return undefined
    }
    const { result } = await this.try.describe(explanation.by)
    return result.kind === 'refused' ? undefined : summarise(result.execution)
  }

  async #submitTask<Output>(task: AnyTask, input: unknown, options?: SubmitOptions): Promise<ExecutionHandle<Output>> {
    const result = accept(await this.try.submit(task, input, options))
    return new ExecutionHandle<Output>(this, result.executionId, task, result.kind)
  }

  async #submitFlow(flow: AnyFlow, input: unknown, options: FlowSubmitOptions): Promise<FlowHandle> {
    let since: EndMoment | undefined
    const { result, flowId, graph } = await this.try.submitDrawn(flow, input, options, (partition) => {
      since = this.#ends.momentIn(partition)
    })
    if (accept(result).kind === 'joined') return new FlowHandle(this, flowId, graph, 'joined')
    return new FlowHandle(this, flowId, graph, 'created', since)
  }
}
