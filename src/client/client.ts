/** Submits work and manages it. Throws refusals as `EngineError`; `try` returns them instead. */
import { isFlowId } from '../kernel/index.ts'
import type { CreateResult, ExecutionId, Explanation, FlowId, Instant, Refused } from '../kernel/index.ts'
import { EngineError } from '../kernel/engine-error.ts'
import { silentLog } from '../runtime/index.ts'
import type { Log, Runtime, Tracing } from '../runtime/index.ts'
import type { CallCodec } from '../stores/call-codec.ts'
import { Batcher } from '../stores/batcher.ts'
import type { Store, StoreReport } from '../stores/store.ts'
import { callsOf } from './calls.ts'
import type { Calls } from './calls.ts'
import { Consumer, sourceOf } from './consumers/consumer.ts'
import { ConsumerHandle } from './consumers/consumer-handle.ts'
import { readLags } from './consumers/consumer-lag.ts'
import type { ConsumerLag } from './consumers/consumer-lag.ts'
import { listConsumers } from './consumers/consumer-listing.ts'
import type { ConsumerSummary, ListConsumersOptions } from './consumers/consumer-listing.ts'
import type { ConsumeOptions, ConsumerFilter, EventHandler } from './consumers/consumer-options.ts'
import { checkNamespace, invalidInput, show } from './checks/names.ts'
import { isFlow } from './define/flow.ts'
import type { AnyFlow, FlowDefinition } from './define/flow.ts'
import type { FrameSchemas, SignalSchemas } from './define/frames.ts'
import type { AnyTask, OmittedInput, SignalsSent, Task } from './define/task.ts'
import { Streams } from './streams/stream-calls.ts'
import type { AnyInputs } from './define/upstreams.ts'
import { EndWatcher } from './events/end-watcher.ts'
import type { EndListener, EndMoment, EndWatch } from './events/end-watcher.ts'
import { lastEventOf, unlessMissing, untilEnd } from './events/execution-events.ts'
import { scopedFilter } from './events/event-filter.ts'
import { cursorOf, endOfLog } from './events/log-start.ts'
import { subscribeOptions, subscribe } from './events/subscription.ts'
import type { SubscribeOptions, SubscriptionItem } from './events/subscription.ts'
import type { CancelOptions } from './executions/cancel-options.ts'
import type { ChildSummary, ExecutionDescription } from './executions/description.ts'
import { submitTask } from './executions/execution-calls.ts'
import type {
  ContinueOrderOptions,
  DescribedParts,
  ReplayOptions,
  RevokeOptions,
} from './executions/execution-calls.ts'
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
import type { FlowCancelled, FlowClient, FlowHandleCancelOptions, SinkResults } from './flows/flow-handle.ts'
import type { CreateFlowOptions, FlowSubmitOptions } from './flows/flow-options.ts'
import { OpenFlow } from './flows/open-flow.ts'
import { askedByToken } from './journal/asked-by-token.ts'
import type { AskedByToken } from './journal/asked-by-token.ts'
import type {
  AnswerOptions,
  CloseWaitpointOptions,
  ReissueOptions,
  ResumeOptions,
  SignalReceipt,
  SignalSendOptions,
} from './journal/journal-calls.ts'
import { activityOf } from './lists/activity.ts'
import type { Activity, ActivityOptions } from './lists/activity.ts'
import { failureGroups } from './lists/failure-groups.ts'
import type { FailureGroups, FailuresOptions } from './lists/failure-groups.ts'
import { listFlows } from './lists/flow-listing.ts'
import type { FlowPage, ListFlowsOptions } from './lists/flow-listing.ts'
import { LaneHandle } from './lanes/lane-handle.ts'
import { listLanes } from './lanes/lane-listing.ts'
import type { LaneSummary, LanesOptions } from './lanes/lane-listing.ts'
import { LeaseCalls } from './leases/lease-calls.ts'
import type { LeaseMemory } from './leases/lease-calls.ts'
import { Refreshes } from './leases/lease-workers.ts'
import { PlainPlaces } from './leases/plain-places.ts'
import { BudgetCalls } from './budgets/budget-calls.ts'
import { LimitCalls } from './limits/limit-calls.ts'
import { listExecutions } from './lists/listing.ts'
import type { ExecutionPage, ListOptions } from './lists/listing.ts'
import { readChildren, readSignals, readSteps } from './lists/step-listing.ts'
import type { ReadOptions, SignalSummary, StepSummary } from './lists/step-listing.ts'
import { listOpenWaitpoints, listWaitpointsOf } from './lists/waitpoint-listing.ts'
import type { ExecutionWaitpointsOptions, ListWaitpointsOptions, WaitpointPage } from './lists/waitpoint-listing.ts'
import { schedule } from './define/schedule.ts'
import type {
  AnyFlowScheduleOptions,
  AnyScheduleOptions,
  FiringTimes,
  FlowScheduleOptions,
  ScheduleDefinition,
  ScheduleOptions,
} from './define/schedule.ts'
import { configureSchedule } from './schedules/configure-schedule.ts'
import type { Configured } from './schedules/configure-schedule.ts'
import { declareSchedules } from './schedules/declare-schedules.ts'
import type { DeclaredSchedules } from './schedules/declare-schedules.ts'
import { summariseSchedule } from './schedules/schedule-description.ts'
import type { ScheduleSummary } from './schedules/schedule-description.ts'
import { ScheduleHandle } from './schedules/schedule-handle.ts'
import type { DescribeScheduleOptions } from './schedules/schedule-handle.ts'
import { listSchedules } from './schedules/schedule-listing.ts'
import { boundariesOf } from './schedules/schedule-timing.ts'
import type { ListSchedulesOptions, SchedulePage } from './schedules/schedule-listing.ts'
import { Session, throwing } from './session.ts'
import type { Throwing } from './session.ts'
import { noKeys } from './tokens/key-ring.ts'
import { issueReadToken, verifyReadToken } from './journal/read-token.ts'
import type { ReadToken, ReadTokenOptions } from './journal/read-token.ts'
import { Tokens } from './tokens/token.ts'
import type { ReadClaims, TokenSigner } from './tokens/token.ts'
import { unwrap } from './transport/unwrap.ts'
import { WebhookCalls } from './webhooks/webhook-calls.ts'
import { WorkerHandle } from './workers/worker-handle.ts'
import { listAudit } from './audit/audit-listing.ts'
import type { AuditOptions, AuditedPage } from './audit/audit-listing.ts'
import { listWorkers } from './workers/worker-listing.ts'
import type { ListWorkersOptions, WorkerPage } from './workers/worker-listing.ts'

