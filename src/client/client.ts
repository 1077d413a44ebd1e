/** What a program uses to submit work and to look after it. Refusals are thrown as `EngineError`; `try` returns them. */
import type { ExecutionId, Explanation, FlowId } from '../kernel/index.ts'
import { EngineError } from '../kernel/engine-error.ts'
import { silentLog } from '../runtime/index.ts'
import type { Runtime } from '../runtime/index.ts'
import { Batcher } from '../stores/batcher.ts'
import type { Store, StoreReport } from '../stores/store.ts'
import { callsOf } from './calls.ts'
import type { Calls } from './calls.ts'
import { checkNamespace, checkOptions, checkSignal } from './checks/names.ts'
import { isFlow } from './define/flow.ts'
import type { AnyFlow, FlowDefinition } from './define/flow.ts'
import type { AnyTask, SignalSchemas, SignalsSent, Task } from './define/task.ts'
import type { AnyInputs } from './define/upstreams.ts'
import { EndWatcher } from './events/end-watcher.ts'
import type { EndListener, EndMoment, EndWatch } from './events/end-watcher.ts'
import { SUBSCRIBE_KEYS, subscribe } from './events/subscription.ts'
import type { SubscribeOptions, SubscriptionItem } from './events/subscription.ts'
import type { CancelOptions } from './executions/cancel-options.ts'
import type { ExecutionDescription } from './executions/description.ts'
import { submitTask } from './executions/execution-calls.ts'
import type { DescribedParts, ReplayOptions, RevokeOptions } from './executions/execution-calls.ts'
import { ExecutionHandle } from './executions/execution-handle.ts'
import { readDescription, readExplanation } from './executions/execution-reads.ts'
import { submitEach } from './executions/submit-many.ts'
import type { SubmitManyItem, SubmitOutcome } from './executions/submit-many.ts'
import type { SubmitOptions } from './executions/submit.ts'
import { acceptTags } from './executions/tag-changes.ts'
import { drawFlow, submitFlow } from './flows/flow-calls.ts'
import { cancelFlowAndWait } from './flows/flow-cancel.ts'
import { summariseFlow } from './flows/flow-description.ts'
import type { FlowDescription } from './flows/flow-description.ts'
import { FlowHandle } from './flows/flow-handle.ts'
import type { FlowCancelled, FlowClient, FlowHandleCancelOptions } from './flows/flow-handle.ts'
import type { CreateFlowOptions, FlowSubmitOptions } from './flows/flow-options.ts'
import { OpenFlow } from './flows/open-flow.ts'
import type {
  AnswerOptions,
  CloseWaitpointOptions,
  ReissueOptions,
  ResumeOptions,
  SignalAtOptions,
  SignalReceipt,
  SignalSendOptions,
} from './journal/journal-calls.ts'
import { listFlows } from './lists/flow-listing.ts'
import type { FlowPage, ListFlowsOptions } from './lists/flow-listing.ts'
import { countLanes, listExecutions } from './lists/listing.ts'
import type { ExecutionPage, LaneSummary, ListOptions } from './lists/listing.ts'
import { readSignals, readSteps } from './lists/step-listing.ts'
import type { ReadOptions, SignalSummary, StepSummary } from './lists/step-listing.ts'
import { listOpenWaitpoints, listWaitpointsOf } from './lists/waitpoint-listing.ts'
import type { ExecutionWaitpointsOptions, ListWaitpointsOptions, WaitpointPage } from './lists/waitpoint-listing.ts'
import { Session, throwing } from './session.ts'
import type { Throwing } from './session.ts'
import { noKeys } from './tokens/key-ring.ts'
import { Tokens } from './tokens/token.ts'
import type { TokenSigner } from './tokens/token.ts'
import { accept } from './transport/accept.ts'

export interface ClientOptions {
  readonly namespace?: string
  /** Signs and verifies tokens of waitpoints. Without it there are none. */
  readonly tokens?: TokenSigner
}

export class Client implements FlowClient {
  /** @internal */
  readonly store: Store
  /** @internal */
  readonly runtime: Runtime
  /** @internal */
  readonly batcher: Batcher
  /** @internal */
  readonly tokens: TokenSigner
  readonly namespace: string
  /** The same calls, answering unions instead of throwing refusals. */
  readonly try: Calls
  readonly #session: Session
  readonly #calls: Throwing<Calls>
  readonly #ends: EndWatcher
  readonly #abort = new AbortController()
  #closing: Promise<void> | undefined