/** What a client shares with those that `forNamespace` returns. */
interface SharedParts {
  readonly batcher: Batcher
  readonly ends: EndWatcher
  readonly leases: LeaseMemory
  readonly abort: AbortController
  closing: Promise<void> | undefined
}

export interface ClientOptions {
  readonly namespace?: string
  /** Signs and verifies tokens of waitpoints. Without a signer, no tokens can be issued. */
  readonly tokens?: TokenSigner
  /** True reaches executions and flows of all namespaces by id, and lists them, for tools of operators. */
  readonly allNamespaces?: boolean
  /** False leaves out events that belong to no namespace, such as those of lanes and budgets. */
  readonly isStoreVisible?: boolean
  /** The spans of this process; none unless given. */
  readonly tracing?: Tracing
  /** Seals and opens values; none unless given. */
  readonly codec?: CallCodec
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
  /** Whether it reaches only its own namespace. */
  readonly isBound: boolean
  /** The same calls, returning unions instead of throwing refusals. */
  readonly try: Calls
  readonly #session: Session
  readonly #calls: Throwing<Calls>
  readonly #shared: SharedParts
  readonly #streams: Streams
  /** Limits: defined, changed live, inspected, held back and deleted by name. */
  readonly limits: LimitCalls
  /**
   * Claims and reports of workers that do not connect to the store.
   * @internal
   */
  readonly leases: LeaseCalls
  /** Budgets: defined, described, raised, reset and frozen by name. */
  readonly budgets: BudgetCalls
  /** Webhooks: endpoints to which events are sent. `deliverWebhooks` of a fabric sends them. */
  readonly webhooks: WebhookCalls