  constructor(store: Store, runtime: Runtime, options: ClientOptions = {}) {
    this.store = store
    this.runtime = runtime
    this.namespace = checkNamespace(options.namespace ?? 'default')
    this.batcher = new Batcher(store, runtime)
    this.tokens = options.tokens ?? new Tokens(noKeys, runtime, silentLog)
    this.#session = new Session(this.batcher, runtime, this.namespace, this.tokens)
    this.try = callsOf(this.#session)
    this.#calls = throwing(this.try, () => this.#refuseIfClosed())
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
    this.#refuseIfClosed()
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
    this.#refuseIfClosed()
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
  async describe(idOrKey: string, parts?: DescribedParts): Promise<ExecutionDescription> {
    this.#refuseIfClosed()
    return await readDescription(this.#session, idOrKey, parts)
  }

  async why(idOrKey: string): Promise<{ readonly explanation: Explanation; readonly text: string }> {
    this.#refuseIfClosed()
    return await readExplanation(this.#session, idOrKey)
  }

  async cancel(
    idOrKey: string,
    reason: string,
    options?: CancelOptions,
  ): Promise<'cancelled' | 'cancel_requested' | 'already_cancelled'> {
    return (await this.#calls.cancel(idOrKey, reason, options)).kind
  }

  async replay(idOrKey: string, options?: ReplayOptions): Promise<void> {
    await this.#calls.replay(idOrKey, options)
  }

  /** Takes an execution away from the worker that holds it; another one starts it anew. */
  async revokeLease(idOrKey: string, reason: string, options?: RevokeOptions): Promise<void> {
    await this.#calls.revokeLease(idOrKey, reason, options)
  }

  async changePriority(idOrKey: string, priority: number): Promise<void> {
    await this.#calls.changePriority(idOrKey, priority)
  }

  async setTags(idOrKey: string, tags: Readonly<Record<string, string | undefined>>): Promise<void> {
    this.#refuseIfClosed()
    acceptTags(await this.try.setTags(idOrKey, tags), 'execution')
  }

  /**
   * Tells an execution something, by the signal's name. What comes before its handler waits for it is kept.
   *
   * @example
   * await fabric.signal('order:17', 'paid', { amount: 12 }, { key: event.id })
   */
  signal(idOrKey: string, name: string, value?: unknown, options?: SignalSendOptions): Promise<SignalReceipt> {
    return this.#calls.signal(idOrKey, name, value, options)
  }

  /**
   * Sends a signal to one waitpoint, without a token: whoever may use the store is trusted to say who it is from.
   *
   * @example
   * await fabric.signalAt('deploy:42', 'review', 'approve', undefined, { by: user.email })
   */
  signalAt(
    idOrKey: string,
    waitpoint: string,
    name: string,
    value: unknown,
    options: SignalAtOptions,
  ): Promise<SignalReceipt> {
    return this.#calls.signalAt(idOrKey, waitpoint, name, value, options)
  }

  /**
   * Sends a signal where a token leads: what a route does with the links that were handed out. Who it is from stands in the
   * token. Whatever is wrong with one that is not genuine, the error is `invalid_token`.
   *
   * @example
   * await fabric.answer(request.query.token, 'approve', { note: 'fine' })
   */
  answer(token: string, name: string, value?: unknown, options?: AnswerOptions): Promise<SignalReceipt> {
    return this.#calls.answer(token, name, value, options)
  }

  /** Ends the wait that an execution is in, with an operator's authority: its handler goes on and is told so. */
  async resume(idOrKey: string, options: ResumeOptions): Promise<void> {
    await this.#calls.resume(idOrKey, options)
  }

  /** Waitpoints that are open: all there are, longest open first, or those of one execution by their keys. Never their tokens. */
  waitpoints(options?: ListWaitpointsOptions): Promise<WaitpointPage>
  waitpoints(idOrKey: string, options?: ExecutionWaitpointsOptions): Promise<WaitpointPage>
  async waitpoints(
    first: string | ListWaitpointsOptions = {},
    options: ExecutionWaitpointsOptions = {},
  ): Promise<WaitpointPage> {
    this.#refuseIfClosed()
    return typeof first === 'string'
      ? await listWaitpointsOf(this.#session, first, options)
      : await listOpenWaitpoints(this.#session, first)
  }

  /** Takes no more signals at a waitpoint. The last one that a wait still looks at is closed only by force. */
  async closeWaitpoint(
    idOrKey: string,
    waitpoint: string,
    options: CloseWaitpointOptions,
  ): Promise<'closed' | 'already_closed'> {
    return (await this.#calls.closeWaitpoint(idOrKey, waitpoint, options)).kind
  }

  /**
   * A new token for a waitpoint. Every token that was handed out for it before, to whomever, is worthless from then on.
   *
   * @example
   * const token = await fabric.reissue('deploy:42', 'review', { for: 'ada', expires: '2d' })
   */
  async reissue(idOrKey: string, waitpoint: string, options: ReissueOptions = {}): Promise<string> {
    this.#refuseIfClosed()
    const { by, ...claims } = options
    this.try.checkTokenOptions(claims)
    const { waitpoint: view } = await this.#calls.reissueWaitpoint(idOrKey, waitpoint, by)
    return this.try.tokenFor(idOrKey, view, claims)
  }

  /** What an execution has recorded, in the order of recording. */
  steps(idOrKey: string, options: ReadOptions = {}): AsyncGenerator<StepSummary, void, undefined> {
    this.#refuseIfClosed()
    return readSteps(this.#session, idOrKey, options)
  }

  /** Every signal that an execution was sent, in the order of arrival: who said what, when, and what it did. */
  signals(idOrKey: string, options: ReadOptions = {}): AsyncGenerator<SignalSummary, void, undefined> {
    this.#refuseIfClosed()
    return readSignals(this.#session, idOrKey, options)
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
    const result = await this.#calls.createFlow(name, options)
    return new OpenFlow(this, result.flowId, undefined, result.kind === 'created' ? 'created' : 'joined')
  }

  /** Flows of all partitions, newest first. */
  async flows(options: ListFlowsOptions = {}): Promise<FlowPage> {
    this.#refuseIfClosed()
    return await listFlows(this.#session, options)
  }

  async describeFlow(idOrKey: string): Promise<FlowDescription> {
    const { view, at } = await this.#calls.describeFlow(idOrKey)
    return { ...summariseFlow(view), at }
  }

  /** Cancels a flow, and waits until it has come to rest if the options say so. */
  async cancelFlow(idOrKey: string, reason: string, options: FlowHandleCancelOptions = {}): Promise<FlowCancelled> {
    this.#refuseIfClosed()
    return await cancelFlowAndWait(this.#session, this.try.resolveFlow(idOrKey), reason, options)
  }

  async setFlowTags(idOrKey: string, tags: Readonly<Record<string, string | undefined>>): Promise<void> {
    this.#refuseIfClosed()
    acceptTags(await this.try.setFlowTags(idOrKey, tags), 'flow')
  }

  async list(options: ListOptions = {}): Promise<ExecutionPage> {
    this.#refuseIfClosed()
    return await listExecutions(this.#session, options)
  }

  /** Every lane that has executions, with how many in each state. */
  async lanes(lane?: string): Promise<LaneSummary[]> {
    this.#refuseIfClosed()
    return await countLanes(this.#session, lane)
  }

  /** Events as they happen, in order within a partition. Each carries a cursor from which a later call goes on. */
  subscribe(options: SubscribeOptions = {}): AsyncGenerator<SubscriptionItem, void, undefined> {
    this.#refuseIfClosed()
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
  watchEnd(id: ExecutionId | FlowId, notify: EndListener, since?: EndMoment): EndWatch {
    this.#refuseIfClosed()
    return this.#ends.watch(id, notify, since)
  }

  async #close(): Promise<void> {
    this.#abort.abort()
    this.#ends.close()
    await this.batcher.close()
    await this.store.close()
  }

  async #submitTask<Output>(task: AnyTask, input: unknown, options?: SubmitOptions): Promise<ExecutionHandle<Output>> {
    const result = accept(await submitTask(this.#session, task, input, options))
    return new ExecutionHandle<Output>(this, result.executionId, task, result.kind)
  }

  async #submitFlow(flow: AnyFlow, input: unknown, options: FlowSubmitOptions): Promise<FlowHandle> {
    let since: EndMoment | undefined
    const { result, flowId, graph } = await submitFlow(this.#session, flow, input, options, (partition) => {
      since = this.#ends.momentIn(partition)
    })
    if (accept(result).kind === 'joined') return new FlowHandle(this, flowId, graph, 'joined')
    return new FlowHandle(this, flowId, graph, 'created', since)
  }

  #refuseIfClosed(): void {
    if (this.isClosed) throw new EngineError('fabric_closed')
  }
}