  constructor(
    store: Store,
    runtime: Runtime,
    options: ClientOptions = {},
    shared = sharedParts(store, runtime, options),
  ) {
    this.store = store
    this.runtime = runtime
    this.namespace = checkNamespace(options.namespace ?? 'default')
    this.#shared = shared
    this.batcher = shared.batcher
    this.tokens = options.tokens ?? new Tokens(noKeys, runtime, silentLog)
    this.isBound = options.allNamespaces !== true
    const within = this.isBound ? this.namespace : undefined
    this.#session = new Session(this.batcher, runtime, this.namespace, this.tokens, within, options.isStoreVisible)
    this.try = callsOf(this.#session)
    this.#calls = throwing(this.try, () => this.#refuseIfClosed())
    this.limits = new LimitCalls(() => this.#open())
    this.leases = new LeaseCalls(() => this.#open(), shared.leases)
    this.budgets = new BudgetCalls(() => this.#open())
    this.webhooks = new WebhookCalls(() => this.#open())
    this.#streams = new Streams(this.#session, shared.abort.signal)
  }

  /**
   * Returns a client of the same store that is bound to a namespace, and gets no events that belong to none. The two share batches
   * and subscriptions, and close together.
   * @internal
   */
  forNamespace(namespace: string): Client {
    this.#refuseIfClosed()
    if (!this.isBound || namespace === this.namespace) {
      const options = { namespace, tokens: this.tokens, isStoreVisible: false }
      return new Client(this.store, this.runtime, options, this.#shared)
    }
    throw invalidInput(
      'namespace',
      `namespace is ${show(namespace)}, but this fabric is bound to ${show(this.namespace)}.`,
    )
  }

  /**
   * Submits a task or a flow. Once this resolves, the work is durable. With `tx`, a task is staged in your own transaction:
   * its commit stores the task, its rollback discards it.
   *
   * @example
   * const execution = await fabric.submit(greet, { name: 'Ada' }, { id: 'greet:ada', delay: '5s' })
   * console.log(await execution.result())
   * await fabric.submit(cleanUp) // a task<void>
   */
  submit<Input, Parsed, Returned, Output, Inputs, Given, Signals extends SignalSchemas, Frames extends FrameSchemas>(
    task: Task<Input, Parsed, Returned, Output, Inputs, Given, Signals, Frames>,
    ...none: OmittedInput<NoInfer<Input>>
  ): Promise<ExecutionHandle<Output, SignalsSent<Signals>, Frames>>
  submit<Input, Output>(
    flow: FlowDefinition<Input, Output>,
    ...none: OmittedInput<NoInfer<Input>>
  ): Promise<FlowHandle<Output>>
  submit<Input, Parsed, Returned, Output, Inputs, Given, Signals extends SignalSchemas, Frames extends FrameSchemas>(
    task: Task<Input, Parsed, Returned, Output, Inputs, Given, Signals, Frames>,
    input: Input,
    options?: SubmitOptions,
  ): Promise<ExecutionHandle<Output, SignalsSent<Signals>, Frames>>
  submit<Input, Output>(
    flow: FlowDefinition<Input, Output>,
    input: Input,
    options?: FlowSubmitOptions,
  ): Promise<FlowHandle<Output>>
  submit(
    what: AnyTask | AnyFlow,
    input?: unknown,
    options: SubmitOptions | FlowSubmitOptions = {},
  ): Promise<ExecutionHandle | FlowHandle> {
    // The overloads pair flows with options of flows, and tasks with options of tasks.
    if (isFlow(what)) return this.#submitFlow(what, input, options as FlowSubmitOptions)
    return this.#submitTask(what, input, options as SubmitOptions)
  }

  /**
   * Submits a task and returns the result of its operation. Repeated with one request id, a submit with an id has no further
   * effect, whatever `ifExists` is.
   * @internal
   */
  async submitOnce(
    requestId: string | undefined,
    task: AnyTask,
    input: unknown,
    options: SubmitOptions & { readonly tx?: never },
  ): Promise<Exclude<CreateResult, Refused>> {
    this.#refuseIfClosed()
    return unwrap((await submitTask(this.#session, task, input, options, requestId)) as CreateResult)
  }

  /**
   * Submits many inputs of a task and returns one outcome for each, in order. Not atomic: some may be refused while others
   * are accepted. Staged items are sent one after the other.
   */
  async submitMany<Input, Parsed, Returned, Output, Inputs, Given>(
    task: Task<Input, Parsed, Returned, Output, Inputs, Given>,
    items: readonly SubmitManyItem<Input>[],
  ): Promise<SubmitOutcome<Output>[]> {
    this.#refuseIfClosed()
    return await submitEach<Output>(items, (item) => this.#submitTask(task, item.input, item.options))
  }

  /** Returns a handle for an existing execution, by its id or its key. */
  execution<
    Input,
    Parsed,
    Returned,
    Output = unknown,
    Inputs = AnyInputs,
    Given = Inputs,
    Signals extends SignalSchemas = SignalSchemas,
    Frames extends FrameSchemas = FrameSchemas,
  >(
    idOrKey: string,
    task?: Task<Input, Parsed, Returned, Output, Inputs, Given, Signals, Frames>,
  ): ExecutionHandle<Output, SignalsSent<Signals>, Frames> {
    return new ExecutionHandle<Output, SignalsSent<Signals>, Frames>(this, this.try.resolve(idOrKey), task)
  }

  /** Describes an execution: with attempts, payload and result, or with the parts requested. */
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

  /** Lets the executions of an order run that wait behind a failed one, which is named by its id. */
  async continueOrder(idOrKey: string, options?: ContinueOrderOptions): Promise<'order_continued' | 'order_not_held'> {
    return (await this.#calls.continueOrder(idOrKey, options)).kind
  }

  /** Revokes the lease of the worker that runs an execution. Another worker starts it again. */
  async revokeLease(idOrKey: string, reason: string, options?: RevokeOptions): Promise<void> {
    await this.#calls.revokeLease(idOrKey, reason, options)
  }

  async changePriority(idOrKey: string, priority: number): Promise<void> {
    await this.#calls.changePriority(idOrKey, priority)
  }

  /** Counts the executions that were created in a range of time, by part of it, and measures how long they waited and ran. */
  async activity(options: ActivityOptions): Promise<Activity> {
    this.#refuseIfClosed()
    return await activityOf((query) => this.list(query), options)
  }

  /** Groups failed executions by task, category and message without its numbers: the largest group first. */
  async failures(options: FailuresOptions = {}): Promise<FailureGroups> {
    this.#refuseIfClosed()
    return await failureGroups((query) => this.list(query), options)
  }

  async setTags(idOrKey: string, tags: Readonly<Record<string, string | undefined>>): Promise<void> {
    this.#refuseIfClosed()
    acceptTags(await this.try.setTags(idOrKey, tags), 'execution')
  }

  /**
   * Sends a signal to an execution: to the mailbox of the signal's name, or to a waitpoint. A signal that arrives before its
   * wait is buffered.
   *
   * @example
   * await fabric.signal('order:17', 'paid', { amount: 12 }, { key: event.id })
   * await fabric.signal('deploy:42', 'approve', undefined, { waitpoint: 'review', by: user.email })
   */
  signal(idOrKey: string, name: string, value?: unknown, options?: SignalSendOptions): Promise<SignalReceipt> {
    return this.#calls.signal(idOrKey, name, value, options)
  }

  /**
   * Sends a signal to the waitpoint of a token, as a route does with the links that were sent out. The token names the
   * sender. A token that is not genuine is refused with `invalid_token` and no further detail.
   *
   * @example
   * await fabric.answer(request.query.token, 'approve', { note: 'fine' })
   */
  answer(token: string, name: string, value?: unknown, options?: AnswerOptions): Promise<SignalReceipt> {
    return this.#calls.answer(token, name, value, options)
  }

  /** Ends the current wait of an execution with an operator's authority. The handler resumes and receives `resumed`. */
  async resume(idOrKey: string, options: ResumeOptions): Promise<void> {
    await this.#calls.resume(idOrKey, options)
  }

  /** Lists open waitpoints: all, longest open first, or those of one execution by key. Tokens are never returned. */
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

  /** Closes a waitpoint to further signals. The last open waitpoint of a wait is closed only by force. */
  async closeWaitpoint(
    idOrKey: string,
    waitpoint: string,
    options: CloseWaitpointOptions,
  ): Promise<'closed' | 'already_closed'> {
    return (await this.#calls.closeWaitpoint(idOrKey, waitpoint, options)).kind
  }

  /**
   * Issues a new token for a waitpoint and invalidates all tokens issued for it before.
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

  /**
   * Issues a token with which a page in a browser follows one execution over HTTP: its result, events, frames and summary. Needs
   * signing keys.
   *
   * @example
   * const { token } = await fabric.readToken(execution.id, { expires: '15m' })
   */
  async readToken(idOrKey: string, options: ReadTokenOptions = {}): Promise<ReadToken> {
    return await issueReadToken(this.#open(), options, () => this.describe(idOrKey, {}))
  }

  /**
   * Returns what a token of `readToken` permits.
   * @internal
   */
  async verifyReadToken(token: string): Promise<ReadClaims> {
    return await verifyReadToken(this.#open(), token)
  }

  /** Reads the steps that an execution has recorded, in the order of recording. */
  steps(idOrKey: string, options: ReadOptions = {}): AsyncGenerator<StepSummary, void, undefined> {
    this.#refuseIfClosed()
    return readSteps(this.#session, idOrKey, options)
  }

  /** Reads the children that the handler of an execution has started, in that order. */
  children(idOrKey: string): AsyncGenerator<ChildSummary, void, undefined> {
    this.#refuseIfClosed()
    return readChildren(this.#session, idOrKey)
  }

  /** Reads the signals that an execution received, in order of arrival: sender, value, time and effect. */
  signals(idOrKey: string, options: ReadOptions = {}): AsyncGenerator<SignalSummary, void, undefined> {
    this.#refuseIfClosed()
    return readSignals(this.#session, idOrKey, options)
  }

  /**
   * Returns a handle for an existing flow, by its id or its key. With the definition and the input of its submit,
   * `result()` resolves with the results that the flow's function selects; without, with those of the nodes that no other waits for.
   */
  flow<Input, Output>(idOrKey: string, flow: FlowDefinition<Input, Output>, input: Input): FlowHandle<Output>
  flow(idOrKey: string): FlowHandle<SinkResults>
  flow(idOrKey: string, ...drawn: [] | [AnyFlow, unknown]): FlowHandle {
    const [flow, input] = drawn
    return new FlowHandle(this, this.try.resolveFlow(idOrKey), flow && (() => drawFlow(flow, input)))
  }

  /** Creates a flow whose graph is built step by step. Idempotent per id. */
  async createFlow(name: string, options?: CreateFlowOptions): Promise<OpenFlow> {
    const result = await this.#calls.createFlow(name, options)
    return new OpenFlow(this, result.flowId, undefined, result.kind === 'created' ? 'created' : 'joined')
  }

  /** Lists flows of all partitions, newest first. */
  async flows(options: ListFlowsOptions = {}): Promise<FlowPage> {
    this.#refuseIfClosed()
    return await listFlows(this.#session, options)
  }

  async describeFlow(idOrKey: string): Promise<FlowDescription> {
    const { view, at } = await this.#calls.describeFlow(idOrKey)
    return { ...summariseFlow(view), at }
  }

  /** Cancels a flow. With `wait`, resolves once the flow has settled. */
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

  /**
   * Lists the workers of the store with what they serve and how busy they are, also those of other processes. Lost and dead ones
   * are listed for ten minutes.
   */
  async workers(options: ListWorkersOptions = {}): Promise<WorkerPage> {
    this.#refuseIfClosed()
    return await listWorkers(this.#session, options)
  }

  /**
   * Lists what operators did over the servers of the store, the latest first. The store keeps it for 90 days.
   *
   * @example
   * const { items } = await fabric.audit({ action: 'cancelExecution', by: 'ada' })
   */
  async audit(options: AuditOptions = {}): Promise<AuditedPage> {
    return await listAudit(this.#open(), options)
  }

  /**
   * Returns a handle for a worker process, by its instance id.
   *
   * @example
   * await fabric.worker(instanceId).drain({ reason: 'deploy' })
   */
  worker(instanceId: string): WorkerHandle {
    return new WorkerHandle(() => this.#open(), instanceId)
  }

  /** One lane: hold it, resume it, give it a weight. */
  lane(name: string): LaneHandle {
    this.#refuseIfClosed()
    return new LaneHandle(this.#session, name)
  }

  /** Lists the lanes: the number of their executions by state, what operators have set for them, and their rates if asked for. */
  async lanes(lane?: string, options: LanesOptions = {}): Promise<LaneSummary[]> {
    this.#refuseIfClosed()
    return await listLanes(this.#session, lane, options)
  }

  /**
   * Creates a schedule or changes it, and returns its handle. Idempotent: an equal definition changes nothing. With a name alone,
   * returns the handle of an existing schedule.
   *
   * @example
   * await fabric.schedule('nightly', { task: report, input: { all: true }, cron: '0 3 * * *', timeZone: 'Europe/Berlin' })
   * await fabric.schedule('nightly').pause({ reason: 'maintenance' })
   */
  schedule(name: string): ScheduleHandle<ExecutionHandle | FlowHandle<SinkResults>>
  schedule<Input, Parsed, Returned, Output>(
    name: string,
    options: ScheduleOptions<Input, Parsed, Returned, Output>,
  ): Promise<ScheduleHandle<ExecutionHandle>>
  schedule<Input, Output>(
    name: string,
    options: FlowScheduleOptions<Input, Output>,
  ): Promise<ScheduleHandle<FlowHandle<Output>>>
  schedule(
    name: string,
    ...given: [] | [options: AnyScheduleOptions | AnyFlowScheduleOptions]
  ): ScheduleHandle | Promise<ScheduleHandle> {
    const [options] = given
    const graph = options !== undefined && 'flow' in options ? () => drawFlow(options.flow, options.input) : undefined
    const handle = new ScheduleHandle(
      () => this.#open(),
      name,
      (id) => (isFlowId(id) ? new FlowHandle(this, id as FlowId, graph) : new ExecutionHandle(this, id as ExecutionId)),
    )
    if (options === undefined && given.length === 0) return handle
    return this.#configureSchedule(handle, () => schedule(name, options as AnyScheduleOptions))
  }

  /**
   * Creates a schedule or changes it in the name of `by`, and returns what changed.
   * @internal
   */
  async configureSchedule(
    name: string,
    options: AnyScheduleOptions | AnyFlowScheduleOptions,
    by: string,
  ): Promise<{ readonly kind: Configured['kind']; readonly schedule: ScheduleSummary }> {
    const { kind, schedule: configured } = await configureSchedule(this.#open(), schedule(name, options), { by })
    return { kind, schedule: summariseSchedule(configured) }
  }

  /**
   * Returns the next boundaries of times, without a schedule that has them. Throws what creating such a schedule would.
   *
   * @example
   * fabric.previewTimes({ cron: '0 3 * * *', timeZone: 'Europe/Berlin' }, { next: 3 })
   */
  previewTimes(times: FiringTimes, options: DescribeScheduleOptions = {}): readonly Instant[] {
    return boundariesOf(times, this.runtime.now(), options.next)
  }

  /** Lists schedules by name. */
  async schedules(options: ListSchedulesOptions = {}): Promise<SchedulePage> {
    return await listSchedules(this.#open(), options)
  }

  /**
   * Makes the schedules match those that code declares.
   * @internal
   */
  async declareSchedules(
    definitions: readonly ScheduleDefinition[],
    owner: string | undefined,
  ): Promise<DeclaredSchedules> {
    return await declareSchedules(this.#open(), definitions, owner)
  }

  /** Yields events as they happen, in order within a partition. Each carries a cursor that a later call can resume from. */
  subscribe(options: SubscribeOptions = {}): AsyncGenerator<SubscriptionItem, void, undefined> {
    this.#refuseIfClosed()
    const { executionId, flowId, signal, ...rest } = subscribeOptions(options)
    const wanted = {
      ...rest,
      ...(executionId === undefined ? {} : { executionId: this.try.resolve(executionId) }),
      ...(flowId === undefined ? {} : { flowId: this.try.resolveFlow(flowId) }),
      signal: AbortSignal.any([this.#shared.abort.signal, ...(signal === undefined ? [] : [signal])]),
    }
    return subscribe(this.store, this.runtime, wanted, scopedFilter(this.#session, rest))
  }

  /**
   * Returns a handle for a durable consumer of events.
   *
   * @example
   * await fabric.consumer('billing').seek({ fromStart: true })
   */
  consumer(name: string): ConsumerHandle {
    return new ConsumerHandle(() => this.#open(), name)
  }

  /** Lists the durable consumers of events by name, with their lag. */
  async consumers(options: ListConsumersOptions = {}): Promise<ConsumerSummary[]> {
    return await listConsumers(this.#open(), options)
  }

  /**
   * Returns the lag of the first 100 consumers and of as many webhooks, the largest first.
   * @internal
   */
  async consumerLags(): Promise<ConsumerLag[]> {
    return await readLags(this.#open())
  }

  /** @internal */
  openSession(): Session {
    return this.#open()
  }

  /**
   * Starts a process of a durable consumer.
   * @internal
   */
  async startConsumer(
    log: Log,
    name: string,
    filter: ConsumerFilter,
    handle: EventHandler,
    options: ConsumeOptions,
  ): Promise<Consumer> {
    const session = this.#open()
    return await new Consumer(session, log, sourceOf(session, name, filter), handle, options).start()
  }

  /**
   * Yields the events of one execution, and ends with it.
   * @internal
   */
  eventsOf(
    executionId: ExecutionId,
    options: Pick<SubscribeOptions, 'signal' | 'fromStart' | 'cursor'>,
  ): AsyncGenerator<SubscriptionItem, void, undefined> {
    this.#refuseIfClosed()
    const look = () => unlessMissing(this.describe(executionId, {}))
    const signal = AbortSignal.any([
      this.#shared.abort.signal,
      ...(options.signal === undefined ? [] : [options.signal]),
    ])
    const last = lastEventOf(this.store, executionId, look)
    const scope = { namespace: this.#session.listed(undefined) }
    return untilEnd(subscribe(this.store, this.runtime, { ...options, executionId, signal }, scope, last), look)
  }

  /** @internal */
  get streams(): Streams {
    this.#refuseIfClosed()
    return this.#streams
  }

  /**
   * Returns a cursor at the present end of the event log.
   * @internal
   */
  async currentCursor(): Promise<string> {
    this.#refuseIfClosed()
    return await endOfLog(this.store)
  }

  /**
   * Refuses a text that is not the cursor of an event.
   * @internal
   */
  checkCursor(cursor: string): string {
    cursorOf(this.store, cursor)
    return cursor
  }

  /**
   * Returns what the holder of a token is asked. Refuses tokens as `answer` does.
   * @internal
   */
  async askedBy(token: string): Promise<AskedByToken> {
    this.#refuseIfClosed()
    return await askedByToken(this.#session, token)
  }

  report(): Promise<StoreReport> {
    return this.store.report()
  }

  get isClosed(): boolean {
    return this.#shared.closing !== undefined
  }

  /** Completes pending calls, ends subscriptions and waits, and closes the store. Idempotent. */
  close(): Promise<void> {
    this.#shared.closing ??= this.#close()
    return this.#shared.closing
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
  }

  /** @internal */
  watchEnd(id: ExecutionId | FlowId, notify: EndListener, since?: EndMoment): EndWatch {
    this.#refuseIfClosed()
    return this.#shared.ends.watch(id, notify, since)
  }

  async #close(): Promise<void> {
    this.#shared.abort.abort()
    this.#shared.ends.close()
    await this.batcher.close()
    await this.store.close()
  }

  async #submitTask<Output>(task: AnyTask, input: unknown, options?: SubmitOptions): Promise<ExecutionHandle<Output>> {
    this.#refuseIfClosed()
    const result = unwrap(await submitTask(this.#session, task, input, options))
    const digest = result.kind === 'staged' ? result.digest : undefined
    return new ExecutionHandle<Output>(this, result.executionId, task, result.kind, digest)
  }

  async #submitFlow(flow: AnyFlow, input: unknown, options: FlowSubmitOptions): Promise<FlowHandle> {
    this.#refuseIfClosed()
    let since: EndMoment | undefined
    const { result, isReplaced, flowId, graph } = await submitFlow(this.#session, flow, input, options, (partition) => {
      since = this.#shared.ends.momentIn(partition)
    })
    const { kind } = unwrap(result)
    if (kind === 'joined' || kind === 'follow_up' || kind === 'follow_up_replaced') {
      return new FlowHandle(this, flowId, graph, kind)
    }
    return new FlowHandle(this, flowId, graph, isReplaced ? 'replaced' : 'created', since)
  }

  /** Throws what is wrong with the definition as a rejection. */
  async #configureSchedule<H>(handle: H, define: () => ScheduleDefinition): Promise<H> {
    await configureSchedule(this.#open(), define())
    return handle
  }

  #open(): Session {
    this.#refuseIfClosed()
    return this.#session
  }

  #refuseIfClosed(): void {
    if (this.isClosed) throw new EngineError('fabric_closed')
  }
}

function sharedParts(store: Store, runtime: Runtime, { tracing, codec }: ClientOptions): SharedParts {
  const batcher = new Batcher(store, runtime, tracing, codec)
  const ends = new EndWatcher(store, runtime)
  batcher.hints.onEnd((partition, id) => ends.expect(partition, id))
  const leases = { places: new PlainPlaces(), refreshes: new Refreshes() }
  return { batcher, ends, leases, abort: new AbortController(), closing: undefined }
}
